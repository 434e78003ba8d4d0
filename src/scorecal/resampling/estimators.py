"""Which pairs of n points a U-statistic averages: all, or so few that its cost grows as n; or all, of finite rank.

Any choice of pairs, made before looking at them, keeps the mean. Pairs are of points that are near each other in the
order in which they are given, whatever that is; no point meets itself.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from .._lib.arrays import Array, array_namespace, device_of

__all__ = ["Block", "Complete", "Incomplete", "Linear", "LowRank", "Pairing", "as_estimator"]

_SMALLEST_TILE = 64


def _check_count(name: str, value: Any, least: int) -> None:
    if isinstance(value, bool) or not isinstance(value, (int, np.integer)) or value < least:
        raise ValueError(f"`{name}` must be an integer of at least {least}, but is {value!r}.")


@dataclass(frozen=True)
class Complete:
    """All pairs: cost n^2, and the most power. The null distribution is that of the wild bootstrap."""


@dataclass(frozen=True)
class Incomplete:
    """Each point with the next ones only, and the wild bootstrap: cost n times their number.

    Parameters
    ----------
    pairs_per_point : int
        How many come next, at least 1.
    """

    pairs_per_point: int = 100

    def __post_init__(self) -> None:
        _check_count("pairs_per_point", self.pairs_per_point, 1)


@dataclass(frozen=True)
class Block:
    """All pairs inside blocks of points, and the wild bootstrap: cost n times the size of a block.

    Parameters
    ----------
    size : int, optional
        Of a block, at least 2; the root of n by default. The last block also takes what is left over.
    """

    size: int | None = None

    def __post_init__(self) -> None:
        if self.size is not None:
            _check_count("size", self.size, 2)


@dataclass(frozen=True)
class Linear:
    """Points two by two, the least that there is to compute. Their mean is compared with Student's t: no bootstrap.

    p-values are ranks among `n_resamples` quantiles of it. In `calibration_test`, which combines several statistics,
    signs are used here too.
    """


@dataclass(frozen=True)
class LowRank:
    """All pairs, with random frequencies for Gaussian kernels, and the wild bootstrap: cost n times their number.

    Parameters
    ----------
    n_frequencies : int
        Each has 2 d features; few of them lose power, never the level.
    """

    n_frequencies: int = 50

    def __post_init__(self) -> None:
        _check_count("n_frequencies", self.n_frequencies, 1)


Estimator = Complete | Incomplete | Block | Linear | LowRank
_BY_NAME: dict[str, Estimator] = {
    "complete": Complete(),
    "incomplete": Incomplete(),
    "block": Block(),
    "linear": Linear(),
    "low-rank": LowRank(),
}


def as_estimator(estimator: Any) -> Estimator:
    if isinstance(estimator, str) and estimator in _BY_NAME:
        return _BY_NAME[estimator]
    if not isinstance(estimator, Estimator):
        raise ValueError(
            f"`estimator` must be one of {', '.join(map(repr, _BY_NAME))}, or `Incomplete(pairs_per_point)`, "
            f"`Block(size)` or `LowRank(n_frequencies)` of `estimators`, but is {estimator!r}."
        )
    return estimator


@dataclass(frozen=True)
class Pairing:
    """The pairs of n points that are at most `reach` apart, inside the same block of `size` points."""

    n: int
    reach: int
    size: int

    @staticmethod
    def of(estimator: Estimator, n: int) -> Pairing:
        if isinstance(estimator, Incomplete):
            return Pairing(n, min(estimator.pairs_per_point, n), n)
        size = (
            {Complete: n, LowRank: n, Linear: 2}.get(type(estimator))
            or getattr(estimator, "size", None)
            or math.isqrt(n)
        )
        return Pairing(n, n, min(max(size, 2), n))

    @property
    def n_blocks(self) -> int:
        return self.n // self.size

    @cached_property
    def n_pairs(self) -> int:
        """Of each block alone, all pairs less those too far apart."""
        total = 0
        for size, count in ((self.size, self.n_blocks - 1), (self.n - self.size * (self.n_blocks - 1), 1)):
            far = max(0, size - 1 - self.reach)
            total += count * (size * (size - 1) - far * (far + 1)) // 2
        return total

    def block_of(self, points: np.ndarray) -> np.ndarray:
        return np.asarray(np.minimum(points // self.size, self.n_blocks - 1))

    def last(self, row: int) -> int:
        """One past the last point that points below `row` are paired with."""
        last_block = int(self.block_of(np.array(row - 1)))
        end = self.n if last_block == self.n_blocks - 1 else (last_block + 1) * self.size
        return min(end, row + self.reach)

    def preferred_tile(self, largest: int) -> int:
        """Not much larger than what is used of it; with blocks, one or several of them."""
        if self.reach < self.n:
            return min(largest, max(_SMALLEST_TILE, -(-self.reach // 8) * 8))
        if self.size >= largest:
            return largest
        size = math.lcm(self.size, 8)
        return size * max(1, _SMALLEST_TILE // size) if size <= largest else largest

    def holds_all(self, rows: slice, cols: slice) -> bool:
        return bool(cols.stop <= self.last(rows.start + 1))

    def masked(self, block: Array, rows: slice, cols: slice) -> Array:
        """Zeros in place of the pairs that are left out, but for those of a point and itself."""
        if self.holds_all(rows, cols):
            return block
        i, j = np.arange(rows.start, rows.stop)[:, None], np.arange(cols.start, cols.stop)
        inside = (np.abs(i - j) <= self.reach) & (self.block_of(i) == self.block_of(j))
        xp = array_namespace(block)
        return xp.where(xp.asarray(inside, device=device_of(block)), block, xp.zeros_like(block))
