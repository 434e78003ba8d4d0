"""The Anderson-Darling test of uniformity."""

import math
from typing import Any

import numpy as np

# Marsaglia and Marsaglia (2004), "Evaluating the Anderson-Darling distribution", Journal of Statistical Software 9(2).
_BELOW = (2.00012, 0.247105, -0.0649821, 0.0347962, -0.011672, 0.00168691)
_ABOVE = (1.0776, -2.30695, 0.43424, -0.082433, 0.008056, -0.0003146)
_LAST = 8.0  # where their polynomial ends; beyond, the tail falls as exp(-x) / sqrt(x)


def anderson_darling_pvalue(uniform: Any) -> float:
    """Return the p-value of values that should be uniform on (0, 1), by the limit for many of them."""
    return limit_tail(anderson_darling_statistic(uniform))


def anderson_darling_statistic(uniform: Any) -> float:
    """Return n times the integral of (F_n(u) - u)^2 / (u (1 - u)), F_n the share of values up to u."""
    values = np.clip(np.sort(np.asarray(uniform, dtype=np.float64)), 1e-300, 1.0 - 2.0**-53)
    n = len(values)
    weights = (2.0 * np.arange(1, n + 1) - 1.0) / n
    return float(-n - np.sum(weights * (np.log(values) + np.log1p(-values[::-1]))))


def limit_tail(x: float) -> float:
    """Return the probability that the statistic exceeds x, for n to infinity."""
    if x <= 0.0:
        return 1.0
    if x < 2.0:
        return 1.0 - math.exp(-1.2337141 / x) / math.sqrt(x) * _polynomial(_BELOW, x)
    if x > _LAST:
        return limit_tail(_LAST) * math.exp(_LAST - x) * math.sqrt(_LAST / x)
    return -math.expm1(-math.exp(_polynomial(_ABOVE, x)))


def _polynomial(coefficients: tuple[float, ...], x: float) -> float:
    return sum(c * x**power for power, c in enumerate(coefficients))
