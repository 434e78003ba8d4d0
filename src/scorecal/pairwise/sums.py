"""Sums over blocks of H: over rows, over columns, and with signs."""

from collections.abc import Iterable
from dataclasses import dataclass

from .._lib.arrays import Array, accumulation_dtype, array_namespace, device_of, full_product


@dataclass(frozen=True, eq=False)
class PairSums:
    """Sums of one H over some tiles, all pairs twice: by block of rows, and e' H e for every column of signs, (B,)."""

    by_block: dict[int, Array]
    drawn: Array


def add_up(parts: Iterable[list[PairSums]]) -> list[PairSums]:
    """Add the sums of each H over all parts, in their order; a part touches its own blocks only."""
    by_block: list[dict[int, Array]] = []
    drawn: list[Array] = []
    for part in parts:
        by_block = by_block or [{} for _ in part]
        drawn = drawn or [0.0] * len(part)
        for v, more in enumerate(part):
            for k, sums in more.by_block.items():
                by_block[v][k] = by_block[v].get(k, 0.0) + sums
            drawn[v] = drawn[v] + more.drawn
    return [PairSums(*sums) for sums in zip(by_block, drawn, strict=True)]


def sum_block(block: Array, mask: Array | None, on_diagonal: bool) -> tuple[Array, Array, Array]:
    """Return the block with excluded pairs set to zero, and its sums over columns and over rows.

    A block on the diagonal holds every pair twice. It is halved and its diagonal set to zero, so that it counts like
    any other block together with its transpose. So it is for each block of a stack.
    """
    xp = array_namespace(block)
    if mask is not None:
        block = xp.where(xp.asarray(mask, device=device_of(block)), block, xp.zeros_like(block))
    if on_diagonal:
        diagonal = xp.eye(block.shape[-1], dtype=xp.bool, device=device_of(block))
        block = xp.where(diagonal, xp.zeros_like(block), 0.5 * block)
    return block, xp.sum(block, axis=-1), xp.sum(block, axis=-2)


def times_signs(matrix: Array, signs: Array) -> Array:
    """Return the product of a matrix with signs, in the dtype of the matrix.

    Signs in a shorter dtype set the precision of the product; each row of the matrix is then taken in units of its
    largest number, lest it overflow or vanish.
    """
    if signs.dtype == matrix.dtype:
        return full_product(matrix, signs)
    xp = array_namespace(matrix)
    largest = xp.max(xp.abs(matrix), axis=-1, keepdims=True)
    units = xp.where(largest > 0, largest, xp.ones_like(largest))
    return xp.astype(full_product(xp.astype(matrix / units, signs.dtype), signs), matrix.dtype) * units


def signed_sum(signs: Array, product: Array, units: Array | None) -> Array:
    """Return 2 sum_i e_i (H e)_i for each column e of signs: tiles hold each pair once. `units` rescale rows of H."""
    xp, dtype = array_namespace(signs), accumulation_dtype(signs)
    product = xp.astype(product[:, : signs.shape[1]], dtype, copy=False)
    if units is not None:
        product = product * xp.astype(units[:, None], dtype)
    return 2.0 * xp.sum(signs * product, axis=0)
