"""The ceiling for predictions that are not Gaussian: likelihood-ratio tests, two-sided, that are told flaw and size."""

from functools import lru_cache
from typing import Any

import numpy as np

from .tails import two_sided_chi_square, two_sided_share

_N_NULL = 4999


def of_modes(predictions: Any, y: np.ndarray, rng: Any = None, **flaw: float) -> float:
    """Return the p-value of the test of the weight, or of the scale, of two modes of `modes`."""
    if "scale" in flaw:  # of modes so far apart that each target tells its own
        squared = np.sum((y[:, None, :] - predictions.means) ** 2, axis=2) / predictions.scales[:, :, 0] ** 2
        return two_sided_chi_square(float(np.sum(np.min(squared, axis=1))), y.size)
    weight, separation = flaw["weight"], flaw.get("separation", 4.0)
    along = y[:, 0] - np.mean(predictions.means[:, :, 0], axis=1)
    return two_sided_share(_weight_null(weight, separation, len(y)), _weight_ratio(along, weight, separation))


def _weight_ratio(along: np.ndarray, weight: float, separation: float) -> float:
    """Return the ratio, up to a constant, from places along the line through both modes."""
    odds = separation * along  # log-odds of the first mode, if both are as likely
    return float(np.sum(np.logaddexp(np.log(weight) + odds, np.log1p(-weight)) - np.logaddexp(odds, 0.0)))


@lru_cache(maxsize=256)
def _weight_null(weight: float, separation: float, n: int) -> np.ndarray:
    rng = np.random.default_rng(0)
    places = 0.5 * separation * rng.choice([-1.0, 1.0], (_N_NULL, n)) + rng.standard_normal((_N_NULL, n))
    return np.sort([_weight_ratio(each, weight, separation) for each in places])


def of_skewed(predictions: Any, y: np.ndarray, rng: Any = None, *, flaw: str, size: float) -> float:
    """Return the p-value of the test of the location, or of the scale, of Gumbel predictions of `skewed`."""
    errors = (y - predictions.mean) / predictions.std
    return two_sided_share(_gumbel_null(flaw, size, y.size), _gumbel_ratio(errors, flaw, size))


def _gumbel_ratio(errors: np.ndarray, flaw: str, size: float) -> float:
    true = errors + size if flaw == "location" else errors * size
    return float(np.sum(_log_density(true) - _log_density(errors)))


def _log_density(errors: np.ndarray) -> np.ndarray:
    """Return the log-density of the Gumbel distribution of mean 0 and variance 1, up to a constant."""
    x = errors * (np.pi / np.sqrt(6.0)) + np.euler_gamma
    return np.asarray(-x - np.exp(-x))


@lru_cache(maxsize=256)
def _gumbel_null(flaw: str, size: float, count: int) -> np.ndarray:
    rng = np.random.default_rng(0)
    scale = np.sqrt(6.0) / np.pi
    draws = ((rng.gumbel(size=count) - np.euler_gamma) * scale for _ in range(_N_NULL))
    return np.sort([_gumbel_ratio(each, flaw, size) for each in draws])
