"""The ceiling: likelihood-ratio tests that are told which flaw to expect, and its size.

With w = L^-1 (y - m) the whitened errors, N(0, I) given calibrated predictions, the log-likelihood ratio of a flaw of
`flaws` against none is, up to a constant and given the predictions,
- linear in w where the flaw is a bias: two-sided, by the normal distribution;
- quadratic where it is one of covariances: two-sided, each tail at half the level, by 19,999 draws of the null;
- a sum over rows of a function of w where it is one of shape: one-sided, by draws, as a share of outliers can only be
  positive; of skewness the larger of both signs.
For truncation the bound is taken as unknown: then the largest |w| is all that counts, and its distribution is known.
Draws are made with a fixed seed, once for each flaw, size, n and d. What the predictions tell is kept as given.
"""

from collections.abc import Callable
from functools import lru_cache
from typing import Any

import numpy as np

from ..flaws import HIDDEN_SHARES, wave
from .residuals import locations, solved, whitened
from .shape_ratios import radial_ratio, skew_ratio
from .tails import share_above, two_sided_share

_N_NULL = 19_999
_PRIOR_VARIANCE = 0.75  # of the first mean
BIASES = ("location", "one location", "location by x", "bias wave", "shrinkage")
SPREADS = ("scale", "one scale", "correlation", "one pair", "scale by x", "spread wave")
SHAPES = ("tails", "skew", "truncation", *HIDDEN_SHARES)


def oracle(predictions: Any, y: np.ndarray, rng: Any = None, *, flaw: str, size: float) -> float:
    """Return the p-value of the likelihood-ratio test of one flaw of `FLAWS`, of this size."""
    w = whitened(predictions, y)
    if flaw in BIASES:
        return _normal_pvalue(w, _direction(predictions, flaw, size))
    if flaw == "truncation":  # of a bound that is not known: the chance that the largest of all is no larger
        from scipy.special import erf

        return float(erf(np.max(np.abs(w)) / np.sqrt(2.0)) ** w.size)
    if flaw in SPREADS:
        found = _spread_statistic(flaw, size, locations(predictions), w)
        return two_sided_share(_spread_null(flaw, size, *w.shape), found)
    return share_above(_shape_null(flaw, size, *w.shape), _shape_statistic(flaw, size, w))


# Biases: w_i ~ N(theta a_i, I), hence sum of w_i.a_i / |a| ~ N(0, 1) without them.


def _normal_pvalue(w: np.ndarray, direction: np.ndarray) -> float:
    from scipy.special import ndtr

    return float(2.0 * ndtr(-abs(np.sum(w * direction)) / np.sqrt(np.sum(direction**2))))


def _direction(predictions: Any, flaw: str, size: float) -> np.ndarray:
    """Return the bias of each row in whitened coordinates, up to a factor common to all."""
    mean, covariance = (np.asarray(moment) for moment in getattr(predictions, "logits", predictions).moments())
    if flaw == "shrinkage":
        return solved(covariance, mean)
    bias = np.sqrt(np.diagonal(covariance, axis1=1, axis2=2))  # in standard deviations, the same in all dimensions
    if flaw == "one location":
        bias = bias * (np.arange(mean.shape[1]) == 0)
    elif flaw == "location by x":
        bias = bias * np.sign(mean[:, :1])
    elif flaw == "bias wave":
        bias = bias * wave(mean)
    return solved(covariance, bias)


# Spreads: w_i ~ N(0, S_i), hence sum of w_i'(I - S_i^-1) w_i.


def _spread_statistic(flaw: str, size: float, mean: np.ndarray, w: np.ndarray) -> float:
    """Return the quadratic form, less its mean and over its standard deviation without the flaw."""
    if flaw in ("scale by x", "spread wave"):
        log_factor = np.log(size) * np.sign(mean[:, 0]) if flaw == "scale by x" else size * wave(mean)[:, 0]
        weights = 1.0 - np.exp(2.0 * log_factor)
        total, trace, squares = weights @ np.sum(w**2, axis=1), np.sum(weights), np.sum(weights**2)
        return float((total - w.shape[1] * trace) / np.sqrt(2.0 * w.shape[1] * squares))
    form = np.eye(w.shape[1]) - np.linalg.inv(covariance_of(flaw, size, w.shape[1]))
    scale = np.sqrt(2.0 * len(w) * np.sum(form**2))
    return float((np.sum((w @ form) * w) - len(w) * np.trace(form)) / scale)


def covariance_of(flaw: str, size: float, dim: int) -> np.ndarray:
    """Return the covariance of whitened errors of a flaw that is the same in all rows."""
    if flaw == "scale":
        return np.eye(dim) / size**2
    if flaw == "one pair":
        covariance = np.eye(dim)
        covariance[-1, -2] = covariance[-2, -1] = size
        return covariance
    truth = 0.5 * np.eye(dim) + 0.5
    factors = np.where(np.arange(dim) == 0, size, 1.0) if flaw == "one scale" else np.ones(dim)
    claimed = truth if flaw == "one scale" else (1.0 - size) * np.eye(dim) + size
    whitener = np.linalg.inv(factors[:, None] * np.linalg.cholesky(claimed))
    return np.asarray(whitener @ truth @ whitener.T)


@lru_cache(maxsize=256)
def _spread_null(flaw: str, size: float, n: int, dim: int) -> np.ndarray:
    """Draw the statistic without the flaw, from chi-square variables: a quadratic form has as many as eigenvalues."""
    rng = np.random.default_rng(0)
    if flaw in ("scale by x", "spread wave"):

        def draw() -> float:
            mean = np.sqrt(_PRIOR_VARIANCE) * rng.standard_normal((n, 1))
            lengths = np.sqrt(rng.chisquare(dim, (n, 1)))
            return _spread_statistic(flaw, size, mean, np.hstack([lengths, np.zeros((n, dim - 1))]))

        return _drawn(draw)
    form = np.eye(dim) - np.linalg.inv(covariance_of(flaw, size, dim))
    eigenvalues = np.linalg.eigvalsh(form)
    sums = (rng.chisquare(n, (_N_NULL, dim)) - n) @ eigenvalues
    return np.sort(sums / np.sqrt(2.0 * n * np.sum(eigenvalues**2)))


# Shapes: a sum over rows, or over rows and dimensions.


def _shape_statistic(flaw: str, size: float, w: np.ndarray) -> float:
    if flaw == "skew":
        return float(max(np.sum(skew_ratio(w, size)), np.sum(skew_ratio(-w, size))))
    return float(np.sum(radial_ratio(flaw, size, np.sum(w**2, axis=1), w.shape[1])))


@lru_cache(maxsize=256)
def _shape_null(flaw: str, size: float, n: int, dim: int) -> np.ndarray:
    rng = np.random.default_rng(0)
    if flaw == "skew":
        return _drawn(lambda: _shape_statistic(flaw, size, rng.standard_normal((n, dim))), 1999)
    return _drawn(lambda: float(np.sum(radial_ratio(flaw, size, rng.chisquare(dim, n), dim))))


def _drawn(draw: Callable[[], float], count: int = _N_NULL) -> np.ndarray:
    return np.sort([draw() for _ in range(count)])
