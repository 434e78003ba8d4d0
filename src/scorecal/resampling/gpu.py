"""What is different on a graphics processor: its memory, and the precision that is fast there."""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass

from array_api_compat import is_jax_array, is_torch_array

from .._arrays import Array, array_namespace, as_float, has_values

__all__ = ["Half", "free_memory", "half_of", "is_on_gpu", "is_out_of_memory"]

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
    """H in float16, over a_i a_j largest^2, for products with signs times a_j. Float16 holds a exactly."""

    scales: Array  # a, (n,)
    largest: Array

    def block(self, block: Array, rows: slice, cols: slice) -> Array:
        left, right = (self.scales[part] * self.largest for part in (rows, cols))
        xp = array_namespace(block)
        return xp.astype(block / left[:, None] / right, xp.float16)

    def signs(self, flips: Array, rows: slice) -> Array:
        return flips * array_namespace(flips).astype(self.scales[rows], flips.dtype)[:, None]

    def product(self, product: Array, rows: slice) -> Array:
        """What the product of block and signs stands for."""
        factors = array_namespace(product).astype(self.scales[rows] * self.largest**2, product.dtype)
        return factors[:, None] * product


def half_of(function: Callable[[slice, slice], Array], n: int) -> Half | None:
    """H is a kernel, so that |H_ij| <= sqrt(H_ii H_jj): over these it fits. None where rows differ too much in size."""
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
    scales = xp.astype(xp.maximum(roots, median / _MOST_UNEQUAL) / largest, xp.float16)
    return Half(xp.astype(scales, roots.dtype), largest)
