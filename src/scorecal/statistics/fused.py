"""A tile of H in one kernel on a GPU: two products, an exponential, sums over rows and columns, and half precision.

The plain path, `GaussianStein.__call__` and what the engine does with its block, is the reference: the same numbers,
with float32 blocks written and read again for every step.
"""

from __future__ import annotations

from functools import cache
from importlib.util import find_spec

from .._arrays import Array

__all__ = ["can_fuse", "fused_tile", "padded"]

_EDGE = 128  # of the part of a tile that one program computes
_STEPS = (16, 32, 64)  # columns of a factor that are multiplied at a time


@cache
def can_fuse() -> bool:
    """Whether Triton is there and can make kernels for this GPU: tried once, on a small tile."""
    if find_spec("triton") is None:
        return False
    import torch

    try:
        factor = torch.ones((16, 16), device="cuda")
        block, *_ = fused_tile((0.0 * factor, factor), (factor, factor), (factor[0], factor[0]))
        return bool((block == 16.0).all())
    except Exception:  # whatever stands in the way, the plain path does without
        return False


def padded(factor: Array) -> Array:
    """With columns of zeros up to a whole number of steps."""
    import torch

    width = factor.shape[1]
    step = _step(width)
    return torch.nn.functional.pad(factor, (0, -width % step)).contiguous()


def _step(width: int) -> int:
    return next((step for step in _STEPS if width <= step), _STEPS[-1])


def fused_tile(
    exponent: tuple[Array, Array], bilinear: tuple[Array, Array], scales: tuple[Array, Array]
) -> tuple[Array, Array, Array]:
    """Rows and columns of padded factors, and of scales, to H over the scales in float16, and sums of H over both."""
    import torch

    from .fused_kernel import tile_kernel

    n_rows, n_cols = exponent[0].shape[0], exponent[1].shape[0]
    block = torch.empty((n_rows, n_cols), dtype=torch.float16, device=exponent[0].device)
    row_sums, col_sums = (torch.zeros(k, dtype=torch.float32, device=block.device) for k in (n_rows, n_cols))
    widths = {"WIDE": exponent[0].shape[1], "NARROW": bilinear[0].shape[1]}
    steps = {"WIDE_STEP": _step(widths["WIDE"]), "NARROW_STEP": _step(widths["NARROW"])}
    grid = (-(-n_rows // _EDGE), -(-n_cols // _EDGE))
    outputs = (block, row_sums, col_sums, n_rows, n_cols)
    tile_kernel[grid](*exponent, *bilinear, *scales, *outputs, **widths, **steps, EDGE=_EDGE, num_warps=8)
    return block, row_sums, col_sums
