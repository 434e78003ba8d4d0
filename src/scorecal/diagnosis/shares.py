"""Shares of rows with their intervals, exact for independent rows, and the calibration error that they add up to."""

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from .sizes import Estimate, Units

_FEWEST_IN_BIN, _MOST_BINS = 30, 10


class Bin(NamedTuple):
    """Rows whose largest probability lies from `low` to `high`: their number, what they claim, and what was found."""

    low: float
    high: float
    n: int
    claimed: float
    found: Estimate


class CalibrationError(NamedTuple):
    """The expected calibration error over bins, its interval, and what calibrated predictions would show."""

    estimate: Estimate
    if_calibrated: float


def share(hits: np.ndarray, rows: np.ndarray, units: Units, tail: float) -> Estimate:
    """Return the share of these rows that are hits, with an interval of level 1 - `tail`.

    Clopper and Pearson's interval is also right where rows have unequal probabilities (Hoeffding, 1956). With clusters
    of rows it is as wide, at least, as that of the shares of clusters, with Student's t.
    """
    from scipy.special import betaincinv, stdtrit

    n, count = len(rows), float(np.sum(hits[rows]))
    if n == 0:
        return Estimate(math.nan, math.nan, math.nan)
    low = float(betaincinv(count, n - count + 1.0, 0.5 * tail)) if count > 0 else 0.0
    high = float(betaincinv(count + 1.0, n - count, 1.0 - 0.5 * tail)) if count < n else 1.0
    value = count / n
    if units.labels is not None:
        present, places = np.unique(units.labels[rows], return_inverse=True)
        gaps = np.bincount(places, hits[rows] - value)
        n_units = len(present)
        if n_units < 2:
            return Estimate(value, 0.0, 1.0)
        error = math.sqrt(float(np.sum(gaps**2)) * n_units / (n_units - 1)) / n
        reach = -float(stdtrit(n_units - 1, 0.5 * tail)) * error
        low, high = min(low, max(0.0, value - reach)), max(high, min(1.0, value + reach))
    return Estimate(value, low, high)


def least_tail(hits: np.ndarray, rows: np.ndarray, claimed: float) -> float:
    """Return the largest tail with which the interval of a share contains what is claimed."""
    from scipy.special import bdtr, bdtrc

    n, count = len(rows), int(np.sum(hits[rows]))
    if n == 0:
        return 1.0
    above = float(bdtrc(count - 1, n, claimed)) if count > 0 else 1.0
    return min(1.0, 2.0 * min(above, float(bdtr(count, n, claimed))))


def bins_of(confidence: np.ndarray) -> list[np.ndarray]:
    """Return the rows of each bin: of equal numbers, in order of their confidence; equal ones are not parted."""
    n_bins = int(np.clip(len(confidence) // _FEWEST_IN_BIN, 1, _MOST_BINS))
    order = np.argsort(confidence, kind="stable")
    ends = np.searchsorted(confidence[order], np.quantile(confidence, np.arange(1, n_bins) / n_bins), side="right")
    parts = np.split(order, np.unique(ends))
    return [part for part in parts if len(part)]


def calibration_error(
    right: np.ndarray, confidence: np.ndarray, bins: Sequence[np.ndarray], units: Units, alpha: float
) -> CalibrationError:
    """Return the mean over rows of |claimed - found| of their bins, with an interval of level 1 - `alpha`.

    The number found is too large on average, by chance in each bin. So its upper end leaves that out, its lower end
    takes off the most that it may be; and no error is smaller than that of all rows taken together.
    """
    from scipy.special import ndtri

    chance = _by_chance(right, confidence, bins, units)
    overall = abs(chance.overall) + ndtri(0.25 * alpha) * chance.overall_error
    low = max(0.0, chance.value - chance.excess + ndtri(0.25 * alpha) * chance.spread, overall)
    high = min(1.0, chance.value - ndtri(0.5 * alpha) * chance.spread)
    n = len(right)
    claimed = np.array([math.sqrt(float(np.sum(confidence[rows] * (1.0 - confidence[rows])))) / n for rows in bins])
    if_calibrated = math.sqrt(2.0 / math.pi) * float(np.sum(claimed))
    return CalibrationError(Estimate(chance.value, min(low, chance.value), high), if_calibrated)


def least_tail_of_error(right: np.ndarray, confidence: np.ndarray, bins: Sequence[np.ndarray], units: Units) -> float:
    """Return the largest `alpha` with which the interval of the calibration error contains 0."""
    from scipy.special import ndtr

    chance = _by_chance(right, confidence, bins, units)
    above = max((chance.value - chance.excess) / chance.spread, abs(chance.overall) / chance.overall_error)
    return min(1.0, 4.0 * float(ndtr(-above)))


class _ByChance(NamedTuple):
    """The calibration error with its standard error, what it has too much, and the mean gap with its standard error."""

    value: float
    spread: float
    excess: float
    overall: float
    overall_error: float


def _by_chance(right: np.ndarray, confidence: np.ndarray, bins: Sequence[np.ndarray], units: Units) -> _ByChance:
    n, gaps = len(right), right - confidence
    weights = np.array([len(rows) / n for rows in bins])
    means = np.array([float(np.mean(gaps[rows])) for rows in bins])
    chance = np.array([_error(gaps, rows, units) for rows in bins])
    return _ByChance(
        float(np.sum(weights * np.abs(means))),
        math.sqrt(float(np.sum((weights * chance) ** 2))),
        math.sqrt(2.0 / math.pi) * float(np.sum(weights * chance)),
        float(np.mean(gaps)),
        _error(gaps, np.arange(n), units),
    )


def _error(gaps: np.ndarray, rows: np.ndarray, units: Units) -> float:
    """Standard error of the mean gap of these rows, no less than that of one more row that is half wrong."""
    n, sums = len(rows), gaps[rows] - np.mean(gaps[rows])
    if units.labels is not None:
        sums = np.bincount(np.unique(units.labels[rows], return_inverse=True)[1], sums)
    return math.sqrt(float(np.sum(sums**2)) + 0.25) / n
