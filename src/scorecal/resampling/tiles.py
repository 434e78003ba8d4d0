"""Sums of pair functions over the tiles of the upper triangle, a block of rows at a time."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from operator import ne, sub
from typing import NamedTuple

import numpy as np

from .._lib.arrays import Array, accumulation_dtype, array_namespace, device_of, ignore_overflow
from .._lib.cached import cached_property
from ..pairwise import PairFunction, Rows, Stack, rows_of
from ..pairwise.sums import PairSums, add_up, signed_sum, sum_block, times_signs
from .gpu.float16 import ScaledFloat16, columns_in_eights
from .layout import Stacking
from .pairing import Pairing
from .signs import PlacedSigns

_TILES_PER_STRIP, _PAIRS_PER_STRIP = 32, 2**22  # the larger of the two


class Strip(NamedTuple):
    """Tiles of one block of rows, with the blocks of columns from `first` to `last` - 1.

    Of a block of `stacked` small tiles, each of these with those that are from `first` to `last` - 1 tiles further on.
    """

    row: int
    first: int
    last: int
    stacked: bool = False


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
    stacking: Stacking | None = None

    @cached_property
    def blocks(self) -> list[slice]:
        if self.stacking is None:
            return blocks_of(self.n, self.tile)
        end = self.stacking.end
        rest = (slice(end + rows.start, end + rows.stop) for rows in blocks_of(self.n - end, self.tile))
        return [*blocks_of(end, self.stacking.rows), *rest]

    @cached_property
    def _starts(self) -> np.ndarray:
        return np.array([rows.start for rows in self.blocks])

    def block_at(self, row: int) -> int:
        """Return the block that holds a row."""
        return int(np.searchsorted(self._starts, row, side="right")) - 1

    @cached_property
    def band_masks(self) -> dict[int, Array | None]:
        """Masks of the pairs of two tiles of stacks, by how many tiles they are apart, regardless of clusters."""
        assert self.stacking is not None
        edge = self.stacking.edge
        return {
            gap: self.pairing.mask(slice(0, edge), slice(gap * edge, (gap + 1) * edge)) for gap in self.stacking.gaps
        }

    @cached_property
    def strips(self) -> list[Strip]:
        """Tiles of each block of rows, on the diagonal and to its right; short enough for a quick interruption."""
        n_stacked = 0 if self.stacking is None else self.block_at(self.stacking.end - 1) + 1
        stacked = () if self.stacking is None else (self.stacking.gaps.start, self.stacking.gaps.stop, True)
        step = max(_TILES_PER_STRIP, _PAIRS_PER_STRIP // self.tile**2)
        found = [Strip(i, *stacked) for i in range(n_stacked)]
        for i, rows in enumerate(self.blocks[n_stacked:], n_stacked):
            end = self.block_at(self.pairing.last(rows.stop) - 1) + 1
            start = self.block_at(min(rows.start + self.pairing.shift, self.n - 1))
            # At least one, that every block has its sums.
            found += [Strip(i, j, min(j + step, end)) for j in range(min(start, end - 1), end, step)]
        return found

    def mask(self, rows: Rows, cols: Rows, gap: int = 0) -> Array | None:
        """Mask of the pairs of a tile that count; None where all count, except on the diagonal.

        The tiles of a stack of columns are `gap` tiles further on than those of the rows.
        """
        if isinstance(rows, slice) and isinstance(cols, slice):
            mask: Array | None = self.pairing.mask(rows, cols)
        else:
            mask = self.band_masks[gap]
        spans = (slice(each.start, each.stop) for each in (rows, cols))
        if self.labels is None or self.pairing.all_apart(*spans):
            return mask
        apart = _pairs_of(self.labels, rows, cols, ne)
        if self.times is not None:
            gaps = _pairs_of(self.times, rows, cols, sub)
            apart = apart & (array_namespace(gaps).abs(gaps) >= self.pairing.horizon)
        if mask is None:
            return apart
        return apart & array_namespace(apart).asarray(mask, device=device_of(apart))


def _pairs_of(values: Array, rows: Rows, cols: Rows, compare: Callable[[Array, Array], Array]) -> Array:
    """Compare the values of each row with those of each column."""
    return compare(rows_of(values, rows)[..., :, None], rows_of(values, cols)[..., None, :])


def sums_of_strips(job: PairSumJob, strips: Sequence[Strip]) -> list[PairSums]:
    """Sums of each H over several strips: the task of one worker."""
    return add_up(sums_of_strip(job, strip) for strip in strips)


@ignore_overflow
def sums_of_strip(job: PairSumJob, strip: Strip) -> list[PairSums]:
    """Sums of each H over rows and columns of the tiles, and their part of e' H e."""
    if strip.stacked:
        return _sums_of_stack(job, strip)
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


def _sums_of_stack(job: PairSumJob, strip: Strip) -> list[PairSums]:
    """As `sums_of_strip`, for a block of rows whose tiles are all computed in one call."""
    assert job.stacking is not None
    block = job.blocks[strip.row]
    rows = Stack(block.start, block.stop, job.stacking.edge)
    by_block: list[dict[int, Array]] = [{} for _ in job.functions]
    products: list[Array] = [0.0] * len(job.functions)
    for gap in range(strip.first, strip.last):
        cols = rows.shifted(gap)
        mask, signs = job.mask(rows, cols, gap), None
        if job.signs is not None:
            own = job.signs(slice(cols.start, cols.stop))
            own = own if job.halves is None else columns_in_eights(own)
            signs = rows_of(own, Stack(0, own.shape[0], rows.edge))
        for v, function in enumerate(job.functions):
            values, row_sums, col_sums = sum_block(function(rows, cols), mask, gap == 0)
            _add_rows(job, by_block[v], rows.start, row_sums)
            _add_rows(job, by_block[v], cols.start, col_sums)
            if signs is not None:
                values = values if job.halves is None else job.halves[v].block(values, rows)
                xp = array_namespace(values)
                product = xp.reshape(times_signs(values, signs), (block.stop - block.start, -1))
                products[v] += product if job.halves is None else xp.astype(product, xp.float32, copy=False)
    if job.signs is None:
        return [PairSums(sums, 0.0) for sums in by_block]
    units = [None] * len(by_block) if job.halves is None else [half.units[block] for half in job.halves]
    row_signs = job.signs(block)
    return [PairSums(sums, signed_sum(row_signs, products[v], units[v])) for v, sums in enumerate(by_block)]


def _add_rows(job: PairSumJob, by_block: dict[int, Array], start: int, sums: Array) -> None:
    """Add sums of successive rows, from row `start` on, to those of the blocks that hold the rows."""
    xp = array_namespace(sums)
    sums = xp.astype(xp.reshape(sums, (-1,)), accumulation_dtype(sums), copy=False)
    stop = start + sums.shape[0]
    for k in range(job.block_at(start), job.block_at(stop - 1) + 1):
        rows = job.blocks[k]
        first, last = max(start, rows.start), min(stop, rows.stop)
        part = sums[first - start : last - start]
        if last - first < rows.stop - rows.start:
            place = {"dtype": sums.dtype, "device": device_of(sums)}
            part = xp.concat([xp.zeros(first - rows.start, **place), part, xp.zeros(rows.stop - last, **place)])
        by_block[k] = by_block.get(k, 0.0) + part


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
