"""Sizes of errors with their standard errors, by the jackknife, for rows that are independent or in clusters.

A size is a function of sums over rows. Leaving out one row at a time, or one cluster, tells how far each moves it:
these influences give its standard error, and with those of other sizes how all of them vary together.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

_NUMBERS_AT_ONCE = 2**23
_LEAN = 1.5  # skewness in data is smaller than that of their distribution, where this is large
_MANY_DIGITS = 1000.0  # larger numbers are told with a power of ten
_NARROW = 0.1  # intervals have one more digit: their ends must not be rounded to what is right
_MARGIN = 1e-6  # relative: rounding must not shut out what an interval was widened to contain


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
        digits = 3 if self.high - self.low < _NARROW else 2
        value, low, high = (f"{each:.{digits}f}" if abs(each) < _MANY_DIGITS else f"{each:.3g}" for each in self)
        return f"{value} ({low} to {high})"


@dataclass(frozen=True, eq=False)
class Units:
    """Independent units: n rows, or clusters of them by `labels` (n,)."""

    n: int
    labels: np.ndarray | None = None

    def of(self, rows: Any) -> tuple[np.ndarray, np.ndarray | None]:
        """Return the units that have some of the rows and, for clusters, the place among them of each of these rows."""
        chosen = np.arange(self.n)[rows] if self.labels is None else self.labels[rows]
        if self.labels is None:
            return chosen, None
        units, places = np.unique(chosen, return_inverse=True)
        return units, places


@dataclass(frozen=True, eq=False)
class Sizes:
    """K sizes on a scale where intervals are nearly symmetric, and what they are expected to be: that of calibration.

    Intervals are those of Student's t, with a standard error for each side.
    """

    values: np.ndarray  # (K,); NaN where one cannot be estimated
    expected: np.ndarray  # (K,)
    below: np.ndarray  # (K,), standard errors
    above: np.ndarray
    freedom: int  # degrees of it
    back: Callable[[np.ndarray], np.ndarray]  # to the scale on which sizes are told
    influence: np.ndarray  # (G, K), of each unit; empty where it is not wanted any more
    units: np.ndarray  # (G,), which these are

    @property
    def usable(self) -> np.ndarray:
        """Which of them have a standard error, as indices."""
        return np.flatnonzero(~np.isnan(self.values) & np.isfinite(self.above) & (self.above > 0))

    def tails(self) -> np.ndarray:
        """For each size, 1 - the level of the interval that just contains what is expected; NaN if untold."""
        from scipy.special import stdtr

        gap = self.expected - self.values
        with np.errstate(divide="ignore", invalid="ignore"):
            t = np.where(gap == 0, 0.0, np.abs(gap) / np.where(gap > 0, self.above, self.below))
        return np.asarray(2.0 * stdtr(self.freedom, -t))

    def estimates(self, tail: float) -> tuple[Estimate, ...]:
        """The sizes, each with its interval of level 1 - `tail`."""
        from scipy.special import stdtrit

        t = np.abs(stdtrit(self.freedom, 0.5 * tail)) * (1.0 + _MARGIN)  # SciPy has +inf at 0
        down, up = np.zeros_like(self.below), np.zeros_like(self.above)
        np.multiply(t, self.below, out=down, where=self.below > 0)
        np.multiply(t, self.above, out=up, where=self.above > 0)
        with np.errstate(over="ignore"):
            parts = [self.back(end).tolist() for end in (self.values, self.values - down, self.values + up)]
        return tuple(map(Estimate, *parts))

    def alone(self) -> "Sizes":
        """The sizes without the influences of the units, which take memory."""
        return replace(self, influence=np.empty((0, len(self.values))), units=np.empty(0, dtype=int))


def jackknife(
    features: Callable[[slice], np.ndarray],
    function: Callable[[np.ndarray], np.ndarray],
    units: Units,
    rows: Any,
    expected: np.ndarray,
    back: Callable[[np.ndarray], np.ndarray] = np.asarray,
) -> Sizes:
    """Return K sizes, each a function of the sums of q features over rows.

    `features` returns (rows, k, q) for a slice of the K sizes, so that a few of them at a time are in memory, and
    `function` turns (..., q) into (...).
    """
    present, places = units.of(rows)
    n_units, n_sizes = len(present), len(expected)
    q = features(slice(0, 1)).shape[-1] if n_sizes else 1
    step = max(1, _NUMBERS_AT_ONCE // (max(n_units, 1) * q))
    values, influence = np.empty(n_sizes), np.empty((n_units, n_sizes))
    for start in range(0, n_sizes, step):
        part = slice(start, start + step)
        sums = features(part)
        if places is not None:
            flat = sums.reshape(len(sums), -1)
            sums = np.stack([np.bincount(places, column, n_units) for column in flat.T], axis=1)
            sums = sums.reshape(n_units, -1, q)
        total = np.sum(sums, axis=0)
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            values[part] = function(total)
            without = function(total - sums)
            influence[:, part] = (n_units - 1) * (np.mean(without, axis=0) - without)
    below, above = _standard_errors(influence)
    exact = np.isinf(values)  # no spread at all, or a perfect correlation
    below, above = (np.where(exact, 0.0, np.where(np.isnan(each), math.inf, each)) for each in (below, above))
    return Sizes(values, expected, below, above, max(1, n_units - 1), back, influence, present)


def _standard_errors(influence: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Standard errors to either side, from the influences of n units; infinite for one unit.

    They are enlarged where influences have heavy tails, and to the side to which these are skewed: the few units that
    matter most may be missing from the data. At the 95 % level intervals are those of t with the degrees of freedom of
    Welch and Satterthwaite, less a multiple of the skewness (Cornish and Fisher); at other levels they have the same
    proportions, since neither correction holds far out.
    """
    n = len(influence)
    if n < 2:
        return (np.full(influence.shape[1], math.inf),) * 2
    squares = influence**2
    return errors_from_moments(n, *(np.mean(each, axis=0) for each in (squares, squares * influence, squares**2)))


def errors_from_moments(
    n: Any, second: np.ndarray, third: np.ndarray, fourth: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Return the standard errors from moments of the influences of n units, 2 or more."""
    from scipy.special import stdtrit

    usable = (second > 0) & np.isfinite(fourth)
    scale = np.where(usable, second, 1.0)
    normal = 2.0 * n / np.maximum(np.where(usable, fourth, 1.0) / scale**2 - 1.0, 1e-9)  # so many tell as much
    t, few = (stdtrit(freedom, 0.975) for freedom in (n - 1.0, np.minimum(normal, n - 1.0)))
    errors = np.sqrt(second / (n - 1)) * few / t
    lean = _LEAN * np.where(usable, third, 0.0) / scale**1.5 / (6.0 * n**0.5) * (1.0 + 2.0 * t**2) / t
    return errors * (1.0 + np.maximum(-lean, 0.0)), errors * (1.0 + np.maximum(lean, 0.0))
