"""Sums of pair functions over the tiles of the upper triangle, a block of rows at a time."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple, Protocol

import numpy as np

from .._lib.arrays import Array, accumulation_dtype, array_namespace, device_of, full_product
from .estimators import Pairing
from .gpu.device import Half, columns_in_eights
from .signs import PlacedSigns

__all__ = [
    "QUIETLY",
    "PairFunction",
    "PairSums",
    "Strip",
    "Triangle",
    "add_up",
    "groups_of_strips",
    "sums_of_strip",
    "sums_of_strips",
]

_TILES_PER_STRIP, _PAIRS_PER_STRIP = 32, 2**22  # the larger of the two
# Overflow is the caller's to see, in the sums; NumPy's own warnings would only come on top.
QUIETLY = np.errstate(over="ignore", invalid="ignore")


class PairFunction(Protocol):
    """Symmetric H(i, j) for a block of rows and columns; `floats_per_pair` is the working memory of one pair."""

    @property
    def floats_per_pair(self) -> int: ...

    def __call__(self, rows: slice, cols: slice) -> Array: ...


class Strip(NamedTuple):
    """Some tiles of one block of rows: those of blocks of columns from `first` to `last`, less one."""

    row: int
    first: int
    last: int


@dataclass(frozen=True, eq=False)
class Triangle:
    """All that sums over pairs depend on: what a worker is sent, once."""

    functions: tuple[PairFunction, ...]
    pairing: Pairing
    n: int
    tile: int
    signs: PlacedSigns | None
    halves: tuple[Half, ...] | None = None  # for products with signs in half precision, one for each H

    @cached_property
    def blocks(self) -> list[slice]:
        return [slice(start, min(start + self.tile, self.n)) for start in range(0, self.n, self.tile)]

    @cached_property
    def strips(self) -> list[Strip]:
        """Of each block of rows the tiles on the diagonal and to its right; short enough to be interrupted soon."""
        ends = [-(-self.pairing.last(rows.stop) // self.tile) for rows in self.blocks]
        step = max(_TILES_PER_STRIP, _PAIRS_PER_STRIP // self.tile**2)
        return [Strip(i, j, min(j + step, end)) for i, end in enumerate(ends) for j in range(i, end, step)]


@dataclass(frozen=True, eq=False)
class PairSums:
    """Of one H over some tiles: sums over the pairs of each block of points that is in them; and e' H e, (B,).

    Every pair counts twice, as in the whole matrix.
    """

    by_block: dict[int, Array]
    drawn: Array


def add_up(parts: Iterable[list[PairSums]], triangle: Triangle) -> list[PairSums]:
    """Of each H, over the tiles of all parts, added up in their order."""
    by_block: list[dict[int, Array]] = [{} for _ in triangle.functions]
    drawn: list[Array] = [0.0] * len(triangle.functions)
    for part in parts:
        for v, more in enumerate(part):
            for k, sums in more.by_block.items():
                by_block[v][k] = by_block[v].get(k, 0.0) + sums
            drawn[v] = drawn[v] + more.drawn
    return [PairSums(*sums) for sums in zip(by_block, drawn, strict=True)]


def sums_of_strips(triangle: Triangle, strips: Sequence[Strip]) -> list[PairSums]:
    return add_up((sums_of_strip(triangle, strip) for strip in strips), triangle)


@QUIETLY
def sums_of_strip(triangle: Triangle, strip: Strip) -> list[PairSums]:
    """Of each H: sums over rows and columns of the tiles, and their share of e' H e."""
    functions, rows, signs = triangle.functions, triangle.blocks[strip.row], triangle.signs
    by_block: list[dict[int, Array]] = [{strip.row: 0.0} for _ in functions]
    products: list[Array] = [0.0] * len(functions)
    for j in range(strip.first, strip.last):
        cols = triangle.blocks[j]
        flips = None if signs is None else signs(cols)
        if flips is not None and triangle.halves is not None:
            flips = columns_in_eights(flips)
        for v in range(len(functions)):
            block, row_sums, col_sums = _tile(triangle, v, strip.row, j)
            xp, dtype = array_namespace(block), accumulation_dtype(block)
            by_block[v][strip.row] += xp.astype(row_sums, dtype, copy=False)
            by_block[v][j] = by_block[v].get(j, 0.0) + xp.astype(col_sums, dtype, copy=False)
            if flips is not None:
                several = dtype if triangle.halves is None else xp.float32
                product = full_product(block, xp.astype(flips, block.dtype, copy=False))
                products[v] += xp.astype(product, several, copy=False)
    return [
        PairSums(sums, products[v] if signs is None else _with_signs(triangle, v, rows, products[v]))
        for v, sums in enumerate(by_block)
    ]


def _with_signs(triangle: Triangle, v: int, rows: slice, product: Array) -> Array:
    """e_i (H e)_i, summed over the rows; twice, as every pair counts."""
    assert triangle.signs is not None
    flips = triangle.signs(rows)
    xp, dtype = array_namespace(flips), accumulation_dtype(flips)
    product = xp.astype(product[:, : flips.shape[1]], dtype, copy=False)
    if triangle.halves is not None:
        product = product * xp.astype(triangle.halves[v].units[rows, None], dtype)
    return 2.0 * xp.sum(flips * product, axis=0)


def _tile(triangle: Triangle, v: int, i: int, j: int) -> tuple[Array, Array, Array]:
    """A block of H as products with signs want it, and its sums over columns and rows."""
    function, rows, cols = triangle.functions[v], triangle.blocks[i], triangle.blocks[j]
    half = None if triangle.halves is None else triangle.halves[v]
    if half is not None and triangle.pairing.holds_all(rows, cols) and hasattr(function, "half_tile"):
        found: tuple[Array, Array, Array] | None = function.half_tile(rows, cols, half.units)
        if found is not None:
            return found
    block = triangle.pairing.masked(function(rows, cols), rows, cols)
    if i == j:
        block = _half_without_diagonal(block)
    xp = array_namespace(block)
    sums = xp.sum(block, axis=1), xp.sum(block, axis=0)
    return (block if half is None else half.block(block, rows)), *sums


def _half_without_diagonal(block: Array) -> Array:
    """A tile on the diagonal holds every pair twice; halved, it counts like any other tile and its transpose."""
    xp = array_namespace(block)
    diagonal = xp.eye(block.shape[0], dtype=xp.bool, device=device_of(block))
    return xp.where(diagonal, xp.zeros_like(block), 0.5 * block)


def groups_of_strips(triangle: Triangle, number: int) -> list[list[Strip]]:
    """At most `number` runs of strips, with about as many tiles each."""
    last = np.cumsum([strip.last - strip.first for strip in triangle.strips])
    ends = np.unique(np.searchsorted(last, last[-1] * np.arange(1, number + 1) / number) + 1)
    return [triangle.strips[start:end] for start, end in zip([0, *ends[:-1].tolist()], ends.tolist(), strict=True)]
