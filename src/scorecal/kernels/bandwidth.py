"""The median heuristic."""

import math
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from array_api_compat import is_numpy_array

from .._lib.arrays import Array, array_namespace, as_float, has_values, like
from .distances import Distance, Euclidean, pairwise
from .radial import Radial

MAX_PAIRS = 100_000
Pairs = tuple[np.ndarray, np.ndarray]


def resolve_bandwidth(
    bandwidth: float | str, distance: Distance, reference: Array, pairs: Pairs | None = None
) -> Array:
    """Return the bandwidth as a 0-d array: the given number, or the median heuristic, over the given pairs if any."""
    by_median = isinstance(bandwidth, str)
    value = median_distance(distance, reference, pairs) if by_median else like(float(bandwidth), reference)
    if has_values(value) and not (0 < as_float(value * value) < math.inf):
        raise ValueError(
            f"`bandwidth` is {as_float(value):.4g}, whose square is zero or infinite in {reference.dtype}. Likely "
            "causes: targets or predictions in extreme units (rescale them, or use float64), or a given `bandwidth` "
            "beyond the range of their dtype."
        )
    return value


def target_bandwidth(kernel: Any, targets: Array) -> Array | None:
    """Bandwidth of a radial kernel between targets (n, d); None for a kernel of finite rank, which has none."""
    if not isinstance(kernel, Radial):
        return None
    return resolve_bandwidth(kernel.bandwidth, Euclidean(targets), targets)


@dataclass(frozen=True, eq=False)
class _Scaled(Euclidean):
    """Distances in a unit. Squares of very large or small numbers would overflow or underflow.

    Differences are divided, and not features: a row far from the others would round away the digits in which these
    differ.
    """

    unit: Array

    def pairs(self, i: Array, j: Array) -> Array:
        xp = array_namespace(self.features)
        gaps = xp.take(self.features, i, axis=0) - xp.take(self.features, j, axis=0)
        return xp.sum((gaps / self.unit) ** 2, axis=-1)


def median_distance(distance: Distance, reference: Array, pairs: Pairs | None = None) -> Array:
    """Median of the distances (not squared) over pairs of different rows, as a 0-d array.

    If it is zero, the median of the nonzero distances; if all are zero, 1. It is differentiable, and no branch depends
    on values, so JAX can trace it.
    """
    xp = array_namespace(reference)
    if distance.n < 2:
        return like(1.0, reference)
    unit = like(1.0, reference)
    if isinstance(distance, Euclidean):
        rows, first = distance.features, distance.features[0, :]
        unit = xp.max(xp.maximum(xp.max(rows, axis=0) - first, first - xp.min(rows, axis=0)))
        unit = xp.where(unit > 0, unit, xp.ones_like(unit))
        distance = _Scaled(distance.features, unit)
    squared = pairwise(distance, *(pairs or pair_indices(distance.n, MAX_PAIRS)), reference)
    total = squared.shape[0]
    zeros = xp.sum(xp.astype(squared == 0, xp.int32), dtype=xp.int32)
    # Positions of the two middle values, among all distances and among the nonzero ones.
    places = xp.stack(
        [(total - 1) // 2 + 0 * zeros, total // 2 + 0 * zeros, (zeros + total - 1) // 2, (zeros + total) // 2]
    )
    places = xp.minimum(places, total - 1)
    ordered = np.partition(squared, places) if is_numpy_array(squared) else xp.sort(squared)
    middle = xp.take(ordered, places, axis=0)
    positive = xp.where(middle > 0, middle, xp.ones_like(middle))  # the square root has no derivative at zero
    roots = xp.where(middle > 0, xp.sqrt(positive), xp.zeros_like(middle))
    median, positive_median = xp.mean(roots[:2]), xp.mean(roots[2:])
    fallback = xp.where(positive_median > 0, positive_median, 1.0 / unit)
    return unit * xp.where(median > 0, median, fallback)


@lru_cache(maxsize=2)
def pair_indices(n: int, cap: int) -> Pairs:
    """Indices (i, j), i < j, of all pairs of n rows or, if there are more than `cap`, of `cap` random pairs.

    The seed is fixed: a bandwidth must not depend on the random numbers of the test.
    """
    total = n * (n - 1) // 2
    if total <= cap:
        i, j = np.triu_indices(n, 1)
        return _read_only(i), _read_only(j)
    k = np.sort(np.random.default_rng(0).choice(total, cap, replace=False))
    # Pair k lies in row i if the n-1, n-2, ... pairs of i rows precede it; rounding errs by at most one row.
    i = np.floor(n - 0.5 - np.sqrt((n - 0.5) ** 2 - 2.0 * k)).astype(np.int64)
    i += (i + 1) * n - (i + 1) * (i + 2) // 2 <= k
    i -= i * n - i * (i + 1) // 2 > k
    j = k - (i * n - i * (i + 1) // 2) + i + 1
    return _read_only(i), _read_only(j)


def _read_only(array: np.ndarray) -> np.ndarray:
    """Make the array read-only, since the cache returns the same one to every caller."""
    array.flags.writeable = False
    return array
