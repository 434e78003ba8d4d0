"""What some predictions offer beside scores: each capability is a protocol, asked for by name.

A class of yours that has the method has the capability, in every function that asks for it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

import numpy as np

from .._lib.arrays import Array

if TYPE_CHECKING:
    from .protocol import Predictions
    from .supports import Support


@runtime_checkable
class Samplable(Protocol):
    """Can be drawn from: `sample(n_samples, rng)` returns (n_samples, n, dim)."""

    def sample(self, n_samples: int, rng: Any = None) -> Array: ...


@runtime_checkable
class HasMoments(Protocol):
    """Knows its means (n, dim) and covariances (n, dim, dim): `moments()`."""

    def moments(self) -> tuple[Array, Array]: ...


@runtime_checkable
class HasDensity(Protocol):
    """Knows its log-densities up to a constant for each prediction: `log_prob(y)` broadcasts as `score` does."""

    def log_prob(self, y: Array) -> Array: ...


@runtime_checkable
class HasComponents(Protocol):
    """Is a mixture of Gaussians.

    `components()` returns weights (n, K), means (n, K, dim) and variances (n, K, 1 or dim) or covariances.
    """

    def components(self) -> tuple[Array, Array, Array]: ...


@runtime_checkable
class Noisable(Protocol):
    """Knows the distribution of targets with Gaussian noise added: `noisy(level)` returns `Noised` predictions."""

    def noisy(self, level: float) -> Predictions: ...


@runtime_checkable
class Noised(Protocol):
    """Predicts targets with noise: `noised(y, rng)` adds it to targets, and `noise` describes it in words."""

    @property
    def noise(self) -> str: ...

    def noised(self, y: Array, rng: np.random.Generator) -> Array: ...


class Prior(Samplable, Protocol):
    """One distribution of targets before any prediction: a batch of one row that can be sampled."""

    @property
    def n(self) -> int: ...

    @property
    def dim(self) -> int: ...


def prior_of(predictions: Any) -> Prior | None:
    """Return the `prior` that the predictions carry, if any."""
    prior: Prior | None = getattr(predictions, "prior", None)
    return prior


def support_of(predictions: Any) -> Support | None:
    """Return the `support` that the predictions declare; None stands for all of R^dim."""
    support: Support | None = getattr(predictions, "support", None)
    return support
