"""Biases, ratios of spreads and correlations of residuals, with intervals whatever their distribution."""

from typing import Any, NamedTuple

import numpy as np

from .._lib.dimensions import pairs_of
from .._lib.linalg import diagonals
from .residuals import Residuals
from .sizes import Estimate, Sizes, Units, jackknife

_ALL = slice(None)
_ROWS_PER_DIMENSION = 2  # of the half in which a direction is found


class Correlation(NamedTuple):
    """Correlation of the errors in two dimensions: the claimed one, on average, and the true one."""

    dimensions: tuple[int, int]
    claimed: float
    found: Estimate


class Direction(NamedTuple):
    """A combination of whitened dimensions, of length 1, and the confidence ratio along it."""

    weights: np.ndarray
    ratio: Estimate


def biases(values: np.ndarray, units: Units, rows: Any = _ALL) -> Sizes:
    """Means of residuals (n, K) in some rows."""

    def features(part: slice) -> np.ndarray:
        found = values[rows, part]
        return np.stack([np.ones_like(found), found], axis=-1)

    return jackknife(features, mean_of, units, rows, np.zeros(values.shape[1]))


def mean_of(sums: np.ndarray) -> np.ndarray:
    """Return means, from numbers of rows and sums (..., 2)."""
    return np.asarray(sums[..., 1] / sums[..., 0])


def log_ratio_of(sums: np.ndarray) -> np.ndarray:
    """Return logarithms of ratios of spreads, from numbers of rows, and sums of squares, of what these should be, and
    of the p residuals themselves, (..., 3 + p).
    """
    number, squares, wanted = sums[..., 0], sums[..., 1], sums[..., 2]
    variance = np.maximum(squares - np.sum(sums[..., 3:] ** 2, axis=-1) / number, 0.0) / (number - 1.0)
    return np.asarray(0.5 * np.log(variance / (wanted / number)))


def coefficient_of(sums: np.ndarray) -> np.ndarray:
    """Return correlations on Fisher's scale, from numbers of rows and sums of a, b, a^2, b^2 and a b, (..., 6)."""
    number, a, b, aa, bb, ab = np.moveaxis(sums, -1, 0)
    found = (ab - a * b / number) / np.sqrt((aa - a**2 / number) * (bb - b**2 / number))
    return np.asarray(np.arctanh(np.clip(found, -1.0, 1.0)))


def ratios(values: np.ndarray, expected: np.ndarray, units: Units, rows: Any = _ALL) -> Sizes:
    """Logarithms of the ratios of spreads: of residuals (n, K, p) with expected squares (n, K), over p together."""
    centre = np.mean(values[rows], axis=0)

    def features(part: slice) -> np.ndarray:
        found = values[rows, part] - centre[part]
        squares, wanted = np.sum(found**2, axis=2), expected[rows, part]
        return np.concatenate([np.stack([np.ones_like(wanted), squares, wanted], axis=-1), found], axis=-1)

    found = jackknife(features, log_ratio_of, units, rows, np.zeros(values.shape[1]), np.exp)
    found.values[~_clear(expected[rows])] = np.nan
    return found


def _clear(expected: np.ndarray) -> np.ndarray:
    """Which expected squares (n, K) are clearly positive: curvatures of scores that turn back far out may cancel."""
    return np.asarray(np.mean(expected, axis=0) > 2.0 * np.std(expected, axis=0) / len(expected) ** 0.5)


def marginal_ratios(residuals: Residuals, units: Units, rows: Any = _ALL) -> Sizes:
    """Ratios of spreads of each dimension."""
    expected = diagonals(residuals.expected_marginal)
    return ratios(residuals.marginal[:, :, None], expected, units, rows)


def correlations(residuals: Residuals, units: Units, rows: Any = _ALL) -> Sizes:
    """Correlations of every two dimensions, or of some of many, on Fisher's scale; expected are those claimed."""
    first, second = pairs_of(residuals.marginal.shape[1])
    wanted = diagonals(residuals.expected_marginal)[rows]
    scale = np.sqrt(np.where(_clear(wanted), np.mean(wanted, axis=0), np.nan))
    claimed = residuals.expected_products(rows, first, second) / (scale[first] * scale[second])
    values = residuals.marginal[rows] - np.mean(residuals.marginal[rows], axis=0)

    def features(part: slice) -> np.ndarray:
        a, b = values[:, first[part]], values[:, second[part]]
        return np.stack([np.ones_like(a), a, b, a * a, b * b, a * b], axis=-1)

    with np.errstate(divide="ignore", invalid="ignore"):
        expected = np.arctanh(claimed)
    return jackknife(features, coefficient_of, units, rows, expected, np.tanh)


def as_correlations(sizes: Sizes, d: int, tail: float) -> tuple[Correlation, ...]:
    """Correlations of every two of d dimensions, or of some of many, with the claimed ones and their intervals."""
    claimed = np.tanh(sizes.expected).tolist()
    pairs = zip(*(part.tolist() for part in pairs_of(d)), strict=True)
    return tuple(map(Correlation, pairs, claimed, sizes.estimates(tail)))


def worst_direction(residuals: Residuals, units: Units) -> tuple[np.ndarray, Sizes]:
    """Direction along which the spread is most wrong, found in a random half of the rows, and the ratio in the other.

    The halves are independent of each other: rows of a cluster are in the same. With few rows for so many dimensions,
    some direction has no spread at all by chance, and none is named.
    """
    n = len(residuals.whitened)
    label = np.arange(n) if units.labels is None else np.unique(units.labels, return_inverse=True)[1]
    order = np.random.default_rng(0).permutation(int(label.max()) + 1)  # rows may alternate between groups
    measure, seek = (np.flatnonzero(np.isin(label, half)) for half in np.array_split(order, 2)[::-1])
    wanted = np.mean(residuals.expected[seek], axis=0)
    wanted = np.diag(wanted) if wanted.ndim == 1 else wanted
    few = len(seek) <= _ROWS_PER_DIMENSION * len(wanted)  # no matrix is needed of many dimensions
    covariance = wanted if few else np.cov(residuals.whitened[seek].T).reshape(wanted.shape)
    weights = direction_of(wanted, covariance, len(seek))
    along = residuals.whitened @ np.nan_to_num(weights)
    expected = residuals.expected_along(weights)
    return weights, ratios(along[:, None, None], expected[:, None], units, measure)


def direction_of(wanted: np.ndarray, covariance: np.ndarray, n: int) -> np.ndarray:
    """Return the direction (d,) in which a covariance of n rows is least as wanted; NaN if they are too few."""
    if n <= _ROWS_PER_DIMENSION * len(wanted) or np.linalg.eigvalsh(wanted)[0] <= 0:
        return np.full(len(wanted), np.nan)
    lower = np.linalg.cholesky(wanted)
    scaled = np.linalg.solve(lower, covariance)
    values, vectors = np.linalg.eigh(np.linalg.solve(lower, scaled.T))
    worst = int(np.argmax(np.abs(np.log(np.maximum(values, 1e-300)))))
    weights = np.linalg.solve(lower.T, vectors[:, worst])
    weights = weights / np.linalg.norm(weights)
    return np.asarray(weights * np.sign(weights[np.argmax(np.abs(weights))]))
