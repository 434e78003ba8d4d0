"""Matrix products, to which pairwise computations are reduced, and sums of differences where digits would cancel."""

from collections.abc import Callable
from dataclasses import dataclass

from .._lib.arrays import Array, array_namespace, full_product
from .._lib.linalg import distance_factors, norms_cancel
from .algebra import SumOfPairs
from .protocol import PairFunction
from .stacks import Rows, Stack, rows_of

_MOST_HELD = 2**28  # numbers: some GB for both factors


@dataclass(frozen=True, eq=False)
class Product:
    """Blocks of left @ right'."""

    left: Array
    right: Array
    floats_per_pair: int = 1
    takes_stacks = True

    def __call__(self, rows: Rows, cols: Rows) -> Array:
        return full_product(rows_of(self.left, rows), rows_of(self.right, cols).mT)


@dataclass(frozen=True, eq=False)
class DistancesByBlock:
    """Blocks of -|x_i - x_j|^2 / 2 for `n` centred points, computed some rows at a time, (rows, width)."""

    points: Callable[[slice], Array]
    n: int
    width: int
    floats_per_pair: int = 1
    takes_stacks = True

    def left(self, rows: Rows) -> Array:
        return self._factor(rows, 1)

    def right(self, rows: Rows) -> Array:
        return self._factor(rows, -1)

    def _factor(self, rows: Rows, order: int) -> Array:
        points = self.points(slice(rows.start, rows.stop))
        xp = array_namespace(points)
        norms = -0.5 * xp.sum(points**2, axis=1, keepdims=True)
        factor = xp.concat([points, *[norms, xp.ones_like(norms)][::order]], axis=1)
        return factor if isinstance(rows, slice) else rows_of(factor, Stack(0, factor.shape[0], rows.edge))

    def __call__(self, rows: Rows, cols: Rows) -> Array:
        return full_product(self.left(rows), self.right(cols).mT)


def is_long(n: int, width: int) -> bool:
    """Return whether factors of so many points would take more memory than making them anew for each block is worth."""
    return n * width > _MOST_HELD


@dataclass(frozen=True, eq=False)
class Differences:
    """Blocks of the sum over k of (a_ik - a_jk) (b_ik - b_jk), exact even where rows are huge and differ little."""

    a: Array
    b: Array
    floats_per_pair: int = 4
    takes_stacks = True

    def __call__(self, rows: Rows, cols: Rows) -> Array:
        total: Array = 0.0
        ours, theirs = ([rows_of(part, some) for part in (self.a, self.b)] for some in (rows, cols))
        for k in range(self.a.shape[1]):  # a column at a time: all at once would need p times the memory of a block
            gaps = (one[..., :, None, k] - other[..., None, :, k] for one, other in zip(ours, theirs, strict=True))
            total = total + next(gaps) * next(gaps)
        return total


def half_distances(features: Array) -> Product | Differences:
    """Return -|x_i - x_j|^2 / 2 for rows (n, p); rounding may make a block of it slightly positive."""
    if norms_cancel(features):
        return Differences(features, -0.5 * features)
    return Product(*distance_factors(features))


def sum_of_differences(a: Array, b: Array, constant: Array, far: bool) -> PairFunction:
    """Return (a_i - a_j).(b_i - b_j) + constant, from differences if rows are `far` from each other."""
    xp = array_namespace(a)
    ones = xp.ones_like(a[:, :1])
    if far:
        return SumOfPairs((Differences(a, b), Product(constant * ones, ones)))
    own = xp.sum(a * b, axis=1, keepdims=True) + 0.5 * constant
    return Product(xp.concat([-a, -b, own, ones], axis=1), xp.concat([b, a, ones, own], axis=1))
