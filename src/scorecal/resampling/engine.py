"""Complete U-statistics and their wild bootstrap, tile by tile over the upper triangle.

The engine knows pair functions, features of rows and signs, nothing of what they mean. No n x n array is ever made:
besides its inputs and the packed signs it holds a few tiles, within `memory` bytes, and vectors of length n and B.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass
from functools import partial
from typing import Protocol

import numpy as np
from array_api_compat import is_numpy_array

from .._arrays import Array, accumulation_dtype, array_namespace, device_of
from .estimators import Complete, Estimator, Pairing
from .features import Features, FeatureSums, feature_sums, u_statistic_of
from .progress import progress
from .signs import PlacedSigns, Signs
from .threads import all_cores, cpu_count

__all__ = ["DEFAULT_MEMORY", "PairFunction", "UStatistics", "u_statistics"]

DEFAULT_MEMORY = 256 * 2**20
# NumPy: a tile and its temporaries stay near the cache, and its products are long enough. Elsewhere: few, large calls.
_NUMPY_TILE, _OTHER_TILE = 384, 1536
_ALL_PAIRS = Complete()
# Overflow is the caller's to see, in the sums; NumPy's own warnings would only come on top.
_QUIETLY = np.errstate(over="ignore", invalid="ignore")


class PairFunction(Protocol):
    """Symmetric H(i, j) for a block of rows and columns; `floats_per_pair` is the working memory of one pair."""

    @property
    def floats_per_pair(self) -> int: ...

    def __call__(self, rows: slice, cols: slice) -> Array: ...


@dataclass(frozen=True, eq=False)
class UStatistics:
    """For each of V functions: the U-statistic, its bootstrap draws, and the share of each of the n points."""

    statistic: Array  # (V,)
    null: Array | None  # (V, B)
    contributions: Array  # (V, n); each row adds up to its statistic


@_QUIETLY
def u_statistics(
    functions: Sequence[PairFunction | Features],
    reference: Array,
    signs: Signs | None = None,
    *,
    estimator: Estimator = _ALL_PAIRS,
    tile: int | None = None,
    memory: int = DEFAULT_MEMORY,
) -> UStatistics:
    """Average of H over the estimator's pairs and, with signs e, that of e_i e_j H_ij for every column of signs.

    Features are averaged over all pairs: these cost no more.

    `reference` is any array of n rows that says on which backend, device and dtype to work. `tile` overrides the tile
    that follows from `memory`; it must be a multiple of 8 and changes results by rounding only.
    """
    n = int(reference.shape[0])
    xp = array_namespace(reference)
    pairs: list[PairFunction] = [function for function in functions if not isinstance(function, Features)]
    features = [function for function in functions if isinstance(function, Features)]
    n_threads = cpu_count() if is_numpy_array(reference) else 1
    pairing = Pairing.of(estimator, n)
    tile = tile or _tile_edge(pairs, pairing, reference, signs, n_threads, memory)
    if tile % 8:
        raise ValueError(f"`tile` must be a multiple of 8, where the signs of a row start on a byte, but is {tile}.")
    blocks = [slice(start, min(start + tile, n)) for start in range(0, n, tile)]
    placed = None if signs is None else signs.on(reference)
    work = partial(_row_block, pairs, features, pairing, blocks, placed)

    sums: list[list[Array]] = [[0.0] * len(blocks) for _ in pairs]
    resampled: list[Array] = [0.0] * len(pairs)
    totals: list[FeatureSums] = []
    n_tiles = [len(_columns(pairing, blocks, i)) for i in range(len(blocks))]
    for i, (rows, of_features) in enumerate(_run(work, n_tiles, n_threads)):
        for v, (own, others, drawn) in enumerate(rows):
            sums[v][i] = sums[v][i] + own
            for j, other in enumerate(others, start=i):
                sums[v][j] = sums[v][j] + other
            resampled[v] = resampled[v] + drawn
        totals = [a + b for a, b in zip(totals, of_features, strict=True)] if totals else of_features

    found = []
    of_pairs, with_totals = iter(zip(sums, resampled, strict=True)), iter(totals)
    for function in functions:
        if isinstance(function, Features):
            found.append(u_statistic_of(function, next(with_totals), blocks))
        else:
            parts, drawn = next(of_pairs)
            contributions = xp.concat(parts) / (2 * pairing.n_pairs)
            found.append((xp.sum(contributions), drawn / (2 * pairing.n_pairs), contributions))
    statistic, null, shares = zip(*found, strict=True)
    return UStatistics(xp.stack(statistic), None if signs is None else xp.stack(null), xp.stack(shares))


_OfPairs = tuple[Array, list[Array], Array]


@_QUIETLY
def _row_block(
    functions: Sequence[PairFunction],
    features: Sequence[Features],
    pairing: Pairing,
    blocks: list[slice],
    signs: PlacedSigns | None,
    i: int,
) -> tuple[list[_OfPairs], list[FeatureSums]]:
    """For each H: row sums of this block of rows, column sums of it and every later block, and e' H e; and features."""
    own: list[Array] = [0.0] * len(functions)
    others: list[list[Array]] = [[] for _ in functions]
    products: list[Array] = [0.0] * len(functions)
    for cols in _columns(pairing, blocks, i) if functions else ():
        flips = None if signs is None else signs(cols)
        for v, function in enumerate(functions):
            block = pairing.masked(function(blocks[i], cols), blocks[i], cols)
            if cols is blocks[i]:
                block = _half_without_diagonal(block)
            xp, dtype = array_namespace(block), accumulation_dtype(block)
            own[v] = own[v] + xp.astype(xp.sum(block, axis=1), dtype, copy=False)
            others[v].append(xp.astype(xp.sum(block, axis=0), dtype, copy=False))
            if flips is not None:
                products[v] += xp.astype(block @ xp.astype(flips, block.dtype, copy=False), dtype, copy=False)
    flips = None if signs is None else signs(blocks[i])
    if flips is not None:
        xp = array_namespace(flips)
        products = [2.0 * xp.sum(flips * product, axis=0) for product in products]
    of_features = [feature_sums(each, blocks[i], flips) for each in features]
    return list(zip(own, others, products, strict=True)), of_features


def _columns(pairing: Pairing, blocks: list[slice], i: int) -> list[slice]:
    """Of the tiles of this block of rows, on the diagonal and to its right."""
    return blocks[i : -(-pairing.last(blocks[i].stop) // blocks[0].stop)]


def _half_without_diagonal(block: Array) -> Array:
    """A tile on the diagonal holds every pair twice; halved, it counts like any other tile and its transpose."""
    xp = array_namespace(block)
    diagonal = xp.eye(block.shape[0], dtype=xp.bool, device=device_of(block))
    return xp.where(diagonal, xp.zeros_like(block), 0.5 * block)


def _run(
    work: Callable[[int], tuple[list[_OfPairs], list[FeatureSums]]], n_tiles: list[int], n_threads: int
) -> Iterator[tuple[list[_OfPairs], list[FeatureSums]]]:
    """Results of the blocks of rows in their order, so that sums do not depend on the number of threads."""
    if len(n_tiles) == 1:
        yield work(0)
        return
    with ExitStack() as stack:
        advance = stack.enter_context(progress(sum(n_tiles), "tile", delay=2.0))
        if n_threads > 1:
            # Elementwise NumPy runs on one core: tiles side by side, each with a single-threaded BLAS, use them all.
            stack.enter_context(all_cores())
            pool = ThreadPoolExecutor(n_threads)
            stack.callback(pool.shutdown, wait=True, cancel_futures=True)
            results: Iterator[tuple[list[_OfPairs], list[FeatureSums]]] = pool.map(work, range(len(n_tiles)))
        else:
            results = map(work, range(len(n_tiles)))
        for i, result in enumerate(results):
            advance(n_tiles[i])
            yield result


def _tile_edge(
    functions: Sequence[PairFunction],
    pairing: Pairing,
    reference: Array,
    signs: Signs | None,
    n_threads: int,
    memory: int,
) -> int:
    """The preferred tile, halved until all threads together stay within `memory`."""
    tile = pairing.preferred_tile(_NUMPY_TILE if is_numpy_array(reference) else _OTHER_TILE)
    per_pair = max((function.floats_per_pair for function in functions), default=0)
    per_row = 0 if signs is None else (2 + 2 * len(functions)) * signs.n_resamples
    itemsize = array_namespace(reference).finfo(reference.dtype).bits // 8
    while tile > 8 and n_threads * (tile * tile * per_pair * itemsize + tile * per_row * 8) > memory:
        tile = max(8, tile // 16 * 8)
    return tile
