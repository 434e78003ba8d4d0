"""Which pairs of n rows a statistic averages.

A choice of pairs that does not depend on the data keeps the mean of a statistic. Rows are paired with their neighbours,
in the order in which they are given; no row is paired with itself, nor with rows of its own cluster or with rows of
another block that overlap with it.
"""

import math
from collections.abc import Iterable
from dataclasses import dataclass, field, replace

import numpy as np

from .._lib.cached import cached_property
from .._lib.checks import check_count
from .clusters import Clusters

_SMALLEST_TILE, _LARGEST_OF_BAND = 64, 256
_GAPS_TRIED, _ENOUGH = 8, 0.9


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
    labels : ndarray of int, shape (n,), optional
        Clusters of the rows, from 0: pairs of rows of one cluster do not count. Tests set them from `groups` and
        `horizon`; without them, each row is a cluster.
    shift : int
        The second row of each pair is this many rows further on, so that neighbours are of different clusters.
    times : ndarray of int, shape (n,), optional
        Places in time: pairs of rows that are less than `horizon` apart do not count either.
    horizon : int
        How far apart in time the rows of a pair are at least.
    """

    n: int
    reach: int
    size: int
    labels: np.ndarray | None = field(default=None, repr=False, compare=False)
    shift: int = 0
    times: np.ndarray | None = field(default=None, repr=False, compare=False)
    horizon: int = 1

    def __post_init__(self) -> None:
        for name in ("n", "reach", "size"):
            check_count(name, getattr(self, name))
        if self.size > self.n:
            raise ValueError(f"`size` must be at most n = {self.n}, for one block, but is {self.size}.")

    def among(self, clusters: Clusters) -> "Pairing":
        """Return the pairing for rows in clusters, with the smallest shift that leaves about the most pairs to count.

        With blocks of rows it is a multiple of their size: each row then belongs to as many pairs as without it. Some
        pair always counts: two neighbours of different clusters, or, if each block is of one cluster, rows of two
        blocks that follow each other.
        """
        apart = replace(self, labels=clusters.labels, times=clusters.times, horizon=clusters.horizon)
        if self.reach >= self.n and self.size == self.n:
            return apart
        unit = self.size if self.size < self.n else 1
        shifts = [0, *(unit * 2**k for k in range((self.n // (2 * unit)).bit_length()))]
        shifted = [replace(apart, shift=shift) for shift in shifts]
        tried = np.unique(np.linspace(1, self._largest_gap, _GAPS_TRIED).astype(int))
        counts = [pairing._n_pairs_apart(tried) for pairing in shifted]
        enough = (pairing for pairing, count in zip(shifted, counts, strict=True) if count >= _ENOUGH * max(counts))
        return next(enough)

    @property
    def n_blocks(self) -> int:
        return self.n // self.size

    @cached_property
    def n_clusters(self) -> int:
        """Number of clusters, hence of independent signs in a draw; n without labels."""
        return self.n if self.labels is None else int(self.labels.max()) + 1

    @cached_property
    def n_pairs(self) -> int:
        """Number of pairs: those inside each block, without those too far apart or inside clusters."""
        if self.labels is not None:
            return self._n_pairs_of_clusters(self.labels)
        total = 0
        for size, count in ((self.size, self.n_blocks - 1), (self.n - self.size * (self.n_blocks - 1), 1)):
            far = max(0, size - 1 - self.reach)
            total += count * (size * (size - 1) - far * (far + 1)) // 2
        return total

    def _n_pairs_of_clusters(self, labels: np.ndarray) -> int:
        if self.reach >= self.n and self.size == self.n and not self.shift:
            inside = np.sum(np.bincount(labels) ** 2) + 2 * self._n_across_edges(labels)
            return int(self.n**2 - inside) // 2
        return self._n_pairs_apart(range(1, self._largest_gap + 1))

    def _n_across_edges(self, labels: np.ndarray) -> int:
        """Number of pairs of rows of different blocks that overlap."""
        if self.times is None:
            return 0
        order = np.argsort(self.times)
        n_edges = np.sum((np.diff(self.times[order]) == 1) & (np.diff(labels[order]) != 0))
        return int(n_edges) * self.horizon * (self.horizon - 1) // 2

    @property
    def _largest_gap(self) -> int:
        """Largest distance between two rows of a block that are paired, apart from the shift."""
        return min(self.reach, self.n - self.size * (self.n_blocks - 1) - 1)

    def _n_pairs_apart(self, gaps: Iterable[int]) -> int:
        """Number of pairs that count with one of these distances, apart from the shift."""
        block, total = self.block_of(np.arange(self.n - self.shift)), 0
        for gap in gaps:
            together = block[:-gap] == block[gap:]
            first, second = slice(0, -self.shift - gap), slice(self.shift + gap, None)
            if self.labels is not None:
                together &= self.labels[first] != self.labels[second]
            if self.times is not None:
                together &= np.abs(self.times[first] - self.times[second]) >= self.horizon
            total += int(np.sum(together))
        return total

    def block_of(self, points: np.ndarray) -> np.ndarray:
        """Return the block of each row."""
        return np.asarray(np.minimum(points // self.size, self.n_blocks - 1))

    def last(self, row: int) -> int:
        """One past the last row that rows below `row` are paired with."""
        last_block = int(self.block_of(np.array(row - 1)))
        end = self.n if last_block == self.n_blocks - 1 else (last_block + 1) * self.size
        return min(self.n, min(end, row + self.reach) + self.shift)

    def preferred_tile(self, largest: int) -> int:
        """Edge of a tile that is not much larger than the part used; with blocks, one or several of them."""
        if self.reach < self.n:
            return min(largest, max(_SMALLEST_TILE, -(-self.reach // 8) * 8))
        if self.size >= largest:
            return largest
        size = math.lcm(self.size, 8)
        return size * max(1, _SMALLEST_TILE // size) if size <= largest else largest

    @property
    def band_edge(self) -> int | None:
        """Edge of the smallest tiles, a multiple of 8, that hold a narrow band or whole blocks; None for wide ones."""
        edge = -(-self.reach // 8) * 8 if self.size == self.n else math.lcm(self.size, 8)
        return edge if edge <= _LARGEST_OF_BAND else None

    @property
    def regular(self) -> int:
        """Number of rows before the last block, which may be larger than others; all rows, if there is but one."""
        return self.n if self.size == self.n else self.size * (self.n_blocks - 1)

    def gaps(self, edge: int) -> range:
        """How many tiles further on those are that a tile of the `band_edge` is paired with."""
        reach = self.reach if self.size == self.n else 0  # blocks end where tiles end
        return range(self.shift // edge, (edge - 1 + self.shift + reach) // edge + 1)

    def holds_all(self, rows: slice, cols: slice) -> bool:
        """Return whether all pairs of a tile count, regardless of clusters."""
        return bool(cols.stop <= self.last(rows.start + 1)) and not (self.shift and cols.start < rows.stop + self.shift)

    def mask(self, rows: slice, cols: slice) -> np.ndarray | None:
        """Mask of the pairs of a tile that count, regardless of clusters; None where all off the diagonal count."""
        if self.holds_all(rows, cols):
            return None
        i, j = np.arange(rows.start, rows.stop)[:, None], np.arange(cols.start, cols.stop)
        first, second = np.minimum(i, j), np.maximum(i, j) - self.shift
        near = (second > first) & (second - first <= self.reach)
        return np.asarray(near & (self.block_of(first) == self.block_of(second)))

    def all_apart(self, rows: slice, cols: slice) -> bool:
        """Return whether all pairs of a tile are in different clusters and do not overlap, as far as ranges tell."""
        return (self.labels is None or _gap(self.labels[rows], self.labels[cols]) > 0) and (
            self.times is None or _gap(self.times[rows], self.times[cols]) >= self.horizon
        )


def _gap(some: np.ndarray, others: np.ndarray) -> int:
    """Distance between the ranges of two sets of numbers; negative where they overlap."""
    return int(max(others.min() - some.max(), some.min() - others.max()))
