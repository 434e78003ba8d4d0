"""Estimates of bias, spread and correlation of errors, and the regions in which they differ."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from .._lib.checks import as_generator, check_count, check_share
from ..predictions import Predictions
from ..resampling import RandomSigns
from ..resampling.clusters import clusters_of
from ..resampling.signs import Signs
from .estimates import (
    Correlation,
    Estimate,
    Intervals,
    bias,
    centred,
    confidence_ratio,
    correlations,
    ratio_of_squares,
    worst_direction,
)
from .regions import Partition, features_of, partitions_of, simultaneous_pvalues
from .residuals import Residuals, residuals_of
from .result import Diagnosis, Region
from .times import as_times

_LEAST_ROWS = 10
_ALIKE = 1e-9  # relative: what varies by less does so by rounding


def diagnose(
    predictions: Predictions,
    y: Any,
    *,
    covariates: Any = None,
    names: Sequence[str] | None = None,
    confidence_level: float = 0.95,
    groups: Any = None,
    horizon: int | None = None,
    n_resamples: int = 999,
    rng: Any = None,
) -> Diagnosis:
    r"""Estimate how predictions are wrong, by how much, and where.

    Parameters
    ----------
    predictions : Predictions
        As for `calibration_test`.
    y : array_like, shape (n, d)
        The n observed targets; (n,) for d = 1.
    covariates : optional
        Numbers, dates or labels that divide rows into regions: a data frame, a mapping from names to n values, or an
        array (n, q). Times with a time zone are taken in UTC. By default the predicted location and spread of each
        dimension.
    names : sequence of str, optional
        Names of the d dimensions.
    confidence_level : float
        Confidence level of each interval.
    groups, horizon : optional
        As for `calibration_test`: labels of rows that depend on each other, and the number of steps ahead of forecasts
        in time order. Intervals then rest on the groups, or on blocks of consecutive rows, as independent units, and
        p-values of regions on one sign for each. Fewer than ten of them make intervals rough, which is said, and no
        region is found.
    n_resamples : int
        Number of random signs for the p-values of regions.
    rng : seed or numpy.random.Generator, optional
        Source of noise, where predictions come with it, and of signs.

    Returns
    -------
    Diagnosis
        With `bias`, `confidence_ratio`, `worst_direction`, `correlations`, `regions` and `where`; `print` it.

    Notes
    -----
    Residuals come from the means and covariances of the predictions where these are known. Otherwise, with
    :math:`\Sigma_i` the covariance of the Gaussian that is fitted to the scores of prediction i, :math:`\Sigma_i s_i`
    stands for the mean less the target, and its mean square is compared with :math:`-\Sigma_i \nabla s_i \Sigma_i`,
    which is the same on average for calibrated predictions; for `Scores`, which cannot be differentiated, with
    :math:`\Sigma_i`, as for Gaussians.

    Intervals are those of Student's t with influence functions, and need some 50 rows or more. With `groups` or
    `horizon`, influences are added up over each of G groups or blocks, and t has G - 1 degrees of freedom.

    Examples
    --------
    Forecasts that are too high in the second dimension and too narrow in both:

    >>> import numpy as np, scorecal as sc
    >>> rng = np.random.default_rng(0)
    >>> mean = rng.normal(size=(1000, 2))
    >>> y = mean + rng.normal(size=(1000, 2))
    >>> diagnosis = sc.diagnose(sc.Gaussian(mean + np.array([0.0, 0.3]), 0.75), y, rng=0)
    >>> print(diagnosis.bias[1])
    0.38 (0.30 to 0.46)
    >>> print(diagnosis.overall_confidence_ratio)
    1.33 (1.29 to 1.37)
    """
    level = check_share("confidence_level", confidence_level)
    check_count("n_resamples", n_resamples)
    generator = as_generator(rng)
    found = residuals_of(predictions, y, generator)
    n, d = found.marginal.shape
    if n < _LEAST_ROWS:
        raise ValueError(f"`y` must hold at least {_LEAST_ROWS} targets for `diagnose`, but {n} can be used.")
    labels = _checked_names(names, d)
    columns = _as_covariates(covariates, predictions.n, found, labels)
    partitions = partitions_of(columns, n, warn=covariates is not None)
    clusters = clusters_of(groups, horizon, predictions.n)
    if clusters is not None:
        clusters = clusters.within(found.rows)
    n_clusters = n if clusters is None else clusters.n_clusters
    intervals = Intervals(level, None if clusters is None or n_clusters == n else clusters.labels)
    signs = RandomSigns().draw(n_clusters, n_resamples, generator)
    least = 0.0 if clusters is None else clusters.least_pvalue
    regions = _regions(found, partitions, signs, intervals, least)
    off, ratios, pairs = _sizes(found, slice(None), intervals)
    return Diagnosis(
        labels,
        off,
        ratios,
        bias(np.mean(found.marginal, axis=1), intervals),
        ratio_of_squares(np.sum(centred(found.whitened) ** 2, axis=1), np.einsum("nkk->n", found.expected), intervals),
        worst_direction(found, intervals),
        pairs,
        regions,
        regions[0] if regions and regions[0].contrast_pvalue <= 1.0 - level else None,
        columns,
        n,
        n_clusters,
        level,
        found.source,
        found.coordinates,
    )


def _sizes(
    found: Residuals, rows: Any, intervals: Intervals
) -> tuple[tuple[Estimate, ...], tuple[Estimate, ...], tuple[Correlation, ...]]:
    """Bias and confidence ratio of each dimension, and correlations of every two, in some rows."""
    residuals, products, intervals = found.marginal[rows], found.expected_marginal[rows], intervals.within(rows)
    expected = np.einsum("nkk->kn", products)
    ratios = (confidence_ratio(e, c, intervals) for e, c in zip(residuals.T, expected, strict=True))
    return tuple(bias(e, intervals) for e in residuals.T), tuple(ratios), correlations(residuals, products, intervals)


def _departure(features: np.ndarray, rows: np.ndarray) -> float:
    """Absolute mean in a region of the feature whose means inside and outside differ most, in standard deviations."""
    inside, outside = np.mean(features[rows], axis=0), np.mean(features[~rows], axis=0)
    clearest = np.argmax(np.abs(inside - outside) / np.maximum(np.std(features, axis=0), np.finfo(float).tiny))
    return float(abs(inside[clearest]))


def _regions(
    found: Residuals, partitions: list[Partition], signs: Signs, intervals: Intervals, least_pvalue: float
) -> tuple[Region, ...]:
    """The region of each covariate that differs most from the rest, the clearest first."""
    if not partitions:
        return ()
    features = features_of(found)
    wrong = simultaneous_pvalues(features, partitions, signs, intervals.labels)
    differs = simultaneous_pvalues(features, partitions, signs, intervals.labels, against_the_rest=True)
    regions = []
    for partition, (_, pvalues), (contrasts, contrast_pvalues) in zip(partitions, wrong, differs, strict=True):
        # A region and all that is outside differ from each other alike: the one that is more wrong is meant.
        alike = np.flatnonzero(contrasts >= np.max(contrasts) * (1.0 - 1e-9)).tolist()
        k = max(alike, key=lambda j: _departure(features, partition.rows(j)))
        rows = partition.rows(k)
        inside, rest = _sizes(found, rows, intervals), _sizes(found, ~rows, intervals)
        name, n = partition.names[k], int(np.sum(rows))
        wrong_there, differs_there = (max(float(each[k]), least_pvalue) for each in (pvalues, contrast_pvalues))
        region = Region(name, partition.covariate, n, wrong_there, differs_there, *inside, *rest)
        regions.append((-contrasts[k], region))
    return tuple(region for _, region in sorted(regions, key=lambda each: each[0]))


def _as_covariates(given: Any, n: int, found: Residuals, names: Sequence[str]) -> Mapping[str, np.ndarray]:
    """Return the given covariates by name, or by default locations and spreads that vary, for the rows in use."""
    if given is None:
        columns = {f"predicted {name}": column for name, column in zip(names, found.location.T, strict=True)}
        columns |= {f"claimed spread of {name}": sd for name, sd in zip(names, found.sd.T, strict=True)}
        return {name: column for name, column in columns.items() if np.std(column) > _ALIKE * np.max(np.abs(column))}
    if not isinstance(given, Mapping) and not hasattr(given, "columns"):
        table = np.asanyarray(given)  # with its mask, if it has one
        table = table[:, None] if table.ndim == 1 else table
        if table.ndim != 2:
            raise ValueError(
                f"`covariates` must be a mapping, a data frame or an array (n, q), but has {table.ndim} axes."
            )
        given = {f"x_{k + 1}": column for k, column in enumerate(table.T)}
    columns = {str(name): given[name] for name in given}
    for name, column in columns.items():
        if isinstance(column, np.ma.MaskedArray):
            raise TypeError(f"`covariates` must not be masked, but {name!r} is; drop or fill the masked rows first.")
    columns = {name: np.asarray(column) for name, column in columns.items()}
    for name, column in columns.items():
        if column.shape != (n,):
            raise ValueError(
                f"`covariates` must have a value for each of the {n} predictions, but {name!r} has {column.shape}."
            )
        if column.dtype.kind == "f" and not np.all(np.isfinite(column)):
            raise ValueError(
                f"`covariates` must be finite, but {name!r} is not, first at row {np.argmin(np.isfinite(column))}."
            )
    return {name: _numbers_times_or_labels(name, column)[found.rows] for name, column in columns.items()}


def _numbers_times_or_labels(name: str, column: np.ndarray) -> np.ndarray:
    if column.dtype.kind in "fiu":
        return column
    times = as_times(name, column)
    return np.array([str(value) for value in column], object) if times is None else times


def _checked_names(names: Sequence[str] | None, d: int) -> tuple[str, ...]:
    if names is None:
        return ("y",) if d == 1 else tuple(f"y_{k + 1}" for k in range(d))
    if isinstance(names, str) or len(names) != d or len(set(names)) < d:
        raise ValueError(f"`names` must be {d} different names, one for each dimension, but is {names!r}.")
    return tuple(str(name) for name in names)
