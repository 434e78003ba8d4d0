"""Rows that occur again: exact copies, and targets of one prediction that lie closer together than it says."""

import numpy as np

from .limits import grid_step
from .rows import Rows, normal_scores, row_keys, unexplained

_LEAST_PREDICTIONS = 20  # that occur more than once: fewer may each have a bias of their own
_LEVEL = 1e-4
_EXPLAINED = 0.7  # share of the missing spread that must lie between predictions; otherwise they are just too wide
_BEYOND_CHANCE, _LEAST_PAIRS, _NEARLY_ALL = 20.0, 5, 0.9


def exact_copies(rows: Rows) -> str | None:
    """Say how many rows have the prediction and the target of another one, unless this happens by rounding."""
    known = rows.residuals if rows.traits is None else rows.traits
    if known is None or (rows.traits is not None and not rows.standardised):  # classes
        return None
    predictions = row_keys(known)
    copies = np.unique(row_keys(rows.targets, predictions), return_counts=True)[1]
    pairs, n_copies = _pairs(copies), int(np.sum(copies - 1))
    if not n_copies:
        return None
    alike = _pairs(np.unique(predictions, return_counts=True)[1])
    nearly_all = pairs >= max(_NEARLY_ALL * alike, _LEAST_PAIRS) and rows.traits is not None
    if not nearly_all and pairs <= _BEYOND_CHANCE * alike * _chance(rows):
        return None
    return (
        f"{n_copies} of {len(copies) + n_copies} rows are exact copies of others, prediction and target: drop them, or "
        "give `groups=` if copies belong to one unit."
    )


def _chance(rows: Rows) -> float:
    """Probability that rounding gives two targets of one prediction the same value, in all dimensions."""
    if rows.sd is None or rows.sd.shape[-1] != rows.targets.shape[1]:
        return 0.0
    chance = 1.0
    for column, sd in zip(rows.targets.T, np.atleast_2d(rows.sd).T, strict=True):
        finest = rows.rounding * float(np.median(np.abs(column)))
        step = grid_step(column, max(finest, 1e-9 * float(np.ptp(column)))) or finest
        chance *= min(1.0, step / (2.0 * np.pi**0.5 * float(np.median(sd))))
    return chance


def close_targets(rows: Rows) -> str | None:
    """Say that targets of one prediction lie closer to each other than it says, though not to the prediction itself.

    Predictions that are too wide have all targets close to them, and a bias that depends smoothly on the prediction
    moves those of one prediction together; neither counts.
    """
    from scipy.special import fdtrc

    if not rows.standardised or rows.traits is None or rows.residuals is None:
        return None
    _, label, counts = np.unique(row_keys(rows.traits), return_inverse=True, return_counts=True)
    again = counts[label] > 1
    n_predictions, n = int(np.sum(counts > 1)), int(np.sum(again))
    if n_predictions < _LEAST_PREDICTIONS:
        return None
    label = np.unique(label[again], return_inverse=True)[1]
    spread, error = _spread_within(rows.residuals[again], label)
    if not spread + 2.0 * error < 1.0:
        return None
    scores = normal_scores(rows.residuals[again])
    left, n_terms = unexplained(scores, rows.traits[again], n_predictions // 2)
    sums = np.stack([np.bincount(label, column) for column in left.T])
    between = float(np.sum(sums**2 / np.bincount(label)))
    total = float(np.sum(left**2))
    moments = left.T @ left
    n_dimensions = float(np.trace(moments) ** 2 / np.sum(moments**2))  # fewer than d if these are correlated
    df, df_within = n_predictions - n_terms, n - n_predictions
    ratio = between / df * df_within / max(total - between, np.finfo(float).tiny)
    shared = (ratio - 1.0) / (ratio - 1.0 + n / n_predictions)  # share of the variance that rows of one label share
    if shared < _EXPLAINED * (1.0 - spread) or fdtrc(df * n_dimensions, df_within * n_dimensions, ratio) >= _LEVEL:
        return None
    return (
        f"Targets of one prediction lie close together: with {n_predictions} predictions that occur more than once, "
        f"their spread is {spread**0.5:.2f} of the predicted one. If such rows belong together, give `groups=`."
    )


def _spread_within(residuals: np.ndarray, label: np.ndarray) -> tuple[float, float]:
    """Variance of residuals within labels, averaged over dimensions, and its standard error."""
    sizes = np.bincount(label)
    means = np.stack([np.bincount(label, column) / sizes for column in residuals.T], axis=1)
    squares = np.bincount(label, np.mean((residuals - means[label]) ** 2, axis=1))
    degrees = len(label) - len(sizes)
    spread = float(np.sum(squares) / degrees)
    return spread, float(np.sqrt(np.sum((squares - spread * (sizes - 1)) ** 2)) / degrees)


def _pairs(counts: np.ndarray) -> float:
    return float(np.sum(counts * (counts - 1.0)) / 2.0)
