"""What a test returns."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from numbers import Real

import numpy as np

__all__ = ["CalibrationResult", "calibration_result", "check_overflow"]


@dataclass(frozen=True, eq=False)
class CalibrationResult:
    """Outcome of a calibration test.

    Attributes
    ----------
    statistic : float
        The U-statistic; 0 in the mean for calibrated predictions, hence negative half of the time, and positive
        otherwise. Its size depends on the units of the targets: compare statistics on the same targets only.
    pvalue : float
        (1 + number of null draws at least as large as the statistic) / (1 + n_resamples); never 0.
    null_distribution : ndarray, shape (n_resamples,)
        Wild-bootstrap draws of the statistic under the null hypothesis.
    contributions : ndarray, shape (n,)
        Share of each prediction in the statistic, of either sign; they add up to it. Large where many rows are wrong in
        the same way; a row that is alone in being wrong does not stand out.
    bandwidths : mapping
        The bandwidths used: "target", "distribution" and, for kernels that have one, "ground".
    n, n_resamples : int
        Number of predictions and of bootstrap draws.
    coordinates : str
        The space in which targets were judged: "identity", or what they were mapped by.
    """

    statistic: float
    pvalue: float
    null_distribution: np.ndarray = field(repr=False)
    contributions: np.ndarray = field(repr=False)
    bandwidths: Mapping[str, float]
    n: int
    n_resamples: int
    coordinates: str = field(default="identity", kw_only=True)

    def rejects(self, alpha: float = 0.05) -> bool:
        """Whether calibration is rejected at level `alpha`."""
        return self.pvalue <= _check_alpha(alpha)

    def critical_value(self, alpha: float = 0.05) -> float:
        """The null draw that the statistic must exceed for `rejects(alpha)`; infinite where no statistic could."""
        pvalues = (1.0 + np.arange(self.n_resamples + 1)) / (1.0 + self.n_resamples)
        n_rejecting = int(np.sum(pvalues <= _check_alpha(alpha)))
        if n_rejecting == 0:
            return math.inf
        if n_rejecting > self.n_resamples:
            return -math.inf
        return float(np.sort(self.null_distribution)[-n_rejecting])


def calibration_result(
    statistic: float, null: np.ndarray, contributions: np.ndarray, bandwidths: Mapping[str, float], precision: float
) -> CalibrationResult:
    """Rank the statistic among its null draws. `precision` is the machine epsilon of the arithmetic behind them."""
    check_overflow(statistic, float(np.sum(null)))
    # With few points the signs repeat, and equal draws must not be told apart by rounding.
    tolerance = 64 * precision * np.max(np.abs(null))
    null = np.where(np.abs(null - statistic) <= tolerance, statistic, null)
    pvalue = (1.0 + float(np.sum(null >= statistic))) / (1.0 + len(null))
    return CalibrationResult(statistic, pvalue, null, contributions, bandwidths, len(contributions), len(null))


def check_overflow(*values: float) -> None:
    if not np.all(np.isfinite(values)):
        raise ValueError(
            "The statistic overflowed: `y`, the scores or the distances between predictions, in units of their "
            "bandwidths, are too large for their dtype. Likely causes: float32 arrays (convert them to float64), "
            "targets in very unequal units, or a `bandwidth` given far too small."
        )


def _check_alpha(alpha: float) -> float:
    if not isinstance(alpha, Real) or not 0 < alpha < 1:
        raise ValueError(f"`alpha` must lie between 0 and 1, but is {alpha!r}.")
    return alpha
