"""Ranks of predictions, and smooth curves of them."""

from collections.abc import Sequence

import numpy as np

_MOST_KNOTS = 10**5  # of many rows, ranks are those among a subset: features stay sums over rows
_SEED = 0
_BLOCK = 1000
_ROUNDING = 1e-6  # curves with a mean square of less do not vary


def ranks_of(values: np.ndarray) -> np.ndarray:
    """Return ranks between 0 and 1, among all values or a random subset of many; ties share one."""
    knots = values
    if len(values) > _MOST_KNOTS:
        knots = np.random.default_rng(_SEED).choice(values, _MOST_KNOTS, replace=False)
    knots = np.sort(knots)
    below, up_to = (np.searchsorted(knots, values, side) for side in ("left", "right"))
    return np.asarray((below + up_to) / (2.0 * len(knots)))


def ranks_below(values: np.ndarray) -> np.ndarray:
    """Return ranks between 0 and 1 by the number of smaller values alone, which ties share."""
    return np.asarray((np.searchsorted(np.sort(values), values) + 0.5) / len(values))


def ranks_so_far(values: np.ndarray, series: np.ndarray | None) -> np.ndarray:
    """Return the rank of each value among those up to its own row, of its own series, if rows are in several."""
    if series is None:
        return _ranks_so_far(values)
    ranks = np.empty(len(values))
    order = np.argsort(series, kind="stable")
    for rows in np.split(order, np.cumsum(np.bincount(series))[:-1]):
        ranks[rows] = _ranks_so_far(values[rows])
    return ranks


def _ranks_so_far(values: np.ndarray) -> np.ndarray:
    """A block of rows at a time: among the sorted values before the block, and among the block, pair by pair."""
    ranks = np.empty(len(values))
    before = values[:0]
    for start in range(0, len(values), _BLOCK):
        block = values[start : start + _BLOCK]
        twice = sum(np.searchsorted(before, block, side) for side in ("left", "right"))
        earlier = np.tri(len(block), dtype=bool)
        less, equal = block[None, :] < block[:, None], block[None, :] == block[:, None]
        twice = twice + np.sum(2 * (less & earlier) + (equal & earlier), axis=1)
        ranks[start : start + len(block)] = twice / (2.0 * (start + np.arange(1, len(block) + 1)))
        before = np.sort(np.concatenate([before, block]), kind="stable")
    return ranks


def legendre_curves(ranks: np.ndarray, orders: Sequence[int]) -> np.ndarray:
    """Return normalised Legendre polynomials of these orders of ranks in (0, 1), (n, orders)."""
    from numpy.polynomial import legendre

    chosen = np.asarray(orders)
    return np.asarray(legendre.legvander(2.0 * ranks - 1.0, max(orders))[:, chosen] * np.sqrt(2.0 * chosen + 1.0))


def varying_curves(
    columns: np.ndarray, orders: Sequence[int], rounding: float, *, so_far: bool, series: np.ndarray | None
) -> np.ndarray:
    """Return curves of the ranks of each column (n, q), (n, q, orders), zero where it varies by no more than rounding.

    (n, 0, orders) if none varies more. Each has mean 0 and mean square 1 over the rows, unless ranks are those so far.
    """
    varies = np.max(np.abs(columns - columns[:1]), axis=0) > rounding
    found = np.zeros((*columns.shape, len(orders)))
    for k in np.flatnonzero(varies):
        ranks = ranks_so_far(columns[:, k], series) if so_far else ranks_of(columns[:, k])
        curves = legendre_curves(ranks, orders)
        if not so_far:  # with ties, ranks are not uniform
            curves = curves - np.mean(curves, axis=0)
            size = np.sqrt(np.mean(curves**2, axis=0))
            curves = np.where(size > _ROUNDING, curves / np.maximum(size, _ROUNDING), 0.0)
        found[:, k] = curves
    return found if np.any(varies) else found[:, :0]
