"""Expected coverage of highest-density regions (the paper's definition 5.1; Hermans et al. 2021)."""

import math
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ._lib.arrays import Array, array_namespace, to_numpy
from ._lib.checks import as_generator, check_count, check_share
from .coordinates.normal_scores import in_normal_scores
from .predictions import AnyPredictions, Gaussian, as_targets, draw_samples, evaluate_log_prob

DEFAULT_N_SAMPLES = 1000
_N_STEPS, _EXACT = 2**17, 10**5  # of levels that are counted; rows


@dataclass(frozen=True, eq=False)
class Coverage:
    """Share of targets inside the highest-density regions of their predictions.

    Attributes
    ----------
    levels : ndarray, shape (n,)
        For each target, the level of the smallest highest-density region that holds it; uniform if calibrated.
    pvalue : float
        P-value of the one-sided test that regions hold at least their nominal share; small if over-confident.
    n : int
        Number of targets.
    """

    levels: np.ndarray = field(repr=False)
    pvalue: float
    n: int

    def curve(self, nominal: Any) -> np.ndarray:
        """Share of targets inside the regions of the given nominal levels, between 0 and 1."""
        if not np.all((np.asarray(nominal) >= 0) & (np.asarray(nominal) <= 1)):
            raise ValueError(f"`nominal` levels must lie between 0 and 1, but are {nominal!r}.")
        return np.searchsorted(np.sort(self.levels), np.asarray(nominal), side="right") / self.n

    def band(self, nominal: Any, confidence: float = 0.95) -> tuple[np.ndarray, np.ndarray]:
        """Lower and upper ends of a band that holds the whole true curve with this confidence (DKW inequality)."""
        half = math.sqrt(math.log(2.0 / (1.0 - check_share("confidence", confidence))) / (2.0 * self.n))
        curve = self.curve(nominal)
        return np.maximum(curve - half, 0.0), np.minimum(curve + half, 1.0)

    def plot(self) -> Any:
        """Draw the coverage curve with its band, and return matplotlib axes."""
        from .plots import plot_coverage

        return plot_coverage(self)

    def conservative(self, alpha: float = 0.05) -> bool:
        """Return False if, at level `alpha`, some regions hold less than their nominal share."""
        return self.pvalue > check_share("alpha", alpha)


def expected_coverage(
    predictions: AnyPredictions, y: Any, *, n_samples: int | None = None, rng: Any = None
) -> Coverage:
    """Return how often targets lie inside the highest-density regions of their predictions.

    Parameters
    ----------
    predictions : Predictions
        Predictions with `log_prob` and `sample`; for Gaussians neither is used. Quantiles, samples and others without
        scores are judged by their normal scores, whose regions are central.
    y : array_like, shape (n, d)
        The n observed targets; (n,) for d = 1.
    n_samples : int, optional
        Number of draws from each prediction. None: the closed form for Gaussians, otherwise 1000.
    rng : seed or numpy.random.Generator, optional
        Source of the draws, if any.

    Returns
    -------
    Coverage
        With `levels`, `pvalue`, and the methods `curve(nominal)`, `band(nominal)` and `conservative(alpha)`.

    Notes
    -----
    Calibrated predictions are conservative (proposition 5.2), but not the other way round: coverage does not see a bias
    that varies in sign, nor predictions that are too wide. The p-value is that of a one-sided Kolmogorov-Smirnov test.

    Examples
    --------
    >>> import numpy as np, scorecal as sc
    >>> rng = np.random.default_rng(0)
    >>> mean = rng.normal(size=400)
    >>> y = mean + rng.normal(size=400)
    >>> sc.expected_coverage(sc.Gaussian(mean, 1.0), y).conservative()
    True
    >>> over_confident = sc.expected_coverage(sc.Gaussian(mean, 0.7), y)
    >>> over_confident.conservative(), float(over_confident.curve(0.9))
    (False, 0.7325)
    """
    from scipy.stats import kstest

    check_count("n_samples", n_samples, optional=True)
    generator = as_generator(rng)
    judged, y = in_normal_scores(predictions, y, generator)
    targets = as_targets(y, judged)
    if n_samples is None and isinstance(judged, Gaussian):
        levels = _gaussian_levels(judged, targets)
    else:
        levels = _sampled_levels(judged, targets, n_samples or DEFAULT_N_SAMPLES, generator)
    # Over-confidence makes levels too large, and their distribution function falls below the diagonal.
    return Coverage(levels, float(kstest(levels, "uniform", alternative="less").pvalue), len(levels))


@dataclass(frozen=True, eq=False)
class LevelCounts:
    """Numbers of targets whose levels lie between steps of a fine grid from 0 to 1, for rows that come in batches."""

    counts: np.ndarray  # (steps,)

    def __add__(self, other: "LevelCounts") -> "LevelCounts":
        return LevelCounts(self.counts + other.counts)

    @property
    def coverage(self) -> "BinnedCoverage":
        """The coverage that they tell."""
        from scipy.stats import ksone

        n, below = int(np.sum(self.counts)), np.cumsum(self.counts)
        ends = np.arange(1, len(self.counts) + 1) / len(self.counts)
        farthest = float(np.max(ends - below / n))
        # The exact law takes time as n; of so many, its second approximation is right to six digits (Smirnov, 1944).
        many = math.exp(-((6.0 * n * max(farthest, 0.0) + 1.0) ** 2) / (18.0 * n))
        return BinnedCoverage(ends, float(ksone.sf(farthest, n)) if n <= _EXACT else many, n, below / n)


@dataclass(frozen=True, eq=False)
class BinnedCoverage(Coverage):
    """Coverage that is known at the ends of small steps, which are its `levels`.

    Attributes
    ----------
    shares : ndarray
        Share of targets inside the regions of each of the `levels`.
    """

    shares: np.ndarray = field(repr=False)

    def curve(self, nominal: Any) -> np.ndarray:
        """Share of targets inside the regions of the given nominal levels, between 0 and 1, rounded up to a step."""
        super().curve(nominal)
        places = np.ceil(np.asarray(nominal) * len(self.levels) - 1e-9).astype(int)
        return np.asarray(np.concatenate([[0.0], self.shares])[places])


def level_counts(predictions: Gaussian, y: Any) -> LevelCounts:
    """Return the counts of a batch of Gaussian predictions."""
    levels = _gaussian_levels(predictions, as_targets(y, predictions))
    places = np.minimum((levels * _N_STEPS).astype(int), _N_STEPS - 1)
    return LevelCounts(np.bincount(places, minlength=_N_STEPS))


def _gaussian_levels(predictions: Gaussian, targets: Array) -> np.ndarray:
    """Levels in closed form: the density falls with the Mahalanobis distance, whose square is chi-square."""
    from scipy.special import chdtr

    gap = targets - predictions.mean
    squared = -array_namespace(gap).sum(gap * predictions.score(targets), axis=1)
    return np.asarray(chdtr(predictions.dim, to_numpy(squared).astype(np.float64)))


def _sampled_levels(predictions: Any, targets: Array, n_samples: int, rng: np.random.Generator) -> np.ndarray:
    """Levels as ranks of the target's density among those of draws, uniform if calibrated; ties broken at random."""
    at_target = evaluate_log_prob(predictions, targets)
    xp = array_namespace(targets)
    higher, equal = np.zeros(predictions.n), np.zeros(predictions.n)
    at_once = max(1, 4_000_000 // (predictions.n * predictions.dim))
    for start in range(0, n_samples, at_once):
        draws = draw_samples(predictions, min(at_once, n_samples - start), rng)
        at_draws = evaluate_log_prob(predictions, xp.permute_dims(draws, (1, 0, 2)))
        higher += np.sum(to_numpy(at_draws > at_target), axis=0)
        equal += np.sum(to_numpy(at_draws == at_target), axis=0)
    levels: np.ndarray = (higher + rng.random(predictions.n) * (equal + 1.0)) / (n_samples + 1.0)
    return levels
