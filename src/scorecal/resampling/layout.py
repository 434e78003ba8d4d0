"""How rows and pairs are cut into blocks: edges of tiles, stacks of small tiles, and rows of features at a time."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from array_api_compat import is_numpy_array

from .._lib.arrays import Array, array_namespace
from ..pairwise import Features, PairFunction, takes_stacks
from .gpu.device import free_memory, is_on_gpu
from .pairing import Pairing
from .signs import Signs

# NumPy: a tile and its temporaries fit the cache, and products are long enough to be fast. Others: few, large calls.
_NUMPY_TILE, _OTHER_TILE, _GPU_TILE = 384, 1536, 16384
_NUMPY_ROWS, _OTHER_ROWS, _GPU_ROWS = 4096, 2**14, 2**16  # of a block of features
_NUMPY_STACK, _OTHER_STACK, _GPU_STACK = 1024, 8192, 2**16  # rows of the stacks of tiles that one call computes
_NUMPY_SIGNED, _OTHER_SIGNED, _GPU_SIGNED = 2**17, 2**18, 2**28  # numbers of their products with signs, in the cache
_MEMORY, _GPU_MEMORY = 256 * 2**20, 6 * 2**30
_FLOATS_PER_FEATURE = 3  # features of a block, their powers, and what they are computed from


class Stacking(NamedTuple):
    """Where small tiles are computed many at a time: stacks of `rows` rows, before row `end`.

    Each tile of `edge` rows is paired with those that are `gaps` tiles further on, all of them by the same mask.
    """

    edge: int
    rows: int
    gaps: range
    end: int


def bytes_for(memory: int | None, reference: Array) -> int:
    """Return the bytes that blocks may take in this process: those given, or a default."""
    if memory is not None:
        return memory
    return min(_GPU_MEMORY, free_memory(reference) // 4) if is_on_gpu(reference) else _MEMORY


def _of_backend(reference: Array, numpy: int, other: int, gpu: int) -> int:
    return gpu if is_on_gpu(reference) else numpy if is_numpy_array(reference) else other


def tile_edge(
    functions: Sequence[PairFunction],
    pairing: Pairing,
    reference: Array,
    signs: Signs | None,
    n_threads: int,
    memory: int,
) -> int:
    """Edge of the preferred tile, halved until all threads together stay within `memory`."""
    tile = pairing.preferred_tile(_of_backend(reference, _NUMPY_TILE, _OTHER_TILE, _GPU_TILE))
    per_pair, per_row = _bytes_of_pairs(functions, reference, signs)
    while tile > 8 and n_threads * tile * (tile * per_pair + per_row) > memory:
        tile = max(8, tile // 16 * 8)
    return tile


def stacking_of(
    functions: Sequence[PairFunction],
    pairing: Pairing,
    reference: Array,
    signs: Signs | None,
    n_threads: int,
    memory: int,
) -> Stacking | None:
    """Return the stacks in which the tiles of a narrow band or of small blocks are computed, if there are several."""
    edge = pairing.band_edge
    if edge is None or not functions or not all(map(takes_stacks, functions)):
        return None
    per_pair, per_row = _bytes_of_pairs(functions, reference, signs)
    n_resamples = 0 if signs is None else signs.n_resamples
    rows = min(
        _of_backend(reference, _NUMPY_STACK, _OTHER_STACK, _GPU_STACK),
        _of_backend(reference, _NUMPY_SIGNED, _OTHER_SIGNED, _GPU_SIGNED) // max(1, n_resamples),
        memory // (n_threads * (edge * per_pair + per_row)),
    )
    gaps = pairing.gaps(edge)
    end = (min(pairing.regular, pairing.n - gaps[-1] * edge)) // edge * edge
    rows = min(rows, end) // edge * edge
    return Stacking(edge, rows, gaps, end) if rows > edge else None


def _bytes_of_pairs(functions: Sequence[PairFunction], reference: Array, signs: Signs | None) -> tuple[int, int]:
    """Bytes that the working memory of a pair takes, and the signs of a row with products of them."""
    per_pair = max((function.floats_per_pair for function in functions), default=0)
    per_row = 0 if signs is None else (3 + 2 * len(functions)) * signs.n_resamples
    return per_pair * (array_namespace(reference).finfo(reference.dtype).bits // 8), per_row * 8


def feature_rows(
    features: Sequence[Features], reference: Array, signs: Signs | None, n_threads: int, memory: int
) -> int:
    """Rows of the blocks in which all features are computed, a multiple of 8: fewer where there are many features."""
    rows = _of_backend(reference, _NUMPY_ROWS, _OTHER_ROWS, _GPU_ROWS)
    width = sum(int(each.function(slice(0, 1)).shape[1]) for each in features)
    n_resamples = 0 if signs is None else signs.n_resamples
    per_row = 8 * (_FLOATS_PER_FEATURE * max(1, width) + 3 * n_resamples)
    return int(np.clip(memory // (n_threads * per_row), 8, rows)) // 8 * 8
