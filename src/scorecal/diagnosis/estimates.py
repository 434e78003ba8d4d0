"""Estimates of errors with confidence intervals that hold whatever the distribution of the residuals."""

import math
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any, NamedTuple

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


@dataclass(frozen=True, eq=False)
class Intervals:
    """Student's intervals of one level, from influence functions, for rows that are independent or in clusters.

    Influences of the rows of a cluster, by `labels` (n,), are added up; with G clusters there are G - 1 degrees of
    freedom. That holds whatever the correlation within clusters.
    """

    level: float
    labels: np.ndarray | None = None

    def within(self, rows: Any) -> "Intervals":
        """Return the intervals of estimates from some of the rows."""
        return self if self.labels is None else replace(self, labels=self.labels[rows])

    def around(self, value: float, influence: np.ndarray) -> Estimate:
        """Interval around a value that is changed by influence / n by each of n rows; infinite for one cluster."""
        from scipy.special import stdtrit

        sums = influence - np.mean(influence)
        if self.labels is not None:
            label = np.unique(self.labels, return_inverse=True)[1]
            sums = np.bincount(label, sums)
        n = len(sums)
        if n < 2:
            return Estimate(value, -math.inf, math.inf)
        error = float(np.sqrt(np.sum(sums**2) * n / (n - 1))) / len(influence)
        half = float(stdtrit(n - 1, 0.5 + 0.5 * self.level)) * error
        return Estimate(value, value - half, value + half)


def bias(values: np.ndarray, intervals: Intervals) -> Estimate:
    """Mean of residuals, with its interval."""
    return intervals.around(float(np.mean(values)), values)


def confidence_ratio(values: np.ndarray, expected: np.ndarray, intervals: Intervals) -> Estimate:
    """Standard deviation of residuals over the expected one."""
    return ratio_of_squares(centred(values) ** 2, expected, intervals)


def ratio_of_squares(squares: np.ndarray, expected: np.ndarray, intervals: Intervals) -> Estimate:
    """Root of the ratio of the means of squares of centred values and of those expected; interval on a log scale."""
    square, wanted = np.sum(squares) / (len(squares) - 1), np.mean(expected)
    # Curvatures of scores that turn back far out may cancel.
    if not wanted > 2.0 * np.std(expected) / len(expected) ** 0.5:
        return _UNTOLD
    if square == 0:  # all targets at their means, or as far from them
        return Estimate(0.0, 0.0, 0.0)
    influence = 0.5 * (squares / square - expected / wanted)
    ends = intervals.around(float(0.5 * np.log(square / wanted)), influence)
    return Estimate(*(float(np.exp(end)) for end in ends))


def centred(values: np.ndarray) -> np.ndarray:
    """Values less their mean over rows."""
    return np.asarray(values - np.mean(values, axis=0))


def correlations(values: np.ndarray, expected: np.ndarray, intervals: Intervals) -> tuple[Correlation, ...]:
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
        ends = intervals.around(float(np.arctanh(coefficient)), influence / (1.0 - coefficient**2))
        found.append(Correlation((k, m), claimed, Estimate(*(float(np.tanh(end)) for end in ends))))
    return tuple(found)


def worst_direction(residuals: Residuals, intervals: Intervals) -> Direction:
    """Direction along which the spread is most wrong, found in a random half of the rows and measured in the other.

    The halves are independent of each other: rows of a cluster are in the same.
    """
    n = len(residuals.whitened)
    label = np.arange(n) if intervals.labels is None else np.unique(intervals.labels, return_inverse=True)[1]
    order = np.random.default_rng(0).permutation(int(label.max()) + 1)  # rows may alternate between groups
    measure, seek = (np.flatnonzero(np.isin(label, half)) for half in np.array_split(order, 2)[::-1])
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
    return Direction(weights, confidence_ratio(along, expected, intervals.within(measure)))
