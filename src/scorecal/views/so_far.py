"""Averages over the rows up to each row, its own included, for rows in time order.

What a view multiplies features by must be known when a forecast is made. In a random walk, say, the mean of all
predicted locations depends on errors still to come: features times the distance from that mean do not have mean zero.
"""

from collections.abc import Sequence

import numpy as np

from .._lib.arrays import Array, array_namespace, as_float, device_of, like, to_numpy
from .._lib.linalg import roots_and_inverses, times
from ..resampling.clusters import Clusters, rows_before
from .ranks import legendre_curves, ranks_so_far

_MOST_BEFORE = 2.5  # standard deviations


def mean_so_far(values: Array, series: np.ndarray | None) -> Array:
    """Mean of the rows of `values`, (n, ...), up to each row; of those of its own series, if rows are in several."""
    xp, n = array_namespace(values), values.shape[0]
    series = np.zeros(n, dtype=np.int64) if series is None else series
    order = np.argsort(series, kind="stable")
    sizes = np.bincount(series)
    first = np.repeat(np.cumsum(sizes) - sizes, sizes)  # place of the first row of the series, in this order
    place, back, starts = (xp.asarray(part, device=device_of(values)) for part in (order, np.argsort(order), first))
    sorted_values = xp.take(values, place, axis=0)
    sums = xp.cumulative_sum(sorted_values, axis=0)
    before = xp.take(sums - sorted_values, starts, axis=0)
    counts = like(np.arange(n) - first + 1.0, values)
    return xp.take((sums - before) / xp.reshape(counts, (n,) + (1,) * (values.ndim - 1)), back, axis=0)


def locations_so_far(location: Array, covariance: Array, series: np.ndarray | None) -> tuple[Array, Array, Array]:
    """Return how far each location is from the mean of those so far, (n, d), and the spread so far, (n, d).

    The former twice: in units of the targets, and in the frame of a draw from a random one of the predictions so far.
    """
    xp = array_namespace(location)
    first = np.zeros(location.shape[0], dtype=np.int64)
    if series is not None:
        first = np.unique(series, return_index=True)[1][series]
    # Relative to the first of its series, which is known too: fewer digits cancel.
    location = location - xp.take(location, xp.asarray(first, device=device_of(location)), axis=0)
    mean, within = mean_so_far(location, series), mean_so_far(covariance, series)
    if covariance.ndim == 2:  # of many dimensions, one by one
        sd = xp.sqrt(within + xp.maximum(mean_so_far(location**2, series) - mean**2, 0.0))
        return location - mean, (location - mean) / sd, sd
    total = within + mean_so_far(_outer(location), series) - _outer(mean)
    sd = xp.sqrt(xp.maximum(xp.linalg.diagonal(total), xp.linalg.diagonal(within)))
    _, inverse = roots_and_inverses(total / _outer(sd))
    gap = location - mean
    return gap, times(inverse, gap / sd), sd


def size_so_far(part: Array, series: np.ndarray | None, rounding: float) -> Array:
    """Root mean square of the rows up to each row, (n, 1); 1 where there is nothing but rounding yet."""
    xp = array_namespace(part)
    size = xp.sqrt(mean_so_far(xp.mean(part**2, axis=1, keepdims=True), series))
    return xp.where(size > rounding, size, xp.ones_like(size))


def traits_so_far(location: Array, log_spread: Array, series: np.ndarray | None, rounding: float) -> Array:
    """Locations and centred log spreads, each over its root mean square so far; left out where they do not vary."""
    xp, spread = array_namespace(location), log_spread[:, None]
    parts = (location, spread - mean_so_far(spread, series))
    kept = [part for part in parts if as_float(xp.mean(part**2)) ** 0.5 > rounding]
    found = [part / size_so_far(part, series, rounding) for part in kept]
    return xp.concat(found, axis=1) if found else location[:, :0]


def curves_so_far(values: Array, orders: Sequence[int], series: np.ndarray | None, rounding: float) -> Array:
    """Legendre polynomials (n, q, orders) of ranks so far of columns (n, q); zero where one does not vary."""
    columns = to_numpy(values).astype(np.float64)
    found = np.zeros((*columns.shape, len(orders)))
    for k in np.flatnonzero(np.max(np.abs(columns - columns[:1]), axis=0) > rounding):
        found[:, k] = legendre_curves(ranks_so_far(columns[:, k], series), orders)
    return like(found, values)


def errors_before(errors: Array, clusters: Clusters) -> Array:
    """Errors (n, d) of the row observed last before each row, 0 where there is none.

    Far ones count as less far, so that none decides alone.
    """
    xp, before = array_namespace(errors), rows_before(clusters, errors.shape[0])
    found = xp.take(errors, xp.asarray(np.maximum(before, 0), device=device_of(errors)), axis=0)
    return xp.clip(found, -_MOST_BEFORE, _MOST_BEFORE) * like((before >= 0)[:, None], errors)


def _outer(vectors: Array) -> Array:
    return vectors[:, :, None] * vectors[:, None, :]
