"""Limits of the data: targets that were rounded, and few rows."""

import numpy as np

from ..resampling.clusters import Clusters
from .rows import Rows

_COARSE = 0.1  # steps of targets, in predicted standard deviations
_EXACT = 1e-5  # relative: how near multiples of the step must be
_HEAD = 1000  # rows that tell whether it is worth looking at all of them
_LEAST_ROWS = 50
_APPROXIMATE = {"signs": "random signs", "student-t": "Student's t"}


def rounded_targets(rows: Rows) -> str | None:
    """Say what the targets were rounded to, if this is coarse in units of the predicted spread."""
    if rows.sd is None or rows.sd.shape[-1] != rows.targets.shape[1]:  # shares that add up to one: d - 1 dimensions
        return None
    coarsest = (0.0, 0.0)
    # Steps that are small beside the errors do no harm, however narrow the predictions are.
    errors = np.ones(rows.targets.shape[1])
    if rows.standardised and rows.residuals is not None:
        errors = np.std(rows.residuals, axis=0)
    for column, sd, error in zip(rows.targets.T, np.atleast_2d(rows.sd).T, errors, strict=True):
        usual = float(np.median(sd))
        finest = _COARSE * usual * max(float(error), 1.0)
        step = grid_step(column[:_HEAD], finest) and grid_step(column, finest)
        if step is not None:
            coarsest = max(coarsest, (step / usual, step))
    share, step = coarsest
    if not step:
        return None
    whole = "whole numbers, in" if np.all(rows.targets == np.round(rows.targets)) else "rounded to"
    return (
        f"Targets are {whole} steps of {step:.3g} ({share:.2g} predicted sd), but the predictions are densities: use "
        "targets before rounding, or add uniform noise one step wide to them, and step^2 / 6 to predicted variances. "
        "For counts, give a distribution of counts, such as `scipy.stats.poisson(mean)`."
    )


def grid_step(values: np.ndarray, finest: float) -> float | None:
    """Return the step of the grid on which all values lie, by Euclid's algorithm; None if it is finer than `finest`."""
    gaps = np.diff(np.unique(values))
    if len(gaps) == 0 or (len(gaps) == 1 and len(values) < 5):
        return None
    tolerance = _EXACT * float(np.min(gaps)) + 8.0 * np.finfo(float).eps * float(np.max(np.abs(values)))
    step = float(np.min(gaps))
    while step > max(finest, 4.0 * tolerance):
        rest = np.abs(gaps - step * np.round(gaps / step))
        uneven = rest[rest > tolerance]
        if not len(uneven):
            return step
        step = float(np.min(uneven))
    return None


def few_rows(n: int, null: str, can_draw: bool, raised: float = 1.0) -> str | None:
    """Say that there are few rows for the null distribution in use, and by which factor p-values were raised."""
    if null not in _APPROXIMATE or n >= _LEAST_ROWS:
        return None
    cure = 'give `null="simulate"`, which is exact for any number of rows' if can_draw else f"use {_LEAST_ROWS} or more"
    few = f"{n} rows are few for {_APPROXIMATE[null]}"
    if raised > 1.0:
        return f"{few}: to be safe, {_factor(raised)}; {cure}."
    return f"{few}, whose p-values are then only roughly right: {cure}."


def few_clusters(clusters: Clusters, raised: float) -> str | None:
    """Say by which factor p-values were raised for few groups or blocks; that they are few is said elsewhere."""
    kind = "blocks" if clusters.ordered else "groups"
    return f"With {clusters.n_clusters} independent {kind} of rows, {_factor(raised)}." if raised > 1.0 else None


def _factor(raised: float) -> str:
    return f"the p-value and the adjusted ones of views were multiplied by {raised:.3g}"
