"""Estimates of errors with confidence intervals that hold whatever the distribution of the residuals."""

import math
from itertools import combinations
from typing import NamedTuple

import numpy as np

from .residuals import Residuals


class Estimate(NamedTuple):
    """A number and the ends of its confidence interval; NaN where it cannot be estimated."""

    value: float
    low: float
    high: float

    def holds(self, number: float) -> bool:
        """Whether the interval contains the number; an estimate that is NaN excludes nothing."""
        return not math.isfinite(self.value) or self.low <= number <= self.high

    def __str__(self) -> str:
        if not math.isfinite(self.value):
            return "cannot be estimated"
        return f"{self.value:.2f} ({self.low:.2f} to {self.high:.2f})"


class Correlation(NamedTuple):
    """Correlation of the errors in two dimensions: the claimed one, on average, and the true one."""

    dimensions: tuple[int, int]
    claimed: float
    found: Estimate


class Direction(NamedTuple):
    """A combination of whitened dimensions, of length 1, and the confidence ratio along it."""

    weights: np.ndarray
    ratio: Estimate


_UNTOLD = Estimate(math.nan, math.nan, math.nan)


def bias(values: np.ndarray, level: float) -> Estimate:
    """Mean of residuals, with its interval."""
    return _around(float(np.mean(values)), values, level)


def confidence_ratio(values: np.ndarray, expected: np.ndarray, level: float) -> Estimate:
    """Standard deviation of residuals over the expected one."""
    return ratio_of_squares(centred(values) ** 2, expected, level)


def ratio_of_squares(squares: np.ndarray, expected: np.ndarray, level: float) -> Estimate:
    """Root of the ratio of the means of squares of centred values and of those expected; interval on a log scale."""
    square, wanted = np.sum(squares) / (len(squares) - 1), np.mean(expected)
    # Curvatures of scores that turn back far out may cancel, and targets may all be at their means.
    if not (square > 0 and wanted > 2.0 * np.std(expected) / len(expected) ** 0.5):
        return _UNTOLD
    influence = 0.5 * (squares / square - expected / wanted)
    ends = _around(float(0.5 * np.log(square / wanted)), influence, level)
    return Estimate(*(float(np.exp(end)) for end in ends))


def centred(values: np.ndarray) -> np.ndarray:
    """Values less their mean over rows."""
    return np.asarray(values - np.mean(values, axis=0))


def correlations(values: np.ndarray, expected: np.ndarray, level: float) -> tuple[Correlation, ...]:
    """Correlations of every two dimensions, with intervals from the influence function of the coefficient."""
    d = values.shape[1]
    second = np.mean(expected, axis=0)
    unit = centred(values)
    sizes = np.sqrt(np.mean(unit**2, axis=0))
    unit = unit / np.where(sizes > 0, sizes, 1.0)
    found = []
    for k, m in combinations(range(d), 2):
        square = second[k, k] * second[m, m]
        claimed = float(second[k, m] / np.sqrt(square)) if square > 0 else math.nan
        coefficient = float(np.mean(unit[:, k] * unit[:, m]))
        influence = unit[:, k] * unit[:, m] - 0.5 * coefficient * (unit[:, k] ** 2 + unit[:, m] ** 2)
        # Fisher's scale, on which intervals do not leave (-1, 1).
        ends = _around(float(np.arctanh(coefficient)), influence / (1.0 - coefficient**2), level)
        found.append(Correlation((k, m), claimed, Estimate(*(float(np.tanh(end)) for end in ends))))
    return tuple(found)


def worst_direction(residuals: Residuals, level: float) -> Direction:
    """Direction along which the spread is most wrong, found in a random half of the rows and measured in the other."""
    order = np.random.default_rng(0).permutation(len(residuals.whitened))  # rows may alternate between groups
    seek, measure = np.array_split(order, 2)
    wanted = np.mean(residuals.expected[seek], axis=0)
    if np.linalg.eigvalsh(wanted)[0] <= 0:
        return Direction(np.full(len(wanted), math.nan), _UNTOLD)
    lower = np.linalg.cholesky(wanted)
    scaled = np.linalg.solve(lower, np.cov(residuals.whitened[seek].T).reshape(wanted.shape))
    values, vectors = np.linalg.eigh(np.linalg.solve(lower, scaled.T))
    worst = int(np.argmax(np.abs(np.log(np.maximum(values, 1e-300)))))
    weights = np.linalg.solve(lower.T, vectors[:, worst])
    weights = weights / np.linalg.norm(weights)
    weights = weights * np.sign(weights[np.argmax(np.abs(weights))])
    along = residuals.whitened[measure] @ weights
    expected = np.einsum("k,nkm,m->n", weights, residuals.expected[measure], weights)
    return Direction(weights, confidence_ratio(along, expected, level))


def _around(value: float, influence: np.ndarray, level: float) -> Estimate:
    from scipy.special import stdtrit

    half = float(stdtrit(len(influence) - 1, 0.5 + 0.5 * level) * np.std(influence, ddof=1) / len(influence) ** 0.5)
    return Estimate(value, value - half, value + half)
