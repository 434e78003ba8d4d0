"""U-statistics of finite rank, H(i, j) = f_i.f_j, from sums over rows in place of pairs."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from .._arrays import Array, accumulation_dtype, array_namespace

__all__ = ["FeatureSums", "Features", "feature_sums"]


@dataclass(frozen=True, eq=False)
class Features:
    """f as a function of a block of rows, (rows, q).

    With `largest`, the statistic is the largest of the q features' own, each in units of its mean square. No sign
    changes a mean square, so the null draws are as they would be with units known beforehand.
    """

    function: Callable[[slice], Array]
    largest: bool = False


@dataclass(frozen=True, eq=False)
class FeatureSums:
    """Sums over rows: of f and f^2, (q,), and of e f for every column of signs e, (q, B)."""

    plain: Array
    squares: Array
    signed: Array | None

    def __add__(self, other: FeatureSums) -> FeatureSums:
        signed = None if self.signed is None else self.signed + other.signed
        return FeatureSums(self.plain + other.plain, self.squares + other.squares, signed)


def feature_sums(features: Features, rows: slice, flips: Array | None) -> FeatureSums:
    """Of one block of rows, with their signs (rows, B)."""
    block = features.function(rows)
    xp, dtype = array_namespace(block), accumulation_dtype(block)
    signed = None if flips is None else xp.astype(xp.astype(block, flips.dtype, copy=False).mT @ flips, dtype)
    block = xp.astype(block, dtype, copy=False)
    return FeatureSums(xp.sum(block, axis=0), xp.sum(block**2, axis=0), signed)


def u_statistic_of(features: Features, sums: FeatureSums, blocks: list[slice]) -> tuple[Array, Array | None, Array]:
    """The statistic (0-d), its null draws (B,) and the share of each row (n,).

    |sum f|^2 - sum |f|^2 is the sum over pairs i != j.
    """
    n = blocks[-1].stop
    xp = array_namespace(sums.plain)
    units = xp.ones_like(sums.squares) / n
    total, diagonal = xp.sum, xp.sum(sums.squares * units)
    if features.largest:
        zero = sums.squares == 0  # such a feature is never the largest
        units = xp.where(zero, 0.0 * units, 1.0 / xp.where(zero, xp.ones_like(units), sums.squares))
        total, diagonal = xp.max, 1.0

    def statistic(values: Array) -> Array:
        return (total(values**2 * units[:, None], axis=0) - diagonal) / (n - 1)

    plain, chosen = sums.plain, slice(None)
    if features.largest:
        best = int(xp.argmax(plain**2 * units))
        chosen = slice(best, best + 1)
    weights = (plain * units)[chosen]
    shares = []
    for rows in blocks:
        block = xp.astype(features.function(rows)[:, chosen], plain.dtype, copy=False)
        shares.append((block @ weights - block**2 @ units[chosen]) / (n - 1))
    null = None if sums.signed is None else statistic(sums.signed)
    return statistic(plain[:, None])[0], null, xp.concat(shares)
