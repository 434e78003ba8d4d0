"""P-values: shares of a null distribution beyond what was found."""

import numpy as np


def share_above(null: np.ndarray, found: float) -> float:
    """Return the p-value against draws of the null, sorted: large values are against it."""
    return float((1 + len(null) - np.searchsorted(null, found, side="left")) / (1 + len(null)))


def two_sided_share(null: np.ndarray, found: float) -> float:
    """Return twice the smaller p-value of both sides, against draws of the null, sorted."""
    return min(1.0, 2.0 * min(share_above(null, found), share_above(-null[::-1], -found)))


def two_sided_chi_square(total: float, degrees: int) -> float:
    """Return twice the smaller p-value of both sides of a chi-square variable."""
    from scipy.special import chdtr, chdtrc

    return float(min(1.0, 2.0 * min(chdtr(degrees, total), chdtrc(degrees, total))))
