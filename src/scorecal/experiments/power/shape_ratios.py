"""Log-likelihood ratios of wrong shapes against the standard normal distribution, up to constants."""

import numpy as np

from ..flaws import HIDDEN_SHARES


def radial_ratio(flaw: str, size: float, squared: np.ndarray, dim: int) -> np.ndarray:
    """Return the ratio of a row whose whitened error has this squared length, for spherical shapes."""
    if flaw == "tails":  # Student's t scaled to unit covariance
        return np.asarray(0.5 * squared - 0.5 * (size + dim) * np.log1p(squared / (size - 2.0)))
    share = HIDDEN_SHARES[flaw]
    wide = 0.5 * squared * (1.0 - size**-2.0) - dim * np.log(size)
    return np.asarray(np.logaddexp(np.log1p(-share), np.log(share) + wide))


def skew_ratio(w: np.ndarray, shape: float) -> np.ndarray:
    """Return the ratio of each dimension of a whitened error, for a gamma distribution of mean 0 and variance 1."""
    inside = 1.0 + w / np.sqrt(shape)
    with np.errstate(divide="ignore"):
        logarithm = np.log(np.maximum(inside, 0.0))
    return np.asarray((shape - 1.0) * logarithm - np.sqrt(shape) * w + 0.5 * w**2)
