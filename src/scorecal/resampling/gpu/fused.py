"""A tile of H in one GPU kernel: two products, an exponential, sums over rows and columns, and half precision.

The reference is the plain path, `GaussianStein.__call__` and the engine's sums over its block: the same numbers, with
float32 blocks written and read again for every step.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, partial
from importlib.util import find_spec

from array_api_compat import is_torch_array

from ..._lib.arrays import Array
from ...pairwise import PairFunction, Product
from ...statistics.stein import GaussianStein

_EDGE = 128  # rows and columns of a tile that one program computes
_LARGEST = 2.0**12  # of numbers in float16: far from overflow, and as far from where digits are lost


@dataclass(frozen=True, eq=False)
class SplitFloat16:
    """A product in float16 that is nearly as exact as in float32, in units of `unit`, shape (1,)."""

    left: Array
    right: Array
    unit: Array
    step: int  # columns that are multiplied at a time


def fused_stein(function: PairFunction) -> Callable[[Array, slice, slice], tuple[Array, Array, Array]] | None:
    """Return a function that computes tiles of H in one GPU kernel, or None: it needs torch, Triton and float32."""
    if not isinstance(function, GaussianStein):
        return None
    exponent, bilinear = function.exponent, function.bilinear
    if not (isinstance(exponent, Product) and isinstance(bilinear, Product)):
        return None
    left = exponent.left
    if not (is_torch_array(left) and left.is_cuda and left.dtype.itemsize == 4 and can_fuse()):
        return None
    return partial(fused_tile, split(exponent), split(bilinear))


@cache
def can_fuse() -> bool:
    """Return whether Triton is installed and can compile kernels for this GPU, tried once on a small tile."""
    if find_spec("triton") is None:
        return False
    import torch

    try:
        factor = torch.ones((16, 16), device="cuda")
        ones, zeros = split(Product(factor, factor)), split(Product(0.0 * factor, factor))
        block, *_ = fused_tile(zeros, ones, factor[0], slice(0, 16), slice(0, 16))
        return bool((block == 8.0 - 8.0 * torch.eye(16, device="cuda")).all())
    except Exception:  # whatever the reason, the plain path works without Triton
        return False


def split(product: Product) -> SplitFloat16:
    """Split x = high + low, both in float16, with 22 of the 24 bits of float32; x.y is low.high + high.low + high.high.

    Plain tf32 would lose digits of the exponent, in which norms cancel. Columns of both sides are first scaled alike.
    """
    import torch

    sizes = [torch.clamp(part.abs().amax(0), min=1e-30) for part in (product.left, product.right)]
    balance = torch.exp2(torch.round(0.5 * torch.log2(sizes[1] / sizes[0])))  # powers of two change no digit
    largest = torch.maximum((sizes[0] * balance).max(), (sizes[1] / balance).max())
    scale = torch.exp2(torch.floor(torch.log2(_LARGEST / largest)))
    left, right = product.left * (balance * scale), product.right * (scale / balance)
    highs = [part.half() for part in (left, right)]
    lows = [(part - high).half() for part, high in zip((left, right), highs, strict=True)]
    width = 3 * left.shape[1]
    step = 16 if width <= 48 else 64
    # Tensor cores truncate each addend to the digits of the sum so far, so the largest products come last.
    factors = [[lows[0], highs[0], highs[0]], [highs[1], lows[1], highs[1]]]
    padded = [torch.nn.functional.pad(torch.cat(parts, 1), (-width % step, 0)).contiguous() for parts in factors]
    return SplitFloat16(padded[0], padded[1], (1.0 / scale**2).reshape(1), step)


def fused_tile(
    exponent: SplitFloat16, bilinear: SplitFloat16, row_units: Array, rows: slice, cols: slice
) -> tuple[Array, Array, Array]:
    """Return a tile of H in float16, in the units of its rows, and the sums of H over columns and over rows.

    A tile on the diagonal is halved and its diagonal set to zero, so that it counts like any other and its transpose.
    """
    import torch

    from .fused_kernel import tile_kernel

    n_rows, n_cols = rows.stop - rows.start, cols.stop - cols.start
    block = torch.empty((n_rows, n_cols), dtype=torch.float16, device=row_units.device)
    row_sums, col_sums = (torch.zeros(k, dtype=torch.float32, device=block.device) for k in (n_rows, n_cols))
    tile_kernel[-(-n_rows // _EDGE), -(-n_cols // _EDGE)](
        *(exponent.left[rows], exponent.right[cols], exponent.unit),
        *(bilinear.left[rows], bilinear.right[cols], bilinear.unit),
        *(row_units[rows], block, row_sums, col_sums, n_rows, n_cols),
        DIAGONAL=rows == cols,
        WIDE=exponent.left.shape[1],
        NARROW=bilinear.left.shape[1],
        WIDE_STEP=exponent.step,
        NARROW_STEP=bilinear.step,
        EDGE=_EDGE,
        num_warps=4,
    )
    return block, row_sums, col_sums
