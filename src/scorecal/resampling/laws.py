"""Null distributions in closed form, nearly, of statistics of finite rank.

A statistic is a quadratic form in sums of features, and these are nearly normal: chi-square variables with weights, the
mean squares of the features. Only order matters in the end, for p-values of the same draws are ranked once more; but a
p-value from a formula has no error of counting, whatever the number of draws.
"""

import math
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from .._lib.arrays import Array, to_numpy


class Law(Protocol):
    """The distribution of a statistic for calibrated predictions."""

    def log_pvalues(self, values: np.ndarray) -> np.ndarray:
        """Return the logarithm of the probability of a statistic at least as large as each value."""
        ...


@dataclass(frozen=True)
class SumLaw:
    """A sum of weighted chi-square variables less its mean, as one of the same variance and skewness (Pearson, 1959).

    P-values of .01 are right to some percent, and those of .0001 to a factor of 2, however unequal the weights are.
    """

    scale: float
    freedom: float

    def log_pvalues(self, values: np.ndarray) -> np.ndarray:
        return log_tail(values * self.scale + self.freedom, self.freedom)


@dataclass(frozen=True)
class LargestLaw:
    """The largest of some independent chi-square variables of one degree of freedom, less 1."""

    per_row: float
    n_features: int

    def log_pvalues(self, values: np.ndarray) -> np.ndarray:
        return at_least_one(log_tail(values * self.per_row + 1.0, 1.0), self.n_features)


def law_of(squares: Array, n: int, per_row: float, largest: bool) -> Law | None:
    """Return the law of a statistic of features with these sums of squares, (q,), over n rows; None if all are zero."""
    weights = to_numpy(squares).astype(np.float64) / n
    weights = weights[weights > 0]
    if not len(weights):
        return None
    if largest:
        return LargestLaw(per_row, len(weights))
    shares = weights / np.max(weights)
    square, cube = float(np.sum(shares**2)), float(np.sum(shares**3))
    freedom = square**3 / cube**2
    return SumLaw(per_row * math.sqrt(freedom / square) / float(np.max(weights)), freedom)


def log_tail(values: np.ndarray, freedom: float) -> np.ndarray:
    """Logarithm of the probability that a chi-square variable is at least as large."""
    from scipy.special import gammaincc, log_ndtr

    if freedom == 1.0:  # the square of a normal variable; much faster
        return np.asarray(math.log(2.0) + log_ndtr(-np.sqrt(np.maximum(values, 0.0))))
    half, shape = 0.5 * np.clip(values, 0.0, np.finfo(np.float64).max), 0.5 * freedom
    tail = gammaincc(shape, half)
    far = np.maximum(half, shape + 1.0)
    # The probability itself underflows: the start of Legendre's continued fraction, right to 1e-6 of the logarithm.
    beyond = shape * np.log(far) - far - math.lgamma(shape) - np.log(far + 1.0 - shape)
    return np.asarray(np.where(tail > 1e-280, np.log(np.maximum(tail, 1e-300)), beyond))


def at_least_one(log_pvalues: np.ndarray, n: int) -> np.ndarray:
    """Logarithm of the probability that at least one of n independent p-values is as small."""
    rare = log_pvalues < math.log(1e-12)
    common = -np.expm1(n * np.log1p(-np.exp(np.where(rare, -1.0, np.minimum(log_pvalues, -1e-15)))))
    return np.asarray(np.where(rare, np.minimum(log_pvalues + math.log(n), 0.0), np.log(common)))
