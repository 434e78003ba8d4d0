"""Sums of features, of their squares and of their cubes over the rows of each bin, with random signs, in one pass."""

from collections.abc import Sequence
from contextlib import closing
from functools import partial, reduce
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from .._lib.cores import cpu_count
from ..pairwise.sums import times_signs
from ..parallel.threads import in_threads
from ..resampling.feature_sums import are_unequal
from ..resampling.signs import PlacedSigns, Signs
from ..resampling.tiles import blocks_of

_ROWS_AT_ONCE = 8192  # a multiple of 8, where the signs of a row start on a byte


class BinSums(NamedTuple):
    """Sums over the rows of each bin of f and f^3, as they are and with signs, (bins, q, 1 + B), and of f^2."""

    plain: np.ndarray
    cubes: np.ndarray
    squares: np.ndarray  # (bins, q)


def bin_sums(features: np.ndarray, bins: Sequence[np.ndarray], signs: Signs) -> list[BinSums]:
    """Return the sums of features (n, q) for each of several divisions of the rows into bins, (n,) numbers each.

    Signs of many rows are multiplied in float32, unless a few features are so much larger than most that these would be
    lost.
    """
    few = len(features) <= _ROWS_AT_ONCE
    in_full = few or np.any(are_unequal(features, [features.shape[1]]))
    placed = signs.on(features, np.float64 if in_full else np.float32)
    n_bins = [int(np.max(each)) + 1 for each in bins]
    work = partial(_of_block, features, bins, n_bins, placed)
    with closing(in_threads(work, blocks_of(len(features), _ROWS_AT_ONCE), cpu_count())) as parts:
        return reduce(_added, parts)


def _added(total: list[BinSums], more: list[BinSums]) -> list[BinSums]:
    return [BinSums(*(a + b for a, b in zip(one, other, strict=True))) for one, other in zip(total, more, strict=True)]


def _of_block(
    features: np.ndarray, bins: Sequence[np.ndarray], n_bins: Sequence[int], signs: PlacedSigns, rows: slice
) -> list[BinSums]:
    f, flips = features[rows], signs(rows)
    q, squares = f.shape[1], f * f
    all_powers = np.concatenate([f, squares * f, squares], axis=1)
    found = []
    for own, number in zip(bins, n_bins, strict=True):
        order = np.argsort(own[rows], kind="stable")  # rows of a bin next to each other
        ends = np.searchsorted(own[rows][order], np.arange(number + 1))
        powers, signed = all_powers[order], flips[order]
        sums, drawn = np.zeros((number, 3 * q)), np.zeros((number, 2 * q, flips.shape[1]))
        for k, (first, last) in enumerate(pairwise(ends.tolist())):
            if last > first:
                some = powers[first:last]
                sums[k] = np.sum(some, axis=0)
                drawn[k] = times_signs(some[:, : 2 * q].T, signed[first:last])
        both = np.concatenate([sums[:, : 2 * q, None], drawn], axis=2)
        found.append(BinSums(both[:, :q], both[:, q:], sums[:, 2 * q :]))
    return found
