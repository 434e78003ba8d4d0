"""Which pairs of n rows a statistic averages.

A choice of pairs that does not depend on the data keeps the mean of a statistic. Rows are paired with their neighbours,
in the order in which they are given; no row is paired with itself.
"""

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from .._lib.checks import check_count

_SMALLEST_TILE = 64


@dataclass(frozen=True)
class Pairing:
    """The pairs of n rows that are at most `reach` apart, inside the same block of `size` rows.

    Parameters
    ----------
    n : int
        Number of rows.
    reach : int
        Largest distance between the two rows of a pair, in the order of the table; n for no limit.
    size : int
        Number of rows in a block; n for one block. The last block also holds the remaining rows.
    """

    n: int
    reach: int
    size: int

    def __post_init__(self) -> None:
        for name in ("n", "reach", "size"):
            check_count(name, getattr(self, name))
        if self.size > self.n:
            raise ValueError(f"`size` must be at most n = {self.n}, for one block, but is {self.size}.")

    @property
    def n_blocks(self) -> int:
        return self.n // self.size

    @cached_property
    def n_pairs(self) -> int:
        """Number of pairs: those inside each block, without those too far apart."""
        total = 0
        for size, count in ((self.size, self.n_blocks - 1), (self.n - self.size * (self.n_blocks - 1), 1)):
            far = max(0, size - 1 - self.reach)
            total += count * (size * (size - 1) - far * (far + 1)) // 2
        return total

    def block_of(self, points: np.ndarray) -> np.ndarray:
        """Return the block of each row."""
        return np.asarray(np.minimum(points // self.size, self.n_blocks - 1))

    def last(self, row: int) -> int:
        """One past the last row that rows below `row` are paired with."""
        last_block = int(self.block_of(np.array(row - 1)))
        end = self.n if last_block == self.n_blocks - 1 else (last_block + 1) * self.size
        return min(end, row + self.reach)

    def preferred_tile(self, largest: int) -> int:
        """Edge of a tile that is not much larger than the part used; with blocks, one or several of them."""
        if self.reach < self.n:
            return min(largest, max(_SMALLEST_TILE, -(-self.reach // 8) * 8))
        if self.size >= largest:
            return largest
        size = math.lcm(self.size, 8)
        return size * max(1, _SMALLEST_TILE // size) if size <= largest else largest

    def holds_all(self, rows: slice, cols: slice) -> bool:
        """Return whether all pairs of a tile count."""
        return bool(cols.stop <= self.last(rows.start + 1))

    def mask(self, rows: slice, cols: slice) -> np.ndarray | None:
        """Mask of the pairs of a tile that count, regardless of the diagonal; None where all count."""
        if self.holds_all(rows, cols):
            return None
        i, j = np.arange(rows.start, rows.stop)[:, None], np.arange(cols.start, cols.stop)
        return np.asarray((np.abs(i - j) <= self.reach) & (self.block_of(i) == self.block_of(j)))
