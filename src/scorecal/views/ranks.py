"""Ranks of predictions, and smooth curves of them."""

from collections.abc import Sequence

import numpy as np

from .._lib.arrays import Array, array_namespace
from .sample import sample_of

_BLOCK = 1000


def ranks_of(values: np.ndarray) -> np.ndarray:
    """Return ranks (n,) between 0 and 1, among all values or a random subset of many; ties share one."""
    knots = np.sort(sample_of(values[:, None]).values[:, 0])  # of many rows: features stay sums over rows
    return np.asarray(ranks_among(knots[None, :], values[:, None])[:, 0])


def ranks_among(knots: Array, values: Array) -> Array:
    """Return ranks (n, q), between 0 and 1, of the columns of values (n, q) among the sorted rows of knots (q, k)."""
    xp, k = array_namespace(values), knots.shape[1]

    def rank(column: int) -> Array:
        among = knots[column, :]
        numbers = xp.astype(values[:, column], values.dtype, copy=True)  # torch wants them next to each other
        below = xp.searchsorted(among, numbers, side="left")
        up_to = below
        if bool(xp.any(xp.take(among, xp.minimum(below, xp.full_like(below, k - 1))) == numbers)):
            up_to = xp.searchsorted(among, numbers, side="right")
        real = values.dtype if xp.isdtype(values.dtype, "real floating") else xp.float64
        return xp.astype(below + up_to, real) / (2.0 * k)

    return xp.stack([rank(column) for column in range(values.shape[1])], axis=1)


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


def legendre_curves(ranks: Array, orders: Sequence[int]) -> Array:
    """Return normalised Legendre polynomials of these orders, 1 or more, of ranks (...) in (0, 1), (..., orders)."""
    x = 2.0 * ranks - 1.0
    found = [1.0 + 0.0 * x, x]
    for k in range(1, max(orders)):  # Bonnet's recurrence
        found.append(((2.0 * k + 1.0) * x * found[k] - k * found[k - 1]) / (k + 1.0))
    return array_namespace(ranks).stack([(2.0 * k + 1.0) ** 0.5 * found[k] for k in orders], axis=-1)
