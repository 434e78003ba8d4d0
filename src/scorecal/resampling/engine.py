"""U-statistics and their null draws, tile by tile over the upper triangle.

The engine knows pair functions, features of rows, signs and nulls, but not their meaning. No n x n array is ever made:
besides its inputs and the packed signs it holds a few tiles, within the `memory` of the options, and vectors of length
n and B.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from copy import deepcopy
from dataclasses import replace
from functools import partial
from typing import Any, TypeVar

import numpy as np
from array_api_compat import is_jax_array, is_numpy_array

from .._lib.arrays import Array, accumulation_dtype, array_namespace, device_of, ignore_overflow, like, to_numpy
from .._lib.cores import cpu_count
from ..pairwise import Extreme, Features, PairFunction, Redraw, RowFunction
from ..pairwise.sums import PairSums, add_up
from ..parallel.progress import progress
from ..parallel.threads import in_threads
from ..parallel.workers import in_order, map_tasks
from .estimators import pairing_of
from .gpu.device import is_on_gpu, is_out_of_memory
from .gpu.float16 import scaled_float16
from .layout import Stacking, bytes_for, feature_rows, stacking_of, tile_edge
from .nulls import Averages, RandomSigns, StudentT, UStatistics, as_null, distribution_of
from .options import ComputeOptions
from .pairing import Pairing
from .row_statistics import statistics_of_features
from .signs import Signs, dtype_of_signs
from .tiles import PairSumJob, Strip, blocks_of, groups_of_strips, sums_of_strip, sums_of_strips

_SMALLEST_GPU_TILE = 256
_N_TASKS = 64  # for any number of workers: few enough to send back results, and enough to share the work evenly
_DEFAULT = ComputeOptions()
_Part = TypeVar("_Part")


def null_distributions(
    functions: Sequence[RowFunction],
    reference: Array,
    n_resamples: int,
    rng: np.random.Generator,
    *,
    options: ComputeOptions = _DEFAULT,
    tile: int | None = None,
    redraw: Redraw | None = None,
) -> UStatistics:
    """Return several U-statistics of the same rows, each with `n_resamples` draws under the null hypothesis.

    The estimator may replace the functions; its draws come before those of the null. Without a null in the options, it
    is the estimator's own; but random signs for features, which average all pairs. `redraw` serves nulls that draw
    targets from the predictions.
    """
    pairing = pairing_of(options.estimator, int(reference.shape[0]), options.shared)
    before = deepcopy(rng)
    applied = [_applied(options, function, rng) for function in functions]
    if not all(isinstance(each, Features | Extreme) or hasattr(each, "floats_per_pair") for each in applied):
        raise TypeError(
            f"`estimator` must return a function from `apply(function, rng)`, unlike {options.estimator!r}."
        )
    null: Any = options.null
    of_rows = [isinstance(function, Features | Extreme) for function in applied]
    if null is None:
        null = RandomSigns() if all(of_rows) else as_null(options.estimator.null()) or RandomSigns()
    if isinstance(null, StudentT) and (any(of_rows) or len(of_rows) > 1):
        raise ValueError(
            "`null` must not be `StudentT` here: it is for one statistic that averages pairs inside blocks of rows. "
            "Kernels of finite rank average all pairs, and `calibration_test` combines several statistics."
        )

    alone = replace(options, workers=None)  # one statistic is too little work to be sent elsewhere, time and again

    def redrawn(n_resamples: int, rng: np.random.Generator) -> UStatistics:
        """Statistics of drawn targets, with the same random numbers of the estimator as for the observed ones."""

        def average(functions: Sequence[RowFunction], reference: Array) -> Array:
            same = deepcopy(before)
            applied = [_applied(options, function, same) for function in functions]
            return u_statistics(applied, reference, options=alone, tile=tile).statistic

        drawn = redraw(n_resamples, rng, average)  # type: ignore[misc]
        known = [
            replace(function, units=units) if isinstance(function, Features) else function
            for function, units in zip(applied, drawn.units, strict=True)
        ]
        return replace(u_statistics(known, reference, options=options, tile=tile), null=drawn.statistics)

    average = partial(u_statistics, applied, reference, options=options, tile=tile)
    averages = Averages(average, None if redraw is None or options.clusters is not None else redrawn)
    return distribution_of(null, averages, pairing, len(applied), n_resamples, rng)


def _applied(options: ComputeOptions, function: RowFunction, rng: np.random.Generator) -> RowFunction:
    return function if isinstance(function, Extreme) else options.estimator.apply(function, rng)


@ignore_overflow
def u_statistics(
    functions: Sequence[RowFunction],
    reference: Array,
    signs: Signs | None = None,
    *,
    options: ComputeOptions = _DEFAULT,
    tile: int | None = None,
) -> UStatistics:
    """Average of H over the estimator's pairs and, with signs e, that of e_i e_j H_ij for every column of signs.

    Features are averaged over all pairs, at no extra cost. Extremes are what they are, whatever the signs.

    `reference` is any array of n rows, which sets backend, device and dtype. `tile` overrides the tile that fits the
    `memory` of the options; it must be a multiple of 8, and changes results by rounding only.
    """
    if options.workers is not None and is_jax_array(reference):
        raise TypeError(
            "`workers` must be None for JAX arrays, because other processes do not share JAX's settings (such as "
            "64-bit floats). Leave `workers` out, since JAX uses all cores, or give NumPy arrays."
        )
    if not isinstance(signs, Signs | None):
        found = type(signs).__name__
        raise TypeError(f"`averages` takes `nulls.Signs`, which `nulls.pack_signs(e)` makes, or None, not a {found}.")
    n = int(reference.shape[0])
    xp = array_namespace(reference)
    pairs: list[Any] = [function for function in functions if not isinstance(function, Features | Extreme)]
    features = [function for function in functions if isinstance(function, Features)]
    n_threads = cpu_count() if is_numpy_array(reference) and options.workers is None else 1
    pairing = pairing_of(options.estimator, n, options.shared)
    limits = (reference, signs, n_threads, bytes_for(options.memory, reference))
    stacking = None if tile else stacking_of(pairs, pairing, *limits)
    rows_at_once = tile or feature_rows(features, *limits)
    tile = tile or tile_edge(pairs, pairing, *limits)
    if tile % 8:
        raise ValueError(f"`tile` must be a multiple of 8, where the signs of a row start on a byte, but is {tile}.")
    if signs is not None:
        signs.check_rows(pairing.n_clusters)
    by_rows = statistics_of_features(features, reference, signs, options, rows_at_once, n_threads) if features else []
    of_features = iter(by_rows)
    job = _job_of_pairs(pairs, pairing, reference, signs, options, tile, stacking)
    of_pairs = iter(_sums_in_memory(job, options, n_threads) if pairs else [])
    total = accumulation_dtype(reference)
    precision = float(xp.finfo(dtype_of_signs(reference, options.precision, reference.dtype)).eps)
    found = []
    for function in functions:
        if isinstance(function, Features):
            found.append(next(of_features))
        elif isinstance(function, Extreme):
            found.append((*_extreme(function, blocks_of(n, rows_at_once), signs, n_threads), precision))
        else:
            sums = next(of_pairs)
            by_block = xp.concat([like(sums.by_block[k], reference, total) for k in sorted(sums.by_block)])
            contributions, drawn = by_block / (2 * pairing.n_pairs), sums.drawn / (2 * pairing.n_pairs)
            drawn = drawn if signs is None else like(drawn, reference, total)
            found.append((xp.sum(contributions), drawn, contributions, None, precision))
    statistic, null, shares, laws, precisions = zip(*found, strict=True)
    drawn = None if signs is None else xp.stack(null)
    return UStatistics(xp.stack(statistic), drawn, xp.stack(shares), laws, () if signs is None else precisions)


def _job_of_pairs(
    functions: Sequence[PairFunction],
    pairing: Pairing,
    reference: Array,
    signs: Signs | None,
    options: ComputeOptions,
    tile: int,
    stacking: Stacking | None,
) -> PairSumJob:
    xp, place, n = array_namespace(reference), {"device": device_of(reference)}, pairing.n
    labels, times = (None if each is None else xp.asarray(each, **place) for each in (pairing.labels, pairing.times))
    job = PairSumJob(tuple(functions), pairing, n, tile, None, labels, times, stacking=stacking)
    if signs is None or not functions:
        return job
    of_rows = signs if pairing.labels is None else signs.of_rows(pairing.labels)
    if options.precision == "mixed" and reference.dtype == xp.float32 and is_on_gpu(reference):
        halves = [half for half in (scaled_float16(function, n) for function in functions) if half is not None]
        if len(halves) == len(functions):
            return replace(job, signs=of_rows.on(reference, xp.float16), halves=tuple(halves))
    dtype = dtype_of_signs(reference, options.precision, reference.dtype)
    return replace(job, signs=of_rows.on(reference, dtype))


def _extreme(
    function: Extreme, blocks: list[slice], signs: Signs | None, n_threads: int
) -> tuple[Array, Array | None, Array, Any]:
    """Statistic, equal draws, and contributions: all of it is due to the row with the largest number."""
    with closing(in_threads(function.function, blocks, n_threads)) as found:
        sizes = list(found)
    xp = array_namespace(sizes[0])
    every = xp.concat(sizes)
    statistic = function.statistic(xp.max(every))
    first = xp.arange(every.shape[0], device=device_of(every)) == xp.argmax(every)
    shares = xp.where(first, statistic, xp.zeros_like(every))
    null = None if signs is None else statistic * xp.ones(signs.n_resamples, dtype=every.dtype, device=device_of(every))
    return statistic, null, shares, function.law


def _sums_in_memory(job: PairSumJob, options: ComputeOptions, n_threads: int) -> list[PairSums]:
    """Sums over all pairs, with smaller tiles if a device runs out of memory."""
    while True:
        try:
            return _sums_of_pairs(job, options, n_threads)
        except Exception as error:
            if not is_out_of_memory(error):
                raise
            if job.stacking is not None:
                job = replace(job, stacking=None)
                continue
            if job.tile <= _SMALLEST_GPU_TILE:
                raise MemoryError(
                    f"The device has no memory left for tiles of {job.tile} x {job.tile} pairs. Free some of it, use "
                    "fewer rows, or move the arrays to the CPU."
                ) from None
        job = replace(job, tile=max(_SMALLEST_GPU_TILE, job.tile // 16 * 8))


def _sums_of_pairs(job: PairSumJob, options: ComputeOptions, n_threads: int) -> list[PairSums]:
    """Sums of each H over all tiles, added in a fixed order, so that they do not depend on which worker was faster."""
    if options.workers is None:
        if len(job.strips) == 1:
            return sums_of_strip(job, job.strips[0])
        groups = [[strip] for strip in job.strips]
        parts = in_threads(partial(sums_of_strip, job), job.strips, n_threads)
    else:
        groups = groups_of_strips(job, _N_TASKS)
        parts = in_order(map_tasks(_numbered, list(enumerate(groups)), options.workers, job), len(groups))
    sizes = [sum(strip.last - strip.first for strip in group) for group in groups]
    with closing(parts), progress(sum(sizes), "tile", delay=2.0) as advance:
        return add_up(_counted(parts, sizes, advance))


def _counted(parts: Iterator[_Part], sizes: Sequence[int], advance: Callable[[int], object]) -> Iterator[_Part]:
    for size, part in zip(sizes, parts, strict=True):
        yield part
        advance(size)


def _numbered(job: PairSumJob, task: tuple[int, Sequence[Strip]]) -> tuple[int, list[PairSums]]:
    number, strips = task
    return number, [_on_host(sums) for sums in sums_of_strips(job, strips)]


def _on_host(sums: PairSums) -> PairSums:
    """Copy the sums from a GPU, which the receiving process may not have."""
    by_block = {k: to_numpy(part) for k, part in sums.by_block.items()}
    return PairSums(by_block, sums.drawn if isinstance(sums.drawn, float) else to_numpy(sums.drawn))
