"""Errors in units of their predictions: ranks, normal residuals of each dimension, and whitened ones.

If predictions are calibrated, ranks are uniform, residuals are standard normal, and whitened residuals are independent
of each other too, given the predictions.
"""

from typing import Any

import numpy as np

from ...predictions import Gaussian, GaussianMixture
from ..shapes import Gumbel, LogitNormal

_LEAST, _MOST = 1e-300, 1.0 - 2.0**-53


def ranks(predictions: Any, y: np.ndarray) -> np.ndarray:
    """Return distribution functions of the marginals at the targets, (n, d)."""
    from scipy.special import logit, ndtr

    if isinstance(predictions, Gumbel):
        return np.asarray(predictions.cdf(y))
    if isinstance(predictions, LogitNormal):
        return ranks(predictions.logits, logit(y))
    if isinstance(predictions, GaussianMixture):
        parts = ndtr((y[:, None, :] - predictions.means) / predictions.scales)
        return np.asarray(np.sum(predictions.weights[:, :, None] * parts, axis=1))
    return np.asarray(ndtr(standardised(predictions, y)))


def standardised(predictions: Any, y: np.ndarray) -> np.ndarray:
    """Return errors over standard deviations for Gaussians, otherwise normal quantiles of ranks, (n, d)."""
    from scipy.special import logit, ndtri

    if isinstance(predictions, LogitNormal):
        return standardised(predictions.logits, logit(y))
    if not isinstance(predictions, Gaussian):
        return np.asarray(ndtri(np.clip(ranks(predictions, y), _LEAST, _MOST)))
    mean, covariance = predictions.moments()
    return np.asarray((y - mean) / np.sqrt(np.diagonal(covariance, axis1=1, axis2=2)))


def whitened(predictions: Any, y: np.ndarray) -> np.ndarray:
    """Return L^-1 (y - m) for Gaussians of covariance L L', (n, d); dimensions of the others are independent."""
    from scipy.special import logit

    if isinstance(predictions, LogitNormal):
        return whitened(predictions.logits, logit(y))
    if not isinstance(predictions, Gaussian):
        return standardised(predictions, y)
    mean, covariance = predictions.moments()
    return solved(covariance, y - mean)


def solved(covariance: np.ndarray, vectors: np.ndarray) -> np.ndarray:
    """Return L^-1 v for each vector (n, d), with L the lower Cholesky factor of its covariance (n, d, d)."""
    return np.asarray(np.linalg.solve(np.linalg.cholesky(covariance), vectors[:, :, None])[:, :, 0])


def locations(predictions: Any) -> np.ndarray:
    """Return the predicted means, (n, d); of the logits on the unit cube."""
    return np.asarray(getattr(predictions, "logits", predictions).moments()[0])
