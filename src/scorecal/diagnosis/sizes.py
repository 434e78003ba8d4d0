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
_USUAL = 0.975  # quantile of t that few degrees of freedom enlarge standard errors by
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
        return f"{self.value:.2f} ({self.low:.2f} to {self.high:.2f})"


@dataclass(frozen=True, eq=False)
class Units:
    """What is independent: n rows, or clusters of them by `labels` (n,)."""

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

    Intervals are those of Student's t, with standard errors that are enlarged where influences have heavy tails, and
    reach farther to the side to which influences are skewed, by `lean` (1 + 2 t^2) standard errors: the few rows that
    matter most may be missing from the data.
    """

    values: np.ndarray  # (K,); NaN where one cannot be estimated
    expected: np.ndarray  # (K,)
    errors: np.ndarray  # (K,), standard errors
    degrees: np.ndarray  # (K,), of freedom
    lean: np.ndarray  # (K,), positive for long intervals above the value
    back: Callable[[np.ndarray], np.ndarray]  # to the scale on which sizes are told
    influence: np.ndarray  # (G, K), of each unit; empty where it is not wanted any more
    units: np.ndarray  # (G,), which these are

    @property
    def told(self) -> np.ndarray:
        """Which of them can be estimated, (K,)."""
        return np.asarray(~np.isnan(self.values))

    def tails(self) -> np.ndarray:
        """For each size, 1 - the level of the interval that just contains what is expected; NaN if untold."""
        from scipy.special import stdtr

        with np.errstate(divide="ignore", invalid="ignore"):
            gap = (self.expected - self.values) / self.errors
        gap = np.where(self.values == self.expected, 0.0, gap)
        lean = np.maximum(np.where(gap > 0, self.lean, -self.lean), 0.0)
        rest = np.maximum(np.abs(gap) - lean, 0.0)
        with np.errstate(over="ignore", invalid="ignore"):
            t = np.where(np.isinf(rest), math.inf, 2.0 * rest / (1.0 + np.sqrt(1.0 + 8.0 * lean * rest)))
        return np.asarray(2.0 * stdtr(self.degrees, -t))

    def estimates(self, tail: float) -> tuple[Estimate, ...]:
        """The sizes, each with its interval of level 1 - `tail`."""
        from scipy.special import stdtrit

        t = -stdtrit(self.degrees, 0.5 * tail) * (1.0 + _MARGIN)
        ends = [self.values]
        for side in (-1.0, 1.0):
            reach = t + np.maximum(side * self.lean, 0.0) * (1.0 + 2.0 * t**2)
            gap = np.zeros_like(self.errors)
            np.multiply(reach, self.errors, out=gap, where=self.errors > 0)
            ends.append(self.values + side * gap)
        with np.errstate(over="ignore"):
            parts = [self.back(end).tolist() for end in ends]
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
    return Sizes(*_judged(values, expected, influence), back, influence, present)


def _judged(
    values: np.ndarray, expected: np.ndarray, influence: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Values, expected values, standard errors, degrees of freedom and lean; one unit has an infinite error."""
    from scipy.special import stdtrit

    n, n_sizes = influence.shape
    if n < 2:
        return values, expected, np.full(n_sizes, math.inf), np.ones(n_sizes), np.zeros(n_sizes)
    second, third, fourth = (np.mean(influence**power, axis=0) for power in (2, 3, 4))
    errors = np.sqrt(second / (n - 1))
    errors = np.where(np.isinf(values), 0.0, np.where(np.isnan(errors), math.inf, errors))
    usable = (errors > 0) & np.isfinite(errors)
    second, third, fourth = (np.where(usable, moment, 1.0) for moment in (second, third, fourth))
    lean = _LEAN * third / second**1.5 / (6.0 * n**0.5)  # of Cornish and Fisher
    # A variance is known as well as that of so many normal numbers; far in the tails their t would ask for too much.
    normal = np.minimum(n - 1.0, 2.0 * n / np.maximum(fourth / second**2 - 1.0, 1e-9))
    errors = np.where(usable, errors * stdtrit(normal, _USUAL) / stdtrit(n - 1.0, _USUAL), errors)
    return values, expected, errors, np.full(n_sizes, n - 1.0), np.where(usable, lean, 0.0)
