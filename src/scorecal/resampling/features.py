r"""U-statistics of finite rank, H(i, j) = f_i.f_j, from sums over rows in place of pairs.

Signs give a symmetric null distribution of the sum of f, which at small n is skewed where f is. Hall's transformation
(J. R. Stat. Soc. B 54, 1992) of t, the sum in units of its root mean square, removes the skewness to first order:

    t + k (2 t^2 + 1) / 6 + k^2 t^3 / 27,

with k the sum of f^3 in the same units cubed. It increases in t, but is flat near t = -3 / k; so k is held between -.3
and .3, lest one distant target hide the evidence of the others. Data and draws are transformed alike, each by its own
skewness, so that the test stays exact for symmetric features.

Where targets are drawn from the predictions, the expected sums of f^2 and f^3 are known (`Units`), and take the place
of those of the rows, so that a few huge f do not hide themselves: t is in units of its null standard deviation, and
Wilson and Hilferty's (Proc. Natl. Acad. Sci. 17, 1931) transformation of a gamma variable with that skewness, k,

    (6 / k) ((k t / 2 + 1)^(1/3) - 1) + k / 6,

makes it nearly normal, whatever the skewness.

Rows of a cluster share a sign, and their pairs do not count: it is as if their sum F were one row. The sum over pairs
of rows from different clusters is |sum F|^2 - sum |F|^2; squares, cubes and signed sums are those of F. Pairs from two
clusters that are left out as well are subtracted from it, and in null draws with the signs of both.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

from .._lib.arrays import Array, accumulation_dtype, array_namespace, full_product, like
from ..pairwise import Features, Units
from ..pairwise.sums import times_signs
from .contributions import LeftOut, Weights, contributions_of
from .laws import Law, law_of

_LARGEST_SKEW = 0.3
_LEAST_SKEW = 1e-4  # less is none: differences would cancel
_EVERY, _MOST_UNEQUAL = 8, 1e4
_NUMBERS_AT_ONCE = 2**20  # features times draws that are combined: more need memory, and do not fit a cache
_ROUNDING = 64.0  # units of the last digit within which draws are taken for equal to the statistic


@dataclass(frozen=True, eq=False)
class FeatureSums:
    """Sums over rows of f, f^2, f^3, (q,), and of e f, e f^3 for signs e, (q, B); cubes are 0 without `unskewed`.

    `unequal` says that some f are so much larger than most that signs in float32 lose what is left where they cancel.
    """

    plain: Array
    squares: Array
    cubes: Array
    signed: Array | None
    signed_cubes: Array | None
    unequal: bool = False

    def __add__(self, other: FeatureSums) -> FeatureSums:
        signed = None if self.signed is None else self.signed + other.signed
        signed_cubes = None if self.signed_cubes is None else self.signed_cubes + other.signed_cubes
        return FeatureSums(
            self.plain + other.plain,
            self.squares + other.squares,
            self.cubes + other.cubes,
            signed,
            signed_cubes,
            self.unequal or other.unequal,
        )


def feature_sums(features: Features, rows: slice, flips: Array | None) -> FeatureSums:
    """Sums over one block of rows, with their signs (rows, B)."""
    block = features.function(rows)
    xp, dtype = array_namespace(block), accumulation_dtype(block)

    block = xp.astype(block, dtype, copy=False)

    def signed(values: Array) -> Array | None:
        return None if flips is None else times_signs(values.mT, flips)

    unequal = flips is not None and flips.dtype != dtype and _are_unequal(block)
    plain, squares = xp.sum(block, axis=0), xp.sum(block**2, axis=0)
    if not features.unskewed:
        return FeatureSums(plain, squares, xp.zeros_like(plain), signed(block), None, unequal)
    cubes = block**3
    return FeatureSums(plain, squares, xp.sum(cubes, axis=0), signed(block), signed(cubes), unequal)


def _are_unequal(block: Array) -> bool:
    """Return whether the largest f of a column is far larger than the median of some rows."""
    xp, sizes = array_namespace(block), abs(block)
    some = xp.sort(sizes[::_EVERY, :], axis=0)
    return bool(xp.any(xp.max(sizes, axis=0) > _MOST_UNEQUAL * some[some.shape[0] // 2, :]))


def u_statistic_of(
    features: Features,
    sums: FeatureSums,
    blocks: list[slice],
    n_counted: int,
    precision: float,
    left_out: LeftOut | None = None,
) -> tuple[Array, Array | None, Array, Law | None]:
    """Return the statistic (0-d), its null draws (B,), the contribution of each row (n,), and the law of the draws.

    |sum f|^2 - sum |f|^2 is the sum over pairs i != j; the correction adds `hall_correction` f^3 to f in the first sum.
    `n_counted` is the number of pairs, each counted twice, and `precision` the machine epsilon of draws. If rows are in
    clusters, `sums` are those of sums over the rows of each cluster.
    """
    n = blocks[-1].stop
    per_row = n_counted / n  # n - 1, if all pairs count
    xp = array_namespace(sums.plain)
    if features.units is not None:
        return _statistic_in_units(features, features.units, sums.plain, blocks)
    squares, scales = _scales(features, sums.squares, n)

    def statistic(plain: Array, cubes: Array, near: Array | float) -> Array:
        bent = plain + hall_correction(plain, cubes, squares[:, None]) * cubes if features.unskewed else plain
        return _combined(features, bent**2 - 2.0 * near, sums.squares[:, None], scales[:, None], n, per_row)

    pairs, edges = (0.0, None) if left_out is None else (left_out.pairs, left_out.edges)
    bent = hall_correction(sums.plain, sums.cubes, squares) if features.unskewed else xp.zeros_like(sums.plain)
    corrected, chosen = sums.plain + bent * sums.cubes, slice(None)
    if features.largest:
        best = int(xp.argmax(_where_any((corrected**2 - 2.0 * pairs) * scales, scales)))
        chosen = slice(best, best + 1)
    weights = Weights(*(part[chosen] for part in (corrected * scales, bent, scales)))

    def values(rows: slice) -> Array:
        return xp.astype(features.function(rows)[:, chosen], squares.dtype, copy=False)

    own = None if left_out is None else partial(_columns_of, left_out.of_cluster, chosen)
    shares = contributions_of(values, blocks, weights, own, edges) / per_row
    near = pairs if isinstance(pairs, float) else pairs[:, None]
    observed = statistic(sums.plain[:, None], sums.cubes[:, None], near)[0]
    if sums.signed is None:
        return observed, None, shares, None
    law = law_of(sums.squares, n, per_row, features.largest)  # signs change no squares: it is that of all draws
    signed_pairs = 0.0 if left_out is None else left_out.signed_pairs
    parts = [
        statistic(
            sums.signed[:, some],
            sums.cubes if sums.signed_cubes is None else sums.signed_cubes[:, some],
            signed_pairs if isinstance(signed_pairs, float) else signed_pairs[..., some],
        )
        for some in _few_draws(sums.signed)
    ]
    null = parts[0] if len(parts) == 1 else xp.concat(parts)
    # Sums of the same numbers in another order differ by rounding, in proportion to what cancels in the statistic.
    unit = xp.ones_like(observed) if features.largest else xp.sum(sums.squares) / n
    rounding = _ROUNDING * precision * unit / per_row
    return observed, xp.where(xp.abs(null - observed) <= rounding, observed, null), shares, law


def _few_draws(signed: Array) -> list[slice]:
    """Return slices of the draws of (q, B) numbers that are combined at a time."""
    n_features, n_draws = signed.shape
    step = max(1, _NUMBERS_AT_ONCE // n_features)
    return [slice(start, min(start + step, n_draws)) for start in range(0, n_draws, step)]


def _columns_of(function: Callable[[slice], Array], chosen: slice, rows: slice) -> Array:
    return function(rows)[:, chosen]


def _statistic_in_units(
    features: Features, units: Units, plain: Array, blocks: list[slice]
) -> tuple[Array, None, Array, Law | None]:
    """Return the statistic, no draws, the contribution of each row, and the law, for features of known units."""
    n, xp = blocks[-1].stop, array_namespace(plain)
    units = _where_not_zero(units, plain)
    _, scales = _scales(features, units.squares, n)
    normal = normalised(plain, units)
    chosen = slice(None)
    if features.largest:
        best = int(xp.argmax(normal**2 * scales))
        chosen = slice(best, best + 1)
    weights, bent = (normal * scales)[chosen], (normal - plain)[chosen] / n
    less = xp.sum((units.squares * scales)[chosen]) / n
    shares = []
    for rows in blocks:
        block = xp.astype(features.function(rows)[:, chosen], plain.dtype, copy=False)
        shares.append((full_product(block + bent, weights) - less) / (n - 1))
    observed = statistic_of_sums(features.largest, plain[:, None], units, n)[0]
    return observed, None, xp.concat(shares), law_of(units.squares, n, n - 1, features.largest)


def statistic_of_sums(largest: bool, plain: Array, units: Units, n: int) -> Array:
    """Return the statistics (draws,) of sums over n rows of f, (q, draws), in known units."""
    features = Features(lambda rows: rows, largest)
    units = _where_not_zero(units, plain)
    _, scales = _scales(features, units.squares, n)
    normal = normalised(plain, Units(*(part[:, None] for part in units)))
    return _combined(features, normal**2, units.squares[:, None], scales[:, None], n, n - 1)


def _combined(features: Features, of_pairs: Array, squares: Array, scales: Array, n: int, per_row: float) -> Array:
    """Return the statistic (draws,) of squared sums of features (q, draws), corrected for skewness."""
    xp, parts = array_namespace(of_pairs), of_pairs * scales
    if features.largest:  # among features that are not zero in all rows
        return (xp.max(_where_any(parts, scales), axis=0) - 1.0) / per_row
    return (xp.sum(parts, axis=0) - xp.sum(squares, axis=0) / n) / per_row


def _where_any(parts: Array, scales: Array) -> Array:
    """Parts of features that are not zero in all rows; the others are less than any, unless all are."""
    xp = array_namespace(parts)
    return xp.where((scales == 0) & xp.any(scales > 0), -xp.inf, parts)


def _scales(features: Features, squares: Array, n: int) -> tuple[Array, Array]:
    """Return the sums of squares, positive ones, and the factor of each squared sum: zero for features that vanish."""
    xp = array_namespace(squares)
    zero = squares <= (_least(squares) if features.unskewed else 0.0)
    positive = xp.where(zero, xp.ones_like(squares), squares)
    return positive, xp.where(
        zero, xp.zeros_like(squares), 1.0 / positive if features.largest else xp.ones_like(squares) / n
    )


def _least(squares: Array) -> float:
    """Sum of squares below which cubes underflow: targets are too far away for the test functions."""
    return float(float(array_namespace(squares).finfo(squares.dtype).smallest_normal) ** 0.65)


def _where_not_zero(units: Units, reference: Array) -> Units:
    """Return the units in the backend of the reference, with zeros where sums of squares are next to nothing."""
    squares, cubes = (like(part, reference) for part in units)
    zero, none = squares <= _least(squares), array_namespace(squares).zeros_like(squares)
    return Units(*(array_namespace(squares).where(zero, none, part) for part in (squares, cubes)))


def normalised(plain: Array, units: Units) -> Array:
    """Return sums of f that are as good as normal, with mean 0 and the expected sum of squares for their variance."""
    xp = array_namespace(plain)
    root = xp.sqrt(xp.where(units.squares > 0, units.squares, xp.ones_like(units.squares)))
    t, k = plain / root, units.cubes / root**3
    even = xp.abs(k) < _LEAST_SKEW
    k = xp.where(even, xp.ones_like(k), k)
    gamma = 6.0 / k * (xp.maximum(0.5 * k * t + 1.0, xp.zeros_like(t)) ** (1.0 / 3.0) - 1.0) + k / 6.0
    return xp.where(even, t, gamma) * root


def hall_correction(plain: Array, cubes: Array, squares: Array) -> Array:
    """Return the factor for which sum f + factor sum f^3 is Hall's transform of sum f, with the skewness clipped.

    `plain`, `cubes` and `squares` are the sums over rows of f, f^3 and f^2, with signs in the first two for null draws.
    """
    xp = array_namespace(plain)
    root = xp.sqrt(squares)
    t, k = plain / root, cubes / squares / root
    held = xp.clip(k, -_LARGEST_SKEW, _LARGEST_SKEW)
    share = xp.where(k == 0, xp.ones_like(k), held / xp.where(k == 0, xp.ones_like(k), k))
    return share * ((2.0 * t**2 + 1.0) / 6.0 + held * t**3 / 27.0) / squares
