"""Predictions of whole numbers, such as counts, from discrete distributions of scipy, torch and numpyro."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ..._lib.arrays import to_numpy
from ..protocol import describe

_NUMBERS_AT_ONCE = 2**22
_MOST_VALUES = 10**7  # to sum the probabilities of


@dataclass(frozen=True, eq=False)
class IntegerPredictions:
    """n predictions of whole numbers in independent dimensions.

    `cumulative(y)` returns P(Y <= y) at whole numbers (n, d); `mean` and `variance` are (n, d).
    """

    kind: str
    mean: np.ndarray
    variance: np.ndarray
    cumulative: Callable[[np.ndarray], np.ndarray] = field(repr=False)
    shift: float = 0.0  # of the whole numbers

    @property
    def n(self) -> int:
        return len(self.mean)

    @property
    def dim(self) -> int:
        return int(self.mean.shape[1])

    def __repr__(self) -> str:
        return describe(self, self.kind)

    def cdf_bounds(self, y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """P(Y < y) and P(Y <= y), each (n, dim)."""
        wrong = np.argwhere((y - self.shift) % 1.0 != 0.0)
        if len(wrong):
            row, k = (int(index) for index in wrong[0])
            raise ValueError(
                f"`y` must hold whole numbers, as the predictions are of {self.kind}, but row {row} is {y[row, k]:g}. "
                "Likely causes: rates or means in place of counts, or numbers that were scaled."
            )
        return self.cumulative(y - 1.0), self.cumulative(y)

    def cautions(self, y: np.ndarray) -> tuple[str, ...]:
        """Say which targets (n, dim) are below the support, for a result."""
        excluded = np.flatnonzero(np.any(self.cumulative(y) <= 0.0, axis=1))
        if not len(excluded):
            return ()
        return (
            f"`y`: {len(excluded)} of {len(y)} targets are below all that the predictions allow, the first in row "
            f"{excluded[0]} ({np.min(y[excluded[0]]):g}). Likely cause: numbers that stand for missing values.",
        )

    def moments(self) -> tuple[np.ndarray, np.ndarray]:
        """Means (n, dim) and covariances (n, dim, dim)."""
        return self.mean, self.variance[:, :, None] * np.eye(self.dim)

    @property
    def spread_of(self) -> tuple[np.ndarray, np.ndarray]:
        """Means and variances (n, dim)."""
        return self.mean, self.variance


def from_scipy_discrete(distribution: Any, shape: tuple[int, ...]) -> IntegerPredictions:
    """Predictions from a frozen discrete distribution of scipy whose parameters broadcast to `shape`."""
    mean, variance = (np.broadcast_to(part, shape).astype(np.float64) for part in distribution.stats("mv"))
    low, middle, high = (np.broadcast_to(distribution.ppf(q), shape) for q in (0.25, 0.5, 0.75))
    known = np.isfinite(mean) & np.isfinite(variance)  # some have none: their quartiles tell where they are
    mean, variance = np.where(known, mean, middle), np.where(known, variance, (high - low) ** 2)
    columns = (shape[0], -1)

    def cumulative(y: np.ndarray) -> np.ndarray:
        return np.asarray(distribution.cdf(np.reshape(y, shape))).reshape(columns)

    low_end = np.asarray(distribution.support()[0], dtype=np.float64)
    shift = float(np.ravel(low_end)[0] % 1.0) if np.all(np.isfinite(low_end)) else 0.0
    return IntegerPredictions(
        distribution.dist.name, mean.reshape(columns), variance.reshape(columns), cumulative, shift
    )


def from_log_prob(distribution: Any, array: Callable[[np.ndarray], Any]) -> IntegerPredictions:
    """Predictions from a discrete distribution of torch or numpyro, by the sum of its probabilities.

    `array` turns whole numbers in memory into arrays of its library.
    """
    inner = distribution.base_dist if type(distribution).__name__ == "Independent" else distribution
    shape = tuple(inner.batch_shape)
    mean, variance = (
        np.broadcast_to(to_numpy(part), shape).astype(np.float64).reshape(shape[0], -1)
        for part in (inner.mean, inner.variance)
    )
    least, most = (_end(inner.support, side, none) for side, none in (("lower_bound", 0.0), ("upper_bound", np.inf)))
    start = int(np.min(least))

    def cumulative(y: np.ndarray) -> np.ndarray:
        n_values = int(np.max(y, initial=start - 1)) - start + 1
        if n_values > _MOST_VALUES:
            raise ValueError(f"`y` holds {np.max(y):.6g}: too large to sum so many probabilities. Give scipy's.")
        total, at_once = np.zeros(y.shape), max(1, _NUMBERS_AT_ONCE // y.size)
        for first in range(0, n_values, at_once):
            values = start + np.arange(first, min(first + at_once, n_values), dtype=np.float64)
            grid = np.broadcast_to(values.reshape(-1, *[1] * len(shape)), (len(values), *shape))
            possible = (grid >= least) & (grid <= most)  # others are refused, or get NaN
            logs = to_numpy(inner.log_prob(array(np.clip(grid, least, most)))).astype(np.float64)
            counted = (possible & (grid <= np.reshape(y, shape))).reshape(len(values), *y.shape)
            total += np.sum(np.where(counted, np.exp(logs.reshape(counted.shape)), 0.0), axis=0)
        return np.minimum(total, 1.0)

    return IntegerPredictions(type(inner).__name__, mean, variance, cumulative)


def _end(support: Any, side: str, none: float) -> np.ndarray:
    return np.asarray(to_numpy(end) if hasattr(end := getattr(support, side, none), "shape") else end, dtype=np.float64)
