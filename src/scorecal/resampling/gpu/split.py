"""Products in float16 that are nearly as exact as in float32."""

from collections.abc import Callable
from dataclasses import dataclass

from ..._lib.arrays import Array
from ...pairwise import DistancesByBlock, Product

_LARGEST = 2.0**12  # of numbers in float16: far from overflow, and as far from where digits are lost
_AT_ONCE = 2**18  # rows


@dataclass(frozen=True, eq=False)
class SplitFloat16:
    """A product in float16 that is nearly as exact as in float32, in units of `unit`, shape (1,).

    Both factors are functions of a block of rows, (rows, width).
    """

    left: Callable[[slice], Array]
    right: Callable[[slice], Array]
    unit: Array
    width: int
    step: int  # columns that are multiplied at a time


def split(product: Product | DistancesByBlock) -> SplitFloat16:
    """Split x = high + low, both in float16, with 22 of the 24 bits of float32; x.y is low.high + high.low + high.high.

    Plain tf32 would lose digits of the exponent, in which norms cancel. Columns of both sides are first scaled alike.
    """
    import torch

    by_block = isinstance(product, DistancesByBlock)
    sides = (product.left, product.right) if by_block else (_Rows(product.left), _Rows(product.right))
    n = product.n if isinstance(product, DistancesByBlock) else product.left.shape[0]
    blocks = [slice(start, min(start + _AT_ONCE, n)) for start in range(0, n, _AT_ONCE)]
    largest_of = (torch.stack([side(rows).abs().amax(0) for rows in blocks]).amax(0) for side in sides)
    sizes = [torch.clamp(each, min=1e-30) for each in largest_of]
    balance = torch.exp2(torch.round(0.5 * torch.log2(sizes[1] / sizes[0])))  # powers of two change no digit
    largest = torch.maximum((sizes[0] * balance).max(), (sizes[1] / balance).max())
    scale = torch.exp2(torch.floor(torch.log2(_LARGEST / largest)))
    width = 3 * len(balance)
    step = 16 if width <= 48 else 64
    width += -width % step

    left = _Halves(sides[0], balance * scale, False, width)
    right = _Halves(sides[1], scale / balance, True, width)
    if not by_block:
        every = slice(0, n)
        return SplitFloat16(_Rows(left(every)), _Rows(right(every)), (1.0 / scale**2).reshape(1), width, step)
    return SplitFloat16(left, right, (1.0 / scale**2).reshape(1), width, step)


@dataclass(frozen=True, eq=False)
class _Rows:
    """Rows of an array; a class, so that other processes can have it."""

    array: Array

    def __call__(self, rows: slice) -> Array:
        return self.array[rows]


@dataclass(frozen=True, eq=False)
class _Halves:
    """High and low halves of a side of a product, (rows, width)."""

    side: Callable[[slice], Array]
    factor: Array
    second_low: bool
    width: int

    def __call__(self, rows: slice) -> Array:
        import torch

        scaled = self.side(rows) * self.factor
        high = scaled.half()
        low = (scaled - high).half()
        # Tensor cores truncate each addend to the digits of the sum so far, so the largest products come last.
        parts = torch.cat([high, low, high] if self.second_low else [low, high, high], 1)
        return torch.nn.functional.pad(parts, (self.width - parts.shape[1], 0)).contiguous()
