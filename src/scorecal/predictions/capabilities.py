"""Optional methods of predictions, each a protocol: any class with the method can be used where it is needed.

The class itself must define them: from Python 3.12 on, methods that `__getattr__` passes on are not seen.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

import numpy as np

from .._lib.arrays import Array, array_namespace
from .._lib.dimensions import are_many
from .supports import Support, bounded_support

if TYPE_CHECKING:
    from .protocol import Predictions


@runtime_checkable
class Samplable(Protocol):
    """Predictions that can be sampled: `sample(n_samples, rng)` returns (n_samples, n, dim)."""

    def sample(self, n_samples: int, rng: Any = None) -> Array: ...


@runtime_checkable
class HasMoments(Protocol):
    """Predictions with moments: `moments()` returns means (n, dim) and covariances (n, dim, dim)."""

    def moments(self) -> tuple[Array, Array]: ...


@runtime_checkable
class HasDensity(Protocol):
    """Predictions with log-densities, up to a constant for each: `log_prob(y)` broadcasts as `score` does."""

    def log_prob(self, y: Array) -> Array: ...


@runtime_checkable
class HasComponents(Protocol):
    """Predictions that are mixtures of Gaussians.

    `components()` returns weights (n, K), means (n, K, dim) and variances (n, K, 1 or dim) or covariances.
    """

    def components(self) -> tuple[Array, Array, Array]: ...


@runtime_checkable
class Noisable(Protocol):
    """Predictions that can predict targets with Gaussian noise: `noisy(level)` returns `Noised` predictions."""

    def noisy(self, level: float) -> Predictions: ...


@runtime_checkable
class Noised(Protocol):
    """Predictions of targets with noise: `noised(y, rng)` adds it to targets, and `noise` describes it in words."""

    @property
    def noise(self) -> str: ...

    def noised(self, y: Array, rng: np.random.Generator) -> Array: ...


@runtime_checkable
class HasCdf(Protocol):
    """Predictions known by the distribution function of each dimension, which may jump, and in need of no scores.

    `cdf_bounds(y)` returns P(Y < y) and P(Y <= y), each (n, dim); `moments()` as for `HasMoments`.
    """

    @property
    def n(self) -> int: ...

    @property
    def dim(self) -> int: ...

    def cdf_bounds(self, y: np.ndarray) -> tuple[np.ndarray, np.ndarray]: ...

    def moments(self) -> tuple[Array, Array]: ...


@runtime_checkable
class Rankable(Protocol):
    """Predictions that targets can be ranked in: `ranked(y, rng)` returns predictions with scores, and their targets.

    If the predictions are calibrated, these targets are draws from those predictions.
    """

    @property
    def n(self) -> int: ...

    @property
    def dim(self) -> int: ...

    def ranked(self, y: np.ndarray, rng: np.random.Generator) -> tuple[Predictions, np.ndarray]: ...


class Prior(Samplable, Protocol):
    """One distribution of targets before any prediction: a batch of one row that can be sampled."""

    @property
    def n(self) -> int: ...

    @property
    def dim(self) -> int: ...


def prior_of(predictions: Any) -> Prior | None:
    """Return the `prior` that the predictions carry, if any."""
    return getattr(predictions, "prior", None)


def spread_of(predictions: Any) -> Any:
    """Return draws (m, n, dim), or means and covariances, that tell where predictions without moments lie, if any.

    In place of covariances (n, dim, dim) there may be variances (n, dim).
    """
    return getattr(predictions, "spread_of", None)


def moments_of(predictions: Any) -> tuple[Array, Array]:
    """Return means (n, dim) and covariances (n, dim, dim); of many dimensions variances, where these are known alone.

    Variances are (n, dim), or (n, 1) where they are equal. Mixtures of many dimensions have variances only: what
    components far apart have in common is in all pairs of dimensions.
    """
    if are_many(predictions.dim):
        found = spread_of(predictions)
        if isinstance(found, tuple):
            return found
        parts = getattr(predictions, "convolved", predictions)  # of predictions with noise
        if isinstance(parts, HasComponents):
            weights, means, variances = parts.components()
            if variances.ndim == 3:
                return mixture_moments(weights, means, variances)
    moments: tuple[Array, Array] = predictions.moments()
    return moments


def mixture_moments(weights: Array, means: Array, variances: Array) -> tuple[Array, Array]:
    """Return means (n, dim) and variances, (n, dim) or (n, 1), of mixtures as `components()` gives them."""
    if means.shape[1] == 1:
        return means[:, 0, :], variances[:, 0, :]
    xp, shares = array_namespace(means), weights[..., None]
    mean = xp.sum(shares * means, axis=1)
    return mean, xp.sum(shares * (variances + (means - mean[:, None, :]) ** 2), axis=1)


def support_of(predictions: Any) -> Support | None:
    """Return the `support` that the predictions declare; None stands for all of R^dim. Raise if it is no support."""
    return bounded_support(getattr(predictions, "support", None))
