"""Sums of pair functions over the tiles of the upper triangle, a block of rows at a time."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from .._lib.arrays import Array, accumulation_dtype, array_namespace, device_of, ignore_overflow
from .._lib.cached import cached_property
from ..pairwise import PairFunction
from ..pairwise.sums import PairSums, add_up, signed_sum, sum_block, times_signs
from .gpu.float16 import ScaledFloat16, columns_in_eights
from .pairing import Pairing
from .signs import PlacedSigns

_TILES_PER_STRIP, _PAIRS_PER_STRIP = 32, 2**22  # the larger of the two


class Strip(NamedTuple):
    """Tiles of one block of rows, with the blocks of columns from `first` to `last` - 1."""

    row: int
    first: int
    last: int


def blocks_of(n: int, tile: int) -> list[slice]:
    """Blocks of `tile` rows, the last of which may be smaller."""
    return [slice(start, min(start + tile, n)) for start in range(0, n, tile)]


@dataclass(frozen=True, eq=False)
class PairSumJob:
    """All inputs of the sums over pairs, sent to each worker once."""

    functions: tuple[PairFunction, ...]
    pairing: Pairing
    n: int
    tile: int
    signs: PlacedSigns | None  # of rows
    labels: Array | None = None  # those of the pairing, on the device, like `times`
    times: Array | None = None
    halves: tuple[ScaledFloat16, ...] | None = None  # for products with signs in half precision, one for each H

    @cached_property
    def blocks(self) -> list[slice]:
        return blocks_of(self.n, self.tile)

    @cached_property
    def strips(self) -> list[Strip]:
        """Tiles of each block of rows, on the diagonal and to its right; short enough for a quick interruption."""
        ends = [-(-self.pairing.last(rows.stop) // self.tile) for rows in self.blocks]
        starts = [(rows.start + self.pairing.shift) // self.tile for rows in self.blocks]
        step = max(_TILES_PER_STRIP, _PAIRS_PER_STRIP // self.tile**2)
        return [
            Strip(i, j, min(j + step, end))
            for i, (start, end) in enumerate(zip(starts, ends, strict=True))
            for j in range(min(start, end - 1), end, step)  # at least one, that every block has its sums
        ]

    def mask(self, rows: slice, cols: slice) -> Array | None:
        """Mask of the pairs of a tile that count; None where all count, except on the diagonal."""
        mask: Array | None = self.pairing.mask(rows, cols)
        if self.labels is None or self.pairing.all_apart(rows, cols):
            return mask
        apart = self.labels[rows][:, None] != self.labels[cols][None, :]
        if self.times is not None:
            gaps = self.times[rows][:, None] - self.times[cols][None, :]
            apart = apart & (array_namespace(gaps).abs(gaps) >= self.pairing.horizon)
        if mask is None:
            return apart
        return apart & array_namespace(apart).asarray(mask, device=device_of(apart))


def sums_of_strips(job: PairSumJob, strips: Sequence[Strip]) -> list[PairSums]:
    """Sums of each H over several strips: the task of one worker."""
    return add_up(sums_of_strip(job, strip) for strip in strips)


@ignore_overflow
def sums_of_strip(job: PairSumJob, strip: Strip) -> list[PairSums]:
    """Sums of each H over rows and columns of the tiles, and their part of e' H e."""
    rows = job.blocks[strip.row]
    by_block: list[dict[int, Array]] = [{strip.row: 0.0} for _ in job.functions]
    products: list[Array] = [0.0] * len(job.functions)
    row_signs = None if job.signs is None else job.signs(rows)
    for j in range(strip.first, strip.last):
        signs = None if job.signs is None else job.signs(job.blocks[j])
        if signs is not None and job.halves is not None:
            signs = columns_in_eights(signs)
        for v in range(len(job.functions)):
            block, row_sums, col_sums = _tile(job, v, strip.row, j)
            xp, dtype = array_namespace(block), accumulation_dtype(block)
            by_block[v][strip.row] += xp.astype(row_sums, dtype, copy=False)
            by_block[v][j] = by_block[v].get(j, 0.0) + xp.astype(col_sums, dtype, copy=False)
            if signs is not None:
                several = dtype if job.halves is None else xp.float32
                product = times_signs(block, signs)
                products[v] += xp.astype(product, several, copy=False)
    if row_signs is None:
        return [PairSums(sums, 0.0) for sums in by_block]
    units = [None] * len(by_block) if job.halves is None else [half.units[rows] for half in job.halves]
    return [PairSums(sums, signed_sum(row_signs, products[v], units[v])) for v, sums in enumerate(by_block)]


def _tile(job: PairSumJob, v: int, i: int, j: int) -> tuple[Array, Array, Array]:
    """Block of H in the form that products with signs need, and its sums over columns and over rows."""
    function, rows, cols = job.functions[v], job.blocks[i], job.blocks[j]
    half = None if job.halves is None else job.halves[v]
    mask = job.mask(rows, cols)
    if half is not None and half.fused is not None and mask is None:
        return half.fused(half.units, rows, cols)
    block, row_sums, col_sums = sum_block(function(rows, cols), mask, i == j)
    return (block if half is None else half.block(block, rows)), row_sums, col_sums


def groups_of_strips(job: PairSumJob, number: int) -> list[list[Strip]]:
    """At most `number` groups of successive strips, with about equally many tiles each."""
    last = np.cumsum([strip.last - strip.first for strip in job.strips])
    ends = np.unique(np.searchsorted(last, last[-1] * np.arange(1, number + 1) / number) + 1)
    return [job.strips[start:end] for start, end in zip([0, *ends[:-1].tolist()], ends.tolist(), strict=True)]
