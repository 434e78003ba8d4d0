"""Simple checks of predictions, one line of a notebook each: what many people look at first.

Each takes predictions of `flaws`, targets and `rng`, and returns a p-value. P-values of several dimensions are put
together by Bonferroni, which is on the safe side. Those of one are exact, except for two that take the limit of many
rows: `neyman` and `anderson_darling`, whose levels are right to 0.002.
"""

from functools import lru_cache
from typing import Any

import numpy as np

from .anderson import anderson_darling_pvalue
from .residuals import locations, ranks, standardised, whitened
from .tails import share_above, two_sided_chi_square

_N_NULL = 9999


def _smallest(pvalues: Any) -> float:
    """Return the smallest of several p-values, by Bonferroni."""
    values = np.ravel(pvalues)
    return float(min(1.0, len(values) * np.min(values)))


def distances(predictions: Any, y: np.ndarray, rng: Any = None) -> float:
    """Sum of squared Mahalanobis distances, two-sided: chi-square with n d degrees of freedom."""
    z = whitened(predictions, y)
    return two_sided_chi_square(float(np.sum(z**2)), z.size)


def jarque_bera(predictions: Any, y: np.ndarray, rng: Any = None) -> float:
    """Jarque-Bera: sample skewness and kurtosis of all whitened residuals, pooled over dimensions.

    By its chi-square limit it would reject 1.9 % at level .01 and n = 100, so the null is drawn, once for each n d.
    """
    z = whitened(predictions, y)
    return share_above(_jarque_bera_null(z.size), _jarque_bera(z.reshape(1, -1))[0])


def _jarque_bera(z: np.ndarray) -> np.ndarray:
    """Return the statistic of each row."""
    z = z - np.mean(z, axis=1, keepdims=True)
    squares = z * z
    variance = np.mean(squares, axis=1)
    skewness = np.mean(squares * z, axis=1) / variance**1.5
    excess = np.mean(squares * squares, axis=1) / variance**2 - 3.0
    return np.asarray(z.shape[1] / 6.0 * (skewness**2 + excess**2 / 4.0))


@lru_cache(maxsize=256)
def _jarque_bera_null(size: int) -> np.ndarray:
    rng = np.random.default_rng(0)
    at_once = max(1, 2_000_000 // size)
    counts = [min(at_once, _N_NULL - start) for start in range(0, _N_NULL, at_once)]
    return np.sort(np.concatenate([_jarque_bera(rng.standard_normal((count, size))) for count in counts]))


def anderson_darling(predictions: Any, y: np.ndarray, rng: Any = None) -> float:
    """Anderson-Darling test that the ranks (PIT) of each dimension are uniform, with Bonferroni."""
    return _smallest([anderson_darling_pvalue(column) for column in ranks(predictions, y).T])


def neyman(predictions: Any, y: np.ndarray, rng: Any = None) -> float:
    """Neyman's smooth test of order 4 of the ranks (PIT) of each dimension, chi-square, with Bonferroni."""
    from scipy.special import chdtrc, eval_legendre

    centred = 2.0 * ranks(predictions, y) - 1.0
    order = np.arange(1, 5)[:, None, None]
    components = np.sqrt(2.0 * order + 1.0) * eval_legendre(order, centred)
    return _smallest(chdtrc(4, np.sum(np.sum(components, axis=1) ** 2, axis=0) / len(y)))


def largest_correlation(predictions: Any, y: np.ndarray, rng: Any = None) -> float:
    """Largest correlation of whitened residuals of two dimensions, by its exact t distribution, with Bonferroni."""
    from scipy.special import stdtr

    z = whitened(predictions, y)
    correlations = np.corrcoef(z.T)[np.triu_indices(z.shape[1], 1)]
    degrees = len(z) - 2
    t = correlations * np.sqrt(degrees / (1.0 - correlations**2))
    return _smallest(2.0 * stdtr(degrees, -np.abs(t)))


def regression(predictions: Any, y: np.ndarray, rng: Any = None) -> float:
    """Slope and intercept of each dimension's standardised residual on its predicted mean, with Bonferroni.

    The residuals have variance 1 by the null hypothesis, so what the line explains is chi-square with two degrees.
    """
    from scipy.special import chdtrc

    residuals, mean = standardised(predictions, y), locations(predictions)
    slope = (mean - np.mean(mean, axis=0)) / (np.sqrt(len(y)) * np.std(mean, axis=0))
    explained = np.sum(slope * residuals, axis=0) ** 2 + np.sum(residuals, axis=0) ** 2 / len(y)
    return _smallest(chdtrc(2, explained))
