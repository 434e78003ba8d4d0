"""Predictions of one number by probabilities of intervals, as on a grid."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from .._lib.arrays import as_arrays, check_finite, to_numpy
from .categorical import check_sums_to_one
from .protocol import describe


def from_histogram(borders: Any, probabilities: Any) -> "Histogram":
    """Predictions of one number by probabilities of intervals, with a constant density in each.

    Parameters
    ----------
    borders : array_like, shape (k + 1,) or (n, k + 1)
        Ends of the intervals, increasing; the same for all predictions, or each its own.
    probabilities : array_like, shape (n, k)
        Probability of each interval; each row sums to one.

    Returns
    -------
    Histogram
        A target outside of all intervals, or in one of probability zero, counts as very far away.

    Examples
    --------
    >>> import numpy as np, scorecal as sc
    >>> rng = np.random.default_rng(0)
    >>> borders = np.linspace(-5.0, 5.0, 41)
    >>> mean = rng.uniform(-1.0, 1.0, size=(300, 1))
    >>> density = np.exp(-0.5 * (0.5 * (borders[1:] + borders[:-1]) - mean) ** 2)
    >>> predictions = sc.from_histogram(borders, density / density.sum(axis=1, keepdims=True))
    >>> predictions
    Histogram(n=300, dim=1, 40 intervals)
    >>> y = mean[:, 0] + rng.normal(size=300)
    >>> sc.calibration_test(predictions, y, rng=0).rejects()
    False
    """
    borders, probabilities = (
        to_numpy(part).astype(np.float64) for part in as_arrays(borders=borders, probabilities=probabilities)
    )
    if probabilities.ndim != 2 or 0 in probabilities.shape:
        raise ValueError(f"`probabilities` must have shape (n, k), but has {probabilities.shape}.")
    n, k = probabilities.shape
    if borders.shape not in ((k + 1,), (n, k + 1)):
        advice = " Likely cause: centres in place of borders." if borders.shape[-1:] == (k,) else ""
        raise ValueError(
            f"`borders` must have shape (k + 1,) = ({k + 1},) or (n, k + 1) = ({n}, {k + 1}), but has "
            f"{borders.shape}.{advice}"
        )
    check_finite("borders", borders)
    check_finite("probabilities", probabilities)
    if np.any(np.diff(borders, axis=-1) <= 0):
        raise ValueError("`borders` must increase, but some do not.")
    check_sums_to_one("probabilities", probabilities)
    return Histogram(np.broadcast_to(borders, (n, k + 1)), probabilities)


@dataclass(frozen=True, eq=False)
class Histogram:
    """n predictions of one number with constant densities between `borders` (n, k + 1)."""

    borders: np.ndarray
    probabilities: np.ndarray

    @property
    def n(self) -> int:
        return len(self.borders)

    @property
    def dim(self) -> int:
        return 1

    def __repr__(self) -> str:
        return describe(self, f"{self.probabilities.shape[1]} intervals")

    def cdf_bounds(self, y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """P(Y < y) and P(Y <= y), which are the same, (n, 1) each."""
        total = np.concatenate([np.zeros((self.n, 1)), np.cumsum(self.probabilities, axis=1)], axis=1)
        total = total / total[:, -1:]
        k = np.clip(np.sum(self.borders <= y, axis=1) - 1, 0, self.probabilities.shape[1] - 1)
        rows = np.arange(self.n)
        low, high = self.borders[rows, k], self.borders[rows, k + 1]
        share = np.clip((y[:, 0] - low) / (high - low), 0.0, 1.0)
        at = ((1.0 - share) * total[rows, k] + share * total[rows, k + 1])[:, None]
        return at, at

    def moments(self) -> tuple[np.ndarray, np.ndarray]:
        """Means (n, 1) and variances (n, 1, 1)."""
        low, high = self.borders[:, :-1], self.borders[:, 1:]
        mean = np.sum(self.probabilities * (low + high) / 2.0, axis=1, keepdims=True)
        low, high = low - mean, high - mean
        variance = np.sum(self.probabilities * (low**2 + low * high + high**2) / 3.0, axis=1)
        return mean, variance[:, None, None]
