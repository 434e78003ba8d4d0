"""Simple checks of residuals that are N(0, 1) if calibrated, each with a p-value of its own."""

from __future__ import annotations

from functools import cache

import numpy as np
from case import Case
from scipy import stats


def independent_rows(case: Case) -> np.ndarray:
    """Return numbers of rows whose errors do not overlap: every h-th one."""
    return np.arange(0, len(case.y), case.horizon or 1)


def checks(case: Case) -> dict[str, float]:
    """Return p-values by name; those of single dimensions are the smallest one times their number."""
    rows = independent_rows(case)
    z, mean = case.z[rows], case.mean[rows]
    n, d = z.shape
    found = {
        "mean": _smallest(2.0 * stats.norm.sf(np.sqrt(n) * np.abs(z.mean(axis=0)))),
        "chi-square": _two_sided(stats.chi2(n * d), np.sum(z**2)),
        "Jarque-Bera": _smallest([_jarque_bera(column) for column in z.T]),
        "KS": _smallest([stats.kstest(column, "norm").pvalue for column in z.T]),
        "AD": _smallest([anderson_darling(column) for column in z.T]),
        "50 %": _smallest([coverage(column, 0.5)[3] for column in z.T]),
        "90 %": _smallest([coverage(column, 0.9)[3] for column in z.T]),
        "largest": _smallest(2.0 * stats.norm.sf(np.abs(z).ravel())),
    }
    if d > 1:
        pairs = np.triu_indices(d, 1)
        found["correlation"] = _smallest([_of_correlation(z[:, a], z[:, b]) for a, b in zip(*pairs, strict=True)])
    if case.horizon:
        after = np.arange(1, n)
        if case.groups is not None:
            after = after[case.groups[rows[1:]] == case.groups[rows[:-1]]]
        sizes = stats.rankdata(z**2, axis=0)
        found["lag 1"] = _smallest([_of_correlation(column[after], column[after - 1]) for column in z.T])
        found["lag 1 of sizes"] = _smallest([_of_correlation(column[after], column[after - 1]) for column in sizes.T])
    else:
        ranked = [(z[:, a], mean[:, a]) for a in range(d)]
        found["bias along mean"] = _smallest([stats.spearmanr(a, m).pvalue for a, m in ranked])
        found["spread along mean"] = _smallest([stats.spearmanr(np.abs(a), m).pvalue for a, m in ranked])
    return found


def anderson_darling(z: np.ndarray) -> float:
    """P-value of the Anderson-Darling test of N(0, 1) (Marsaglia and Marsaglia, J. Stat. Softw. 9, 2004)."""
    z, n = np.sort(z), len(z)
    odd = 2.0 * np.arange(n) + 1.0
    a = -n - np.mean(odd * (stats.norm.logcdf(z) + stats.norm.logsf(z[::-1])))
    if a < 2.0:
        shape = 2.00012 + (0.247105 - (0.0649821 - (0.0347962 - (0.0116720 - 0.00168691 * a) * a) * a) * a) * a
        return float(1.0 - np.exp(-1.2337141 / a) / np.sqrt(a) * shape)
    shape = 1.0776 - (2.30695 - (0.43424 - (0.082433 - (0.008056 - 0.0003146 * a) * a) * a) * a) * a
    return float(-np.expm1(-np.exp(shape)))


def coverage(z: np.ndarray, level: float) -> tuple[float, float, float, float]:
    """Share of z inside the central interval, its exact 95 % bounds, and the p-value of the level."""
    inside = int(np.sum(np.abs(z) <= stats.norm.isf((1.0 - level) / 2.0)))
    test = stats.binomtest(inside, z.size, level)
    bounds = test.proportion_ci(0.95, method="exact")
    return inside / z.size, bounds.low, bounds.high, test.pvalue


@cache
def _null_of_jarque_bera(n: int) -> np.ndarray:
    draws = np.random.default_rng(n).normal(size=(4999, n))
    return np.sort(_moments_of_shape(draws))


def _moments_of_shape(z: np.ndarray) -> np.ndarray:
    return z.shape[-1] / 6.0 * (stats.skew(z, axis=-1) ** 2 + stats.kurtosis(z, axis=-1) ** 2 / 4.0)


def _jarque_bera(z: np.ndarray) -> float:
    """By draws up to 1000 rows, since the approximation of many rows is poor there."""
    if len(z) > 1000:
        return float(stats.jarque_bera(z).pvalue)
    null = _null_of_jarque_bera(len(z))
    return float((1 + len(null) - np.searchsorted(null, _moments_of_shape(z))) / (1 + len(null)))


def _of_correlation(a: np.ndarray, b: np.ndarray) -> float:
    return float(stats.pearsonr(a, b).pvalue)


def _smallest(pvalues) -> float:
    return float(min(1.0, np.size(pvalues) * np.min(pvalues)))


def _two_sided(distribution, value: float) -> float:
    return float(min(1.0, 2.0 * min(distribution.cdf(value), distribution.sf(value))))
