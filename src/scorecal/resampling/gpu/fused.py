"""A tile of H in one GPU kernel: two products, an exponential, sums over rows and columns, and half precision.

The reference is the plain path, `GaussianStein.__call__` and the engine's sums over its block: the same numbers, with
float32 blocks written and read again for every step.
"""

from collections.abc import Callable
from functools import cache, partial
from importlib.util import find_spec

from array_api_compat import is_torch_array

from ..._lib.arrays import Array
from ...pairwise import DistancesByBlock, PairFunction, Product, ProductOfPairs
from ...statistics.stein import GaussianStein, RadialStein
from .fused_radial import fused_radial
from .split import SplitFloat16, split

_EDGE = 128  # rows and columns of a tile that one program computes


def fused_stein(function: PairFunction) -> Callable[[Array, slice, slice], tuple[Array, Array, Array]] | None:
    """Return a function that computes tiles of H in one GPU kernel, or None: it needs torch, Triton and float32."""
    scores: Array = next(
        (part.scores for part in _parts(function) if isinstance(part, GaussianStein | RadialStein)), None
    )
    if not (is_torch_array(scores) and scores.is_cuda and scores.dtype.itemsize == 4 and can_fuse()):
        return None
    if not isinstance(function, GaussianStein):
        return fused_radial(function)
    exponent, bilinear = function.exponent, function.bilinear
    if not (isinstance(exponent, Product | DistancesByBlock) and isinstance(bilinear, Product)):
        return None
    return partial(fused_tile, split(exponent), split(bilinear))


def _parts(function: PairFunction) -> tuple[PairFunction, ...]:
    return function.functions if isinstance(function, ProductOfPairs) else (function,)


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
        *(exponent.left(rows), exponent.right(cols), exponent.unit),
        *(bilinear.left(rows), bilinear.right(cols), bilinear.unit),
        *(row_units[rows], block, row_sums, col_sums, n_rows, n_cols),
        DIAGONAL=rows == cols,
        WIDE=exponent.width,
        NARROW=bilinear.width,
        WIDE_STEP=exponent.step,
        NARROW_STEP=bilinear.step,
        EDGE=_EDGE,
        num_warps=4,
    )
    return block, row_sums, col_sums
