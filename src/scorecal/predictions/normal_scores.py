"""Normal scores of targets, and Gaussians that they are draws from."""

import numpy as np

from .gaussian import Gaussian

_LEAST = 1e-15  # targets that a prediction excludes count as 7.9 standard deviations away
_NARROWEST = 1e-3  # spreads, in units of the median one: some predictions have none at all, such as equal members


def normal_quantiles(below: np.ndarray, at: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Return the normal quantiles of uniform draws between the two probabilities of each target."""
    from scipy.special import ndtri

    u = below + (at - below) * rng.random(below.shape)
    return np.asarray(ndtri(np.clip(u, _LEAST, 1.0 - _LEAST)))


def as_gaussian(z: np.ndarray, location: np.ndarray, spread: np.ndarray) -> tuple[Gaussian, np.ndarray]:
    """Return Gaussians of these locations and spreads (n, dim), and targets that are z of their spreads away."""
    spread = positive(spread)
    return Gaussian(location, spread), location + spread * z


def positive(spread: np.ndarray) -> np.ndarray:
    """Return spreads of which none is next to nothing beside the others in its dimension; 1 where all are zero."""
    known = np.where(spread > 0, spread, np.nan)
    typical = np.ones(spread.shape[1])
    some = np.any(spread > 0, axis=0)
    typical[some] = np.nanmedian(known[:, some], axis=0)
    return np.asarray(np.maximum(spread, _NARROWEST * typical))
