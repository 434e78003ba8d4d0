"""Predictions of one number by a few of its quantiles."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from .._lib.arrays import as_arrays, check_finite, to_numpy
from .._lib.warn import warn_user
from .far_beyond import far_beyond
from .protocol import describe

_MOST_TIED = 0.02  # of targets that may be equal to a quantile, by rounding


def from_quantiles(levels: Any, values: Any) -> "Quantiles":
    """Predictions of one number by a few of its quantiles.

    Parameters
    ----------
    levels : array_like, shape (q,)
        Probabilities, strictly between 0 and 1 and increasing; at least two.
    values : array_like, shape (n, q)
        The quantiles of each prediction. Where they fall, they are sorted, and a warning says in how many rows.

    Returns
    -------
    Quantiles
        Tests draw uniformly between the two levels around the target: nothing is assumed between the quantiles, nor
        beyond them.

    Examples
    --------
    Five quantiles of forecasts whose spread is too small by a third:

    >>> import numpy as np, scipy.stats, scorecal as sc
    >>> rng = np.random.default_rng(0)
    >>> mean = rng.normal(size=400)
    >>> y = mean + rng.normal(size=400)
    >>> levels = [0.05, 0.25, 0.5, 0.75, 0.95]
    >>> predictions = sc.from_quantiles(levels, scipy.stats.norm.ppf(levels, mean[:, None], 0.67))
    >>> sc.calibration_test(predictions, y, rng=0).seen
    ('over-confidence',)
    >>> [str(interval) for interval in predictions.intervals(y)]
    ['50 % interval holds 34 % (30 to 39 %)', '90 % interval holds 71 % (67 to 76 %)']
    """
    levels, values = (to_numpy(part).astype(np.float64) for part in as_arrays(levels=levels, values=values))
    if levels.ndim != 1 or len(levels) < 2:
        raise ValueError(f"`levels` must hold at least two probabilities, of shape (q,), but has shape {levels.shape}.")
    if not (np.all(levels > 0) and np.all(levels < 1) and np.all(np.diff(levels) > 0)):
        advice = " Likely cause: levels in percent." if np.max(levels) >= 1 else ""
        raise ValueError(f"`levels` must lie strictly between 0 and 1 and increase, but are {levels.tolist()}.{advice}")
    if values.ndim != 2 or values.shape[1] != len(levels) or not len(values):
        raise ValueError(
            f"`values` must have shape (n, q) with a column for each of the {len(levels)} levels, but has shape "
            f"{values.shape}."
        )
    check_finite("values", values)
    falling = np.flatnonzero(np.any(np.diff(values, axis=1) < 0, axis=1))
    if len(falling):
        if np.all(np.diff(values, axis=1) <= 0):
            raise ValueError("`values` fall from level to level in every row. Likely cause: levels in another order.")
        warn_user(
            f"`values`: quantiles cross in {len(falling)} of {len(values)} rows, first in row {falling[0]} "
            f"({', '.join(f'{value:.4g}' for value in values[falling[0]])}). They were sorted."
        )
        values = np.sort(values, axis=1)
    return Quantiles(levels, values)


@dataclass(frozen=True, eq=False)
class Quantiles:
    """n predictions of one number, each by q quantiles: `levels` (q,) and `values` (n, q), which do not fall."""

    levels: np.ndarray
    values: np.ndarray

    @property
    def n(self) -> int:
        return len(self.values)

    @property
    def dim(self) -> int:
        return 1

    def __repr__(self) -> str:
        return describe(self, f"{len(self.levels)} levels from {self.levels[0]:g} to {self.levels[-1]:g}")

    @property
    def cannot_see(self) -> tuple[str, ...]:
        """Sentences on what quantiles do not say, for a result."""
        low, high = 100 * self.levels[0], 100 * self.levels[-1]
        return (
            f"errors between one quantile and the next, or beyond the first and the last: {low:.3g} % of targets "
            f"should be below, and {100 - high:.3g} % above.",
        )

    def cdf_bounds(self, y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Levels of the quantiles below and above the targets (n, 1): 0 and 1 stand for those beyond the last.

        A target that is equal to a quantile may lie on either side of it.
        """
        edges = np.concatenate([[0.0], self.levels, [1.0]])
        n_below = np.sum(self.values < y, axis=1)
        n_up_to = np.sum(self.values <= y, axis=1)
        return edges[n_below][:, None], edges[n_up_to + 1][:, None]

    def cautions(self, y: np.ndarray) -> tuple[str, ...]:
        """Say where targets (n, 1) are equal to quantiles, or far beyond them, for a result."""
        far = far_beyond(y, self.values[:, :1], self.values[:, -1:], "quantiles")
        tied = float(np.mean(np.any(self.values == y, axis=1)))
        if tied <= _MOST_TIED:
            return far
        return (
            *far,
            f"`y` is equal to one of its quantiles in {tied:.0%} of the rows. Likely cause: counts, or amounts often "
            "zero, whose quantiles do not tell the probability of a single value: even true ones may be rejected. Give "
            "the distribution of the counts, samples, or `CdfFunction` with its `below`.",
        )

    def moments(self) -> tuple[np.ndarray, np.ndarray]:
        """Means (n, 1) and variances (n, 1, 1) of a Gaussian with the median and the interquartile range.

        Quantiles at .25, .5 and .75 are interpolated, or are the nearest ones.
        """
        ends = np.clip([0.25, 0.75], self.levels[0], self.levels[-1])
        low, high = ends if ends[0] < ends[1] else (self.levels[0], self.levels[-1])
        spread = (self.quantile(high) - self.quantile(low)) / np.diff(_normal_quantile([low, high]))
        return self.quantile(0.5)[:, None], (spread**2)[:, None, None]

    def quantile(self, level: float) -> np.ndarray:
        """Return quantiles (n,), interpolated as those of a Gaussian are; the nearest one beyond the levels."""
        known, wanted = _normal_quantile(self.levels), _normal_quantile(level)
        k = int(np.clip(np.searchsorted(known, wanted) - 1, 0, len(known) - 2))
        share = np.clip((wanted - known[k]) / (known[k + 1] - known[k]), 0.0, 1.0)
        return np.asarray((1.0 - share) * self.values[:, k] + share * self.values[:, k + 1])

    def pinball_loss(self, y: Any) -> np.ndarray:
        """Mean loss at each level, (q,): that of true quantiles is the smallest on average."""
        gap = self._targets(y) - self.values
        return np.asarray(np.mean(np.maximum(self.levels * gap, (self.levels - 1.0) * gap), axis=0))

    def intervals(self, y: Any, confidence_level: float = 0.95) -> tuple["IntervalCoverage", ...]:
        """Return how many targets each central interval holds, from two levels that add up to 1."""
        y = self._targets(y)[:, 0]
        found = []
        for low in range(len(self.levels) // 2 - 1 + len(self.levels) % 2, -1, -1):
            for high in range(low + 1, len(self.levels)):
                if abs(self.levels[low] + self.levels[high] - 1.0) < 1e-9:
                    inside = int(np.sum((self.values[:, low] <= y) & (y <= self.values[:, high])))
                    claimed = float(self.levels[high] - self.levels[low])
                    found.append(interval_coverage(claimed, inside, len(y), confidence_level))
        return tuple(found)

    def _targets(self, y: Any) -> np.ndarray:
        """Return targets as numbers (n, 1), checked."""
        targets = to_numpy(as_arrays(y=y)[0]).astype(np.float64)
        if targets.shape not in ((self.n,), (self.n, 1)):
            raise ValueError(f"`y` must hold {self.n} targets, one for each prediction, but has shape {targets.shape}.")
        check_finite("y", targets, "Drop rows without a finite target.")
        return np.reshape(targets, (-1, 1))


@dataclass(frozen=True)
class IntervalCoverage:
    """Share of targets inside intervals of a claimed probability, with an exact binomial interval for the true one."""

    claimed: float
    held: float
    low: float
    high: float
    n: int

    def __str__(self) -> str:
        low, high = 100 * self.low, 100 * self.high
        return f"{100 * self.claimed:.3g} % interval holds {100 * self.held:.0f} % ({low:.0f} to {high:.0f} %)"


def interval_coverage(claimed: float, inside: int, n: int, confidence_level: float = 0.95) -> IntervalCoverage:
    """Return the share of targets inside, with the exact interval of Clopper and Pearson."""
    from scipy.stats import binomtest

    bounds = binomtest(inside, n).proportion_ci(confidence_level, method="exact")
    return IntervalCoverage(claimed, inside / n, float(bounds.low), float(bounds.high), n)


def _normal_quantile(levels: Any) -> np.ndarray:
    from scipy.special import ndtri

    return np.asarray(ndtri(levels))
