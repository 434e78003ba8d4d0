"""Sums over rows of the features of several statistics, side by side: one pass over blocks of rows for all of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from .._lib.arrays import Array, accumulation_dtype, array_namespace, device_of, to_numpy
from ..pairwise import Features
from ..pairwise.sums import times_signs

_ENOUGH, _MOST_UNEQUAL = 64, 1e4


@dataclass(frozen=True, eq=False)
class FeatureSums:
    """Sums over rows of f, f^2, f^3, and of e f, e f^3 for signs e, (q, B), of features that add up over batches.

    The features of a statistic come after those of the one before, (q,) in all; `widths` are their numbers. Cubes are
    those of statistics that are corrected for skewness, which come first. `unequal` says of each statistic that some f
    are so much larger than most that signs in float32 lose what is left where they cancel.
    """

    widths: tuple[int, ...]
    plain: Array
    squares: Array
    cubes: Array
    signed: Array | None
    signed_cubes: Array | None
    unequal: np.ndarray

    def __add__(self, other: FeatureSums) -> FeatureSums:
        signed = None if self.signed is None else self.signed + other.signed
        signed_cubes = None if self.signed_cubes is None else self.signed_cubes + other.signed_cubes
        return replace(
            self,
            plain=self.plain + other.plain,
            squares=self.squares + other.squares,
            cubes=self.cubes + other.cubes,
            signed=signed,
            signed_cubes=signed_cubes,
            unequal=self.unequal | other.unequal,
        )

    def where_unequal(self, other: FeatureSums) -> FeatureSums:
        """Return these sums, with the signed ones of unequal features from the other."""
        some = np.repeat(self.unequal, self.widths)[:, None]
        xp = array_namespace(self.plain)
        with_cubes = some[: self.cubes.shape[0]]
        places = (xp.asarray(part, device=device_of(self.plain)) for part in (some, with_cubes))
        signed, signed_cubes = (
            xp.where(place, new, old)
            for place, new, old in zip(
                places, (other.signed, other.signed_cubes), (self.signed, self.signed_cubes), strict=True
            )
        )
        return replace(self, signed=signed, signed_cubes=signed_cubes)

    @property
    def columns(self) -> list[slice]:
        """Places of the features of each statistic."""
        ends = np.cumsum(self.widths).tolist()
        return [slice(end - width, end) for end, width in zip(ends, self.widths, strict=True)]

    def of(self, statistic: int) -> FeatureSums:
        """Return the sums of one of the statistics."""
        own, n_cubes = self.columns[statistic], self.cubes.shape[0]
        with_cubes = slice(min(own.start, n_cubes), min(own.stop, n_cubes))
        return FeatureSums(
            self.widths[statistic : statistic + 1],
            self.plain[own],
            self.squares[own],
            self.cubes[with_cubes],
            None if self.signed is None else self.signed[own, :],
            None if self.signed_cubes is None else self.signed_cubes[with_cubes, :],
            self.unequal[statistic : statistic + 1],
        )


def side_by_side(features: Sequence[Features], rows: slice) -> tuple[Array, tuple[int, ...]]:
    """Return the features of a block of rows, (rows, q), in the dtype of sums, and how many each statistic has."""
    blocks = [each.function(rows) for each in features]
    xp, dtype = array_namespace(blocks[0]), accumulation_dtype(blocks[0])
    blocks = [xp.astype(block, dtype, copy=False) for block in blocks]
    return xp.concat(blocks, axis=1), tuple(int(block.shape[1]) for block in blocks)


def sums_of_block(block: Array, widths: tuple[int, ...], n_cubes: int, flips: Array | None) -> FeatureSums:
    """Return the sums over one block of rows, (rows, q), with their signs (rows, B), and with cubes of the first f."""
    xp = array_namespace(block)
    squares = block * block
    cubes = squares[:, :n_cubes] * block[:, :n_cubes]
    signed = signed_cubes = None
    unequal = np.zeros(len(widths), dtype=bool)
    if flips is not None:
        signed, signed_cubes = (times_signs(values.mT, flips) for values in (block, cubes))
        if flips.dtype != block.dtype:
            unequal = are_unequal(block, widths)
    plain, of_squares, of_cubes = (xp.sum(part, axis=0) for part in (block, squares, cubes))
    return FeatureSums(widths, plain, of_squares, of_cubes, signed, signed_cubes, unequal)


def are_unequal(block: Array, widths: Sequence[int]) -> np.ndarray:
    """Return of each statistic whether the largest f of a column is far larger than the median of some rows."""
    xp = array_namespace(block)
    some = xp.sort(xp.abs(block[:: max(1, block.shape[0] // _ENOUGH), :]), axis=0)
    largest = xp.maximum(xp.max(block, axis=0), -xp.min(block, axis=0))
    unequal: Any = to_numpy(largest > _MOST_UNEQUAL * some[some.shape[0] // 2, :])
    ends = np.cumsum(widths)
    return np.array([np.any(unequal[end - width : end]) for end, width in zip(ends, widths, strict=True)])
