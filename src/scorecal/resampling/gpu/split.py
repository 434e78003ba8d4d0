"""Products in float16 that are nearly as exact as in float32."""

from dataclasses import dataclass

from ..._lib.arrays import Array
from ...pairwise import Product

_LARGEST = 2.0**12  # of numbers in float16: far from overflow, and as far from where digits are lost


@dataclass(frozen=True, eq=False)
class SplitFloat16:
    """A product in float16 that is nearly as exact as in float32, in units of `unit`, shape (1,)."""

    left: Array
    right: Array
    unit: Array
    step: int  # columns that are multiplied at a time


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
