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

from typing import NamedTuple

from .._lib.arrays import Array, array_namespace, device_of, like
from ..pairwise import Features, Units
from .feature_sums import FeatureSums
from .laws import Law, law_of

_LARGEST_SKEW = 0.3
_LEAST_SKEW = 1e-4  # less is none: differences would cancel
_NUMBERS_AT_ONCE = 2**20  # features times draws that are combined: more need memory, and do not fit a cache
_ROUNDING = 64.0  # units of the last digit within which draws are taken for equal to the statistic


class Weights(NamedTuple):
    """Factors of features in the contributions of rows, (q,), and a constant.

    That of row i is f.`sums`, plus f F^2.`cubes`, less f F.`scales`, less the `constant`, with F the sum of f over the
    rows of its cluster.
    """

    sums: Array
    cubes: Array
    scales: Array
    constant: Array


class UStatistic(NamedTuple):
    """The statistic (0-d), its null draws (B,), the law of these, and the weights of features in contributions."""

    observed: Array
    null: Array | None
    law: Law | None
    weights: Weights


def u_statistic_of(
    features: Features,
    sums: FeatureSums,
    n: int,
    n_counted: int,
    precision: float,
    pairs: Array | float = 0.0,
    signed_pairs: Array | float = 0.0,
) -> UStatistic:
    """Return the statistic of features from their sums over n rows or, if these are in clusters, over the sums of each.

    |sum f|^2 - sum |f|^2 is the sum over pairs i != j; the correction adds `hall_correction` f^3 to f in the first sum.
    `n_counted` is the number of pairs, each counted twice, and `precision` the machine epsilon of draws. `pairs` are
    sums of f_i f_j over pairs that are left out beside those of one cluster, (q,), and `signed_pairs` with signs.
    """
    per_row = n_counted / n  # n - 1, if all pairs count
    xp = array_namespace(sums.plain)
    if features.units is not None:
        return _statistic_in_units(features, features.units, sums.plain, n)
    squares, scales = _scales(features, sums.squares, n)

    def statistic(plain: Array, cubes: Array, near: Array | float) -> Array:
        bent = plain + hall_correction(plain, cubes, squares[:, None]) * cubes if features.unskewed else plain
        return _combined(features, bent**2 - 2.0 * near, sums.squares[:, None], scales[:, None], n, per_row)

    bent = hall_correction(sums.plain, sums.cubes, squares) if features.unskewed else xp.zeros_like(sums.plain)
    corrected = sums.plain + bent * sums.cubes if features.unskewed else sums.plain
    counted = _counted(features, corrected**2 - 2.0 * pairs, scales) / per_row
    factors = corrected * scales * counted
    weights = Weights(factors, bent * factors, scales * counted, xp.zeros_like(sums.plain[0]))
    near = pairs if isinstance(pairs, float) else pairs[:, None]
    cubes = sums.cubes[:, None] if features.unskewed else sums.cubes
    observed = statistic(sums.plain[:, None], cubes, near)[0]
    if sums.signed is None:
        return UStatistic(observed, None, None, weights)
    law = law_of(sums.squares, n, per_row, features.largest)  # signs change no squares: it is that of all draws
    parts = [
        statistic(
            sums.signed[:, some],
            None if sums.signed_cubes is None else sums.signed_cubes[:, some],
            signed_pairs if isinstance(signed_pairs, float) else signed_pairs[..., some],
        )
        for some in _few_draws(sums.signed)
    ]
    null = parts[0] if len(parts) == 1 else xp.concat(parts)
    # Sums of the same numbers in another order differ by rounding, in proportion to what cancels in the statistic.
    unit = xp.ones_like(observed) if features.largest else xp.sum(sums.squares) / n
    rounding = _ROUNDING * precision * unit / per_row
    return UStatistic(observed, xp.where(xp.abs(null - observed) <= rounding, observed, null), law, weights)


def _few_draws(signed: Array) -> list[slice]:
    """Return slices of the draws of (q, B) numbers that are combined at a time."""
    n_features, n_draws = signed.shape
    step = max(1, _NUMBERS_AT_ONCE // n_features)
    return [slice(start, min(start + step, n_draws)) for start in range(0, n_draws, step)]


def _counted(features: Features, squared: Array, scales: Array) -> Array:
    """1 for the features that count, (q,): all, or the one with the largest of the squared sums in its units."""
    xp = array_namespace(scales)
    if not features.largest:
        return xp.ones_like(scales)
    best = xp.argmax(_where_any(squared * scales, scales))
    return xp.astype(xp.arange(scales.shape[0], device=device_of(scales)) == best, scales.dtype)


def _statistic_in_units(features: Features, units: Units, plain: Array, n: int) -> UStatistic:
    """Return the statistic of features of known units, without draws."""
    units = _where_not_zero(units, plain)
    xp, (_, scales) = array_namespace(plain), _scales(features, units.squares, n)
    normal = normalised(plain, units)
    counted = _counted(features, normal**2, scales) / (n - 1)
    factors = normal * scales * counted
    constant = xp.sum(units.squares * scales * counted) / n - xp.sum((normal - plain) / n * factors)
    none = xp.zeros_like(factors)
    observed = statistic_of_sums(features.largest, plain[:, None], units, n)[0]
    law = law_of(units.squares, n, n - 1, features.largest)
    return UStatistic(observed, None, law, Weights(factors, none, none, constant))


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
