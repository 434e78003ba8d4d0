"""Averages over the rows up to each row, its own included, for rows in time order.

What a view multiplies features by must be known when a forecast is made. In a random walk, say, the mean of all
predicted locations depends on errors still to come: features times the distance from that mean do not have mean zero.
"""

import numpy as np

from .._lib.arrays import Array, array_namespace, device_of, like
from .._lib.linalg import roots_and_inverses, times


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
    _, inverse, _ = roots_and_inverses(total / _outer(sd))
    gap = location - mean
    return gap, times(inverse, gap / sd), sd


def _outer(vectors: Array) -> Array:
    return vectors[:, :, None] * vectors[:, None, :]
