"""Predictions with one known flaw each, in any dimension, for the power study.

Predictions resemble posteriors of a linear model with prior N(0, C): means vary about as the prior does, spreads are
half of the prior's and differ between predictions, and dimensions are correlated (C has 1/2 off its diagonal).
"""

from typing import Any

import numpy as np

from ..predictions import Gaussian, GaussianMixture
from .shapes import Gumbel, LogitNormal

_CORRELATION = 0.5

FLAWS = {
    "none": "calibrated",
    "location": "means off by `size` standard deviations in all dimensions",
    "scale": "standard deviations `size` times the true ones",
    "one location": "the same as location, in the first dimension only",
    "one scale": "the same as scale, in the first dimension only",
    "correlation": "a correlation of `size` in place of 1/2",
    "shrinkage": "means `size` times the true ones",
    "location by x": "means off by `size` standard deviations, up or down with the sign of the first mean",
    "scale by x": "standard deviations `size` times the true ones where the first mean is positive, else over `size`",
    "tails": "targets from Student's t with `size` degrees of freedom, of the predicted covariance",
    "skew": "targets from independent gamma noise of shape `size`, of the predicted mean and covariance",
    "outliers": "errors `size` times as large in 2 % of the rows, picked at random",
    "hidden wide": "errors `size` times as large in 20 % of the rows, which nothing in the prediction tells",
    "bias wave": "means off by up to `size` standard deviations: a wave over the range of the first mean",
    "spread wave": "standard deviations wrong by factors up to exp(`size`): a wave over the range of the first mean",
    "truncation": "whitened errors never beyond `size`",
    "one pair": "a correlation of `size` between the last two whitened errors in place of 0",
}
HIDDEN_SHARES = {"outliers": 0.02, "hidden wide": 0.2}  # of rows with larger errors


def _correlation(dim: int, correlation: float = _CORRELATION) -> np.ndarray:
    return (1.0 - correlation) * np.eye(dim) + correlation * np.ones((dim, dim))


def flawed(n: int, dim: int, flaw: str, size: float = 0.0, rng: Any = None) -> tuple[Gaussian, np.ndarray]:
    """Draw Gaussian predictions and targets with a flaw of the given size; see `FLAWS`.

    Examples
    --------
    >>> from scorecal.experiments import flawed
    >>> predictions, y = flawed(100, 3, "scale", 0.8, rng=0)
    >>> y.shape
    (100, 3)
    """
    if flaw not in FLAWS:
        raise ValueError(f"`flaw` must be one of {', '.join(map(repr, FLAWS))}, but is {flaw!r}.")
    if flaw == "one pair" and dim < 2:
        raise ValueError(f"`dim` must be at least 2 for the flaw 'one pair', but is {dim}.")
    rng = np.random.default_rng(rng)
    truth = _correlation(dim)
    root = np.linalg.cholesky(truth)
    mean = np.sqrt(0.75) * rng.standard_normal((n, dim)) @ root.T
    spread = 0.5 * np.exp(0.2 * rng.standard_normal((n, 1)))
    claimed, matrix, factor = mean, truth, np.ones((n, dim))
    noise = _noise(flaw, size, n, dim, rng)
    if flaw in ("location", "one location"):
        claimed = mean + size * spread * (np.ones(dim) if flaw == "location" else np.eye(dim)[0])
    elif flaw == "location by x":
        claimed = mean + size * spread * np.sign(mean[:, :1])
    elif flaw == "shrinkage":
        claimed = size * mean
    elif flaw == "scale":
        factor = size * factor
    elif flaw == "one scale":
        factor = np.where(np.arange(dim) == 0, size, 1.0) * factor
    elif flaw == "scale by x":
        factor = np.where(mean[:, :1] > 0, size, 1.0 / size) * factor
    elif flaw == "spread wave":
        factor = np.exp(size * wave(mean)) * factor
    elif flaw == "correlation":
        matrix = _correlation(dim, size)
    sd = spread * factor
    y = mean + spread * (noise @ root.T)
    if flaw == "bias wave":  # of the targets, so that it follows what is predicted
        y = y - size * wave(claimed) * spread
    return Gaussian(claimed, covariance=sd[:, :, None] * sd[:, None, :] * matrix), y


def wave(mean: np.ndarray) -> np.ndarray:
    """Return a wave between -1 and 1 over the range of the first mean, (n, 1): it has no mean and no slope in ranks."""
    from scipy.special import ndtr

    return np.cos(2.0 * np.pi * ndtr(mean[:, :1] / np.sqrt(0.75)))  # type: ignore[no-any-return]


def _noise(flaw: str, size: float, n: int, dim: int, rng: np.random.Generator) -> np.ndarray:
    """Return whitened errors, (n, dim): of mean 0 and covariance I, unless these are the flaw."""
    from scipy.special import ndtr, ndtri

    if flaw == "skew":
        return np.asarray((rng.gamma(size, size=(n, dim)) - size) / np.sqrt(size))
    noise = rng.standard_normal((n, dim))
    if flaw == "tails":
        noise = noise / np.sqrt(rng.chisquare(size, (n, 1)) / (size - 2.0))
    elif flaw in HIDDEN_SHARES:
        noise = np.where(rng.random((n, 1)) < HIDDEN_SHARES[flaw], size, 1.0) * noise
    elif flaw == "truncation":
        noise = ndtri(ndtr(-size) + (1.0 - 2.0 * ndtr(-size)) * ndtr(noise))
    elif flaw == "one pair":
        noise[:, -1] = size * noise[:, -2] + np.sqrt(1.0 - size**2) * noise[:, -1]
    return noise


def modes(
    n: int, dim: int, weight: float = 0.5, separation: float = 4.0, scale: float = 1.0, rng: Any = None
) -> tuple[GaussianMixture, np.ndarray]:
    """Draw targets from two unit Gaussians along the first dimension, the first of weight `weight`, predicted as 1/2.

    `separation` is the distance between their means, `scale` their predicted standard deviation.

    Examples
    --------
    >>> from scorecal.experiments import modes
    >>> predictions, y = modes(100, 1, 0.7, rng=0)
    """
    rng = np.random.default_rng(rng)
    centre = 2.0 * rng.standard_normal((n, 1, dim))
    shift = 0.5 * separation * np.eye(dim)[0]
    means = np.concatenate([centre + shift, centre - shift], axis=1)
    chosen = np.where(rng.random((n, 1)) < weight, 0, 1)
    y = np.take_along_axis(means, chosen[:, :, None], axis=1)[:, 0, :] + rng.standard_normal((n, dim))
    return GaussianMixture(np.full((n, 2), 0.5), means, np.full((n, 2), scale)), y


def skewed(n: int, dim: int, flaw: str, size: float = 0.0, rng: Any = None) -> tuple[Gumbel, np.ndarray]:
    """Draw Gumbel predictions and targets with a flaw: "none", "location" or "scale".

    Examples
    --------
    >>> from scorecal.experiments import skewed
    >>> predictions, y = skewed(100, 2, "scale", 0.8, rng=0)
    """
    if flaw not in ("none", "location", "scale"):
        raise ValueError(f"`flaw` must be 'none', 'location' or 'scale', but is {flaw!r}.")
    rng = np.random.default_rng(rng)
    mean = np.sqrt(0.75) * rng.standard_normal((n, dim)) @ np.linalg.cholesky(_correlation(dim)).T
    std = 0.5 * np.exp(0.2 * rng.standard_normal((n, dim)))
    y = Gumbel(mean, std).sample(1, rng)[0]
    return Gumbel(mean + (size * std if flaw == "location" else 0.0), std * (size if flaw == "scale" else 1.0)), y


def bounded(n: int, dim: int, flaw: str, size: float = 0.0, rng: Any = None) -> tuple[LogitNormal, np.ndarray]:
    """Draw predictions on the unit cube, and targets, whose logits are those of `flawed`.

    Examples
    --------
    >>> from scorecal.experiments import bounded
    >>> predictions, y = bounded(100, 2, "location", 0.3, rng=0)
    >>> bool(((y > 0) & (y < 1)).all())
    True
    """
    logits, y = flawed(n, dim, flaw, size, rng)
    return LogitNormal(logits), 1.0 / (1.0 + np.exp(-y))
