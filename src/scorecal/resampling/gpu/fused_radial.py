"""A tile of H for radial kernels in one GPU kernel: four products, the profiles, sums, and half precision.

The reference is the plain path, `RadialStein.__call__` times `EmbeddingGram.__call__`. Its blocks are read and written
some thirty times.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

from ..._lib.arrays import Array
from ...kernels.gram import EmbeddingGram
from ...kernels.radial import IMQ
from ...pairwise import DistancesByBlock, PairFunction, Product, ProductOfPairs
from ...statistics.stein import RadialStein
from .split import SplitFloat16, split

_EDGE = 64  # rows and columns of a tile that one program computes: four products, more of them would not fit registers
_OUTER_IMQ = IMQ(beta=-1.0)
_FEW, _TOLERANCE = 16, 2.0**-8


@dataclass(frozen=True, eq=False)
class RadialParts:
    """Products of predictions, distance, scores and gradient, the scale, and the two kernels as (beta, c^2).

    Gaussian kernels are (0, 1).
    """

    products: tuple[SplitFloat16, ...]
    scale: Array  # (1,)
    outer: tuple[float, float]
    kernel: tuple[float, float]


def radial_products(
    function: PairFunction,
) -> tuple[RadialStein, EmbeddingGram, tuple[Product | DistancesByBlock, ...]] | None:
    """Return the two factors of H and the products that they are made of; None for other functions."""
    if not isinstance(function, ProductOfPairs) or len(function.functions) != 2:
        return None
    stein, gram = function.functions
    if not (isinstance(stein, RadialStein) and isinstance(gram, EmbeddingGram)) or gram.outer == "linear":
        return None
    found = (gram.product, stein.distance, Product(stein.scores, stein.scores), stein.gradient)
    products = tuple(each for each in found if isinstance(each, Product | DistancesByBlock))
    return (stein, gram, products) if len(products) == len(found) else None  # others are of rows far apart


def radial_parts(
    stein: RadialStein, gram: EmbeddingGram, products: tuple[Product | DistancesByBlock, ...]
) -> RadialParts:
    """Return the products in float16 and the numbers that the GPU kernel needs."""
    outer = _OUTER_IMQ if gram.outer == "imq" else gram.outer
    return RadialParts(tuple(map(split, products)), stein.scale.reshape(1), _numbers(outer), _numbers(stein.kernel))


def _numbers(kernel: object) -> tuple[float, float]:
    return (float(kernel.beta), float(kernel.c) ** 2) if isinstance(kernel, IMQ) else (0.0, 1.0)


def fused_radial_tile(parts: RadialParts, row_units: Array, rows: slice, cols: slice) -> tuple[Array, Array, Array]:
    """Return a tile of H in float16, in the units of its rows, and the sums of H over columns and over rows.

    A tile on the diagonal is halved and its diagonal set to zero, as in `fused_tile`.
    """
    import torch

    from .fused_radial_kernel import radial_tile_kernel

    n_rows, n_cols = rows.stop - rows.start, cols.stop - cols.start
    block = torch.empty((n_rows, n_cols), dtype=torch.float16, device=row_units.device)
    row_sums, col_sums = (torch.zeros(k, dtype=torch.float32, device=block.device) for k in (n_rows, n_cols))
    factors = [part for each in parts.products for part in (each.left(rows), each.right(cols), each.unit)]
    sizes = [size for each in parts.products for size in (each.width, each.step)]
    radial_tile_kernel[-(-n_rows // _EDGE), -(-n_cols // _EDGE)](
        *(*factors, parts.scale, row_units[rows], block, row_sums, col_sums, n_rows, n_cols),
        *(rows == cols, *sizes, *parts.outer, *parts.kernel, _EDGE),
        num_warps=4,
    )
    return block, row_sums, col_sums


def fused_radial(function: PairFunction) -> Callable[[Array, slice, slice], tuple[Array, Array, Array]] | None:
    """Return a function that computes tiles of H in one GPU kernel, or None where H is not of this form."""
    found = radial_products(function)
    if found is None:
        return None
    parts = radial_parts(*found)
    return partial(fused_radial_tile, parts) if _is_plain_one(parts, function) else None


def _is_plain_one(parts: RadialParts, function: PairFunction) -> bool:
    """Return whether the GPU kernel can be compiled, and gives what the plain path does for a few rows."""
    rows = slice(0, min(_FEW, parts.products[0].left(slice(0, _FEW)).shape[0]))
    try:
        plain = 0.5 * function(rows, rows).fill_diagonal_(0.0)
        size = plain.abs().max()
        block, *_ = fused_radial_tile(parts, size.expand(rows.stop).contiguous(), rows, rows)
        return bool(((size * block - plain).abs() <= _TOLERANCE * size).all())
    except Exception:  # whatever the reason, the plain path works without Triton
        return False
