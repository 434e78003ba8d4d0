"""Predictions from distributions of skpro, which sktime's `predict_proba` returns too."""

from collections.abc import Callable
from typing import Any

import numpy as np

from ..cdf import CdfFunction
from ..gaussian import Gaussian
from ..samples import Samples, from_samples
from .dispatch import comes_from

_NORMAL_QUARTILE = 0.6744897501960817  # the third one of a standard Gaussian


def from_skpro(distribution: Any) -> Gaussian | CdfFunction | Samples:
    """Predictions from a distribution of skpro, as `predict_proba` of skpro and sktime returns it.

    Parameters
    ----------
    distribution : skpro.distributions.base.BaseDistribution
        Of shape (n, d): a row for each prediction, independent columns.

    Returns
    -------
    Gaussian, Samples or CdfFunction
        `Gaussian` for a `Normal`; `Samples` for an `Empirical` whose draws have equal weights; otherwise the
        distribution function serves the tests, with its jumps where there are any.

    Examples
    --------
    >>> import numpy as np, scorecal as sc
    >>> from skpro.distributions import Laplace, Normal
    >>> mean = np.linspace(-1.0, 1.0, 100)[:, None]
    >>> sc.from_skpro(Normal(mean, 0.5))
    Gaussian(n=100, dim=1, isotropic)
    >>> y = mean + np.random.default_rng(0).laplace(size=(100, 1))
    >>> sc.calibration_test(sc.from_skpro(Laplace(mean, 1.0)), y, rng=0).rejects()
    False
    """
    kind = type(distribution).__name__
    if not comes_from(distribution, "skpro.distributions"):
        raise TypeError(f"`distribution` must be a distribution of skpro, but is a {kind}.")
    shape = tuple(distribution.shape)
    if len(shape) != 2 or 0 in shape:
        raise ValueError(
            f"`distribution` must have shape (n, d), a row for each prediction, but is a {kind} of shape {shape}. "
            "Likely cause: parameters that are numbers; give columns, such as `Normal(mean[:, None], std[:, None])`."
        )
    if comes_from(distribution, "skpro.distributions.normal") and kind == "Normal":
        return Gaussian(*(_array(part) for part in (distribution.mean(), distribution.var() ** 0.5)))
    if kind == "Empirical" and distribution.weights is None:
        return from_samples(_members(distribution))
    location, scale = _centres(distribution)
    jumps = distribution.get_tag("distr:measuretype") != "continuous"
    below = _below if jumps else None
    return CdfFunction(_cdf(distribution), mean=location, scale=scale, below=below and below(distribution))


def _cdf(distribution: Any) -> Callable[[np.ndarray], np.ndarray]:
    return lambda y: _array(distribution.cdf(y))


def _below(distribution: Any) -> Callable[[np.ndarray], np.ndarray]:
    """P(Y < y) of a distribution that may jump: up to the largest number below."""
    return lambda y: _array(distribution.cdf(np.nextafter(y, -np.inf)))


def _members(distribution: Any) -> np.ndarray:
    """Return draws (n, m, d); the first level of their index numbers the draws, the others are the rows."""
    rows = distribution.index
    each = distribution.spl.groupby(level=0, sort=False)
    return np.stack([part.droplevel(0).reindex(rows).to_numpy(dtype=np.float64) for _, part in each], axis=1)


def _centres(distribution: Any) -> tuple[np.ndarray, np.ndarray]:
    """Return means and standard deviations where they are known exactly; otherwise medians and quartiles."""
    if {"mean", "var"} <= set(distribution.get_tag("capabilities:exact")):
        mean, deviation = _array(distribution.mean()), np.sqrt(_array(distribution.var()))
        if np.all(np.isfinite(mean) & np.isfinite(deviation)):
            return mean, deviation
    low, middle, high = (_array(distribution.ppf(np.full(distribution.shape, p))) for p in (0.25, 0.5, 0.75))
    return middle, (high - low) / (2.0 * _NORMAL_QUARTILE)


def _array(frame: Any) -> np.ndarray:
    return np.asarray(frame, dtype=np.float64)
