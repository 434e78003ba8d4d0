"""H in half precision, for products with signs on a GPU."""

from collections.abc import Callable
from dataclasses import dataclass

from ..._lib.arrays import Array, array_namespace, as_float, device_of
from ...pairwise import PairFunction, Rows, Stack, rows_of, takes_stacks
from .fused import fused_stein

_AT_ONCE, _EDGE, _ROWS_OF_STACK = 1024, 8, 2**18
_MOST_UNEQUAL = 64.0  # largest over median unit: beyond, products of most rows would be too small for float16


@dataclass(frozen=True, eq=False)
class ScaledFloat16:
    """H in float16, each row in a unit of its own; `fused(units, rows, cols)` computes a tile in one GPU kernel."""

    units: Array  # (n,)
    fused: Callable[[Array, slice, slice], tuple[Array, Array, Array]] | None = None

    def block(self, block: Array, rows: Rows) -> Array:
        """Return the block in float16, in the units of its rows."""
        xp = array_namespace(block)
        return xp.astype(block / rows_of(self.units, rows)[..., None], xp.float16)


def columns_in_eights(matrix: Array) -> Array:
    """Pad the matrix with columns of zeros to a multiple of 8, which fast products in float16 need."""
    xp = array_namespace(matrix)
    more = xp.zeros((matrix.shape[0], -matrix.shape[1] % 8), dtype=matrix.dtype, device=device_of(matrix))
    return xp.concat([matrix, more], axis=1)


def scaled_float16(function: PairFunction, n: int) -> ScaledFloat16 | None:
    """Return H in float16, or None where rows differ too much in size.

    |H_ij| <= sqrt(H_ii H_jj) for a kernel, so H fits when divided by sqrt(H_ii) times the largest of these roots.
    """
    parts, start = [], 0
    while start < n:
        rows: Rows = slice(start, min(start + _AT_ONCE, n))
        if takes_stacks(function) and n - start >= 2 * _EDGE:  # few calls, and few pairs off the diagonal
            rows = Stack(start, start + min((n - start) // _EDGE * _EDGE, _ROWS_OF_STACK), _EDGE)
        start, block = rows.stop, function(rows, rows)
        parts.append(array_namespace(block).linalg.diagonal(block) + 0.0)  # a copy: a view would keep the block
    xp = array_namespace(parts[0])
    roots = xp.sqrt(xp.maximum(xp.concat([xp.reshape(part, (-1,)) for part in parts]), 0.0))
    largest, median = xp.max(roots), xp.sort(roots)[n // 2]
    if not 0 < as_float(largest) <= _MOST_UNEQUAL * as_float(median):
        return None
    return ScaledFloat16(xp.maximum(roots, median / _MOST_UNEQUAL) * largest, fused_stein(function))
