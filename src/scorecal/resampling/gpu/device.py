"""What is different on a graphics processor: its memory, and the precision that is fast there."""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass

from array_api_compat import is_jax_array, is_torch_array

from ..._lib.arrays import Array, array_namespace, as_float, device_of, has_values

__all__ = ["Half", "columns_in_eights", "free_memory", "half_of", "is_on_gpu", "is_out_of_memory"]

_AT_ONCE = 1024
_MOST_UNEQUAL = 64.0  # largest over median: beyond, the products of most rows would be too small for float16


def is_on_gpu(array: Array) -> bool:
    if is_torch_array(array):
        return bool(array.is_cuda)
    return is_jax_array(array) and has_values(array) and all(d.platform == "gpu" for d in array.devices())


def free_memory(array: Array) -> int:
    """Bytes that are free on the device of the array."""
    if is_torch_array(array):
        return int(sys.modules["torch"].cuda.mem_get_info(array.device)[0])
    stats = next(iter(array.devices())).memory_stats()
    return int(stats["bytes_limit"] - stats["bytes_in_use"])


def is_out_of_memory(error: BaseException) -> bool:
    """Torch has a class of its own for it; JAX tells in words."""
    torch = sys.modules.get("torch")
    return (torch is not None and isinstance(error, torch.cuda.OutOfMemoryError)) or "RESOURCE_EXHAUSTED" in str(error)


@dataclass(frozen=True, eq=False)
class Half:
    """H in float16, each row in a unit of its own."""

    units: Array  # (n,)

    def block(self, block: Array, rows: slice) -> Array:
        xp = array_namespace(block)
        return xp.astype(block / self.units[rows, None], xp.float16)


def columns_in_eights(matrix: Array) -> Array:
    """With columns of zeros up to a multiple of 8, without which products in float16 are not fast."""
    xp = array_namespace(matrix)
    more = xp.zeros((matrix.shape[0], -matrix.shape[1] % 8), dtype=matrix.dtype, device=device_of(matrix))
    return xp.concat([matrix, more], axis=1)


def half_of(function: Callable[[slice, slice], Array], n: int) -> Half | None:
    """H is a kernel, so that |H_ij| <= sqrt(H_ii H_jj): over sqrt(H_ii) times the largest of these, it fits.

    None where rows differ too much in size.
    """
    parts = []
    for start in range(0, n, _AT_ONCE):
        rows = slice(start, min(start + _AT_ONCE, n))
        block = function(rows, rows)
        parts.append(array_namespace(block).linalg.diagonal(block))
    xp = array_namespace(parts[0])
    roots = xp.sqrt(xp.maximum(xp.concat(parts), 0.0))
    largest, median = xp.max(roots), xp.sort(roots)[n // 2]
    if not 0 < as_float(largest) <= _MOST_UNEQUAL * as_float(median):
        return None
    return Half(xp.maximum(roots, median / _MOST_UNEQUAL) * largest)
