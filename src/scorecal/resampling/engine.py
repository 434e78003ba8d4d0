"""U-statistics and their wild bootstrap, tile by tile over the upper triangle.

The engine knows pair functions, features of rows and signs, nothing of what they mean. No n x n array is ever made:
besides its inputs and the packed signs it holds a few tiles, within the memory of the plan, and vectors of length n and
B.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from functools import partial, reduce
from operator import add
from typing import TypeVar

from array_api_compat import is_jax_array, is_numpy_array

from .._lib.arrays import Array, accumulation_dtype, array_namespace, like, to_numpy
from ..parallel.progress import progress
from ..parallel.threads import cpu_count, in_threads
from ..parallel.workers import in_order, spread
from .estimators import Pairing
from .features import Features, FeatureSums, feature_sums, u_statistic_of
from .gpu.device import free_memory, half_of, is_on_gpu, is_out_of_memory
from .options import Plan
from .signs import PlacedSigns, Signs
from .tiles import (
    QUIETLY,
    PairFunction,
    PairSums,
    Strip,
    Triangle,
    add_up,
    groups_of_strips,
    sums_of_strip,
    sums_of_strips,
)

__all__ = ["UStatistics", "u_statistics"]

# NumPy: a tile and its temporaries stay near the cache, and its products are long enough. Elsewhere: few, large calls.
_NUMPY_TILE, _OTHER_TILE, _GPU_TILE, _SMALLEST_GPU_TILE = 384, 1536, 16384, 256
_MEMORY, _GPU_MEMORY = 256 * 2**20, 6 * 2**30
_N_TASKS = 64  # for workers, however many there are: few enough for what they send back, and enough to share out
_DEFAULT = Plan()
_Part = TypeVar("_Part")


@dataclass(frozen=True, eq=False)
class UStatistics:
    """For each of V functions: the U-statistic, its bootstrap draws, and the share of each of the n points."""

    statistic: Array  # (V,)
    null: Array | None  # (V, B)
    contributions: Array  # (V, n); each row adds up to its statistic


@QUIETLY
def u_statistics(
    functions: Sequence[PairFunction | Features],
    reference: Array,
    signs: Signs | None = None,
    *,
    plan: Plan = _DEFAULT,
    tile: int | None = None,
) -> UStatistics:
    """Average of H over the plan's pairs and, with signs e, that of e_i e_j H_ij for every column of signs.

    Features are averaged over all pairs: these cost no more.

    `reference` is any array of n rows that says on which backend, device and dtype to work. `tile` overrides the tile
    that follows from the plan's memory; it must be a multiple of 8 and changes results by rounding only.
    """
    if plan.workers is not None and is_jax_array(reference):
        raise TypeError(
            "`workers` are for NumPy and torch arrays, but these are of JAX, whose settings (such as 64-bit floats) "
            "other processes do not share. Leave `workers` out: JAX uses all cores; or give NumPy arrays."
        )
    n = int(reference.shape[0])
    xp = array_namespace(reference)
    pairs: list[PairFunction] = [function for function in functions if not isinstance(function, Features)]
    features = [function for function in functions if isinstance(function, Features)]
    n_threads = cpu_count() if is_numpy_array(reference) and plan.workers is None else 1
    pairing = Pairing.of(plan.estimator, n)
    tile = tile or _tile_edge(pairs, pairing, reference, signs, n_threads, plan.memory)
    if tile % 8:
        raise ValueError(f"`tile` must be a multiple of 8, where the signs of a row start on a byte, but is {tile}.")
    triangle = Triangle(tuple(pairs), pairing, n, tile, None if signs is None else signs.on(reference))
    if signs is not None and plan.precision == "mixed" and reference.dtype == xp.float32 and is_on_gpu(reference):
        halves = [half for half in (half_of(function, n) for function in pairs) if half is not None]
        if len(halves) == len(pairs):
            triangle = replace(triangle, signs=signs.on(reference, xp.float16), halves=tuple(halves))
    of_pairs = iter(_sums_in_memory(triangle, plan, n_threads) if pairs else [])
    total = accumulation_dtype(reference)
    of_features = iter(_sums_of_features(features, triangle, n_threads) if features else [])
    found = []
    for function in functions:
        if isinstance(function, Features):
            found.append(u_statistic_of(function, next(of_features), triangle.blocks))
        else:
            sums = next(of_pairs)
            by_block = xp.concat([like(sums.by_block[k], reference, total) for k in sorted(sums.by_block)])
            contributions, drawn = by_block / (2 * pairing.n_pairs), sums.drawn / (2 * pairing.n_pairs)
            found.append(
                (xp.sum(contributions), drawn if signs is None else like(drawn, reference, total), contributions)
            )
    statistic, null, shares = zip(*found, strict=True)
    return UStatistics(xp.stack(statistic), None if signs is None else xp.stack(null), xp.stack(shares))


def _sums_in_memory(triangle: Triangle, plan: Plan, n_threads: int) -> list[PairSums]:
    """With smaller tiles where a device runs out of memory."""
    while True:
        try:
            return _sums_of_pairs(triangle, plan, n_threads)
        except Exception as error:
            if not is_out_of_memory(error):
                raise
            if triangle.tile <= _SMALLEST_GPU_TILE:
                raise MemoryError(
                    f"The device has no memory left for tiles of {triangle.tile} x {triangle.tile} pairs. Free some of "
                    "it, give fewer points, or move the arrays to the CPU."
                ) from None
        triangle = replace(triangle, tile=max(_SMALLEST_GPU_TILE, triangle.tile // 16 * 8))


def _sums_of_pairs(triangle: Triangle, plan: Plan, n_threads: int) -> list[PairSums]:
    """Of each H over all tiles, added up in their order, so that sums do not depend on who was faster."""
    if plan.workers is None:
        groups = [[strip] for strip in triangle.strips]
        parts = in_threads(partial(sums_of_strip, triangle), triangle.strips, n_threads)
    else:
        groups = groups_of_strips(triangle, _N_TASKS)
        parts = in_order(spread(_numbered, list(enumerate(groups)), plan.workers, triangle), len(groups))
    sizes = [sum(strip.last - strip.first for strip in group) for group in groups]
    with closing(parts), progress(sum(sizes), "tile", delay=2.0) as advance:
        return add_up(_counted(parts, sizes, advance), triangle)


def _counted(parts: Iterator[_Part], sizes: Sequence[int], advance: Callable[[int], object]) -> Iterator[_Part]:
    for size, part in zip(sizes, parts, strict=True):
        yield part
        advance(size)


def _sums_of_features(features: Sequence[Features], triangle: Triangle, n_threads: int) -> list[FeatureSums]:
    work = partial(_feature_block, features, triangle.signs)
    with closing(in_threads(work, triangle.blocks, n_threads)) as parts:
        return reduce(lambda total, part: list(map(add, total, part)), parts)


@QUIETLY
def _feature_block(features: Sequence[Features], signs: PlacedSigns | None, rows: slice) -> list[FeatureSums]:
    flips = None if signs is None else signs(rows)
    return [feature_sums(each, rows, flips) for each in features]


def _numbered(triangle: Triangle, task: tuple[int, Sequence[Strip]]) -> tuple[int, list[PairSums]]:
    number, strips = task
    return number, [_on_host(sums) for sums in sums_of_strips(triangle, strips)]


def _on_host(sums: PairSums) -> PairSums:
    """From a GPU, which the process that waits for the sums need not have."""
    by_block = {k: to_numpy(part) for k, part in sums.by_block.items()}
    return PairSums(by_block, sums.drawn if isinstance(sums.drawn, float) else to_numpy(sums.drawn))


def _tile_edge(
    functions: Sequence[PairFunction],
    pairing: Pairing,
    reference: Array,
    signs: Signs | None,
    n_threads: int,
    memory: int | None,
) -> int:
    """The preferred tile, halved until all threads together stay within `memory`."""
    on_gpu = is_on_gpu(reference)
    if memory is None:
        memory = min(_GPU_MEMORY, free_memory(reference) // 4) if on_gpu else _MEMORY
    tile = pairing.preferred_tile(_GPU_TILE if on_gpu else _NUMPY_TILE if is_numpy_array(reference) else _OTHER_TILE)
    per_pair = max((function.floats_per_pair for function in functions), default=0)
    per_row = 0 if signs is None else (2 + 2 * len(functions)) * signs.n_resamples
    itemsize = array_namespace(reference).finfo(reference.dtype).bits // 8
    while tile > 8 and n_threads * (tile * tile * per_pair * itemsize + tile * per_row * 8) > memory:
        tile = max(8, tile // 16 * 8)
    return tile
