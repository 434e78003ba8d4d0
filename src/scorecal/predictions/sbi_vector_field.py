"""Posteriors of sbi that are known by a vector field (NPSE, FMPE), at one noise level."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from .._arrays import Array, like
from .protocol import Prior, describe
from .sbi_density import as_observations, embedded, frozen_copy
from .torch_distribution import ROWS_AT_ONCE, seeded_draws

__all__ = ["NoisedPosterior", "noised_posterior"]


def noised_posterior(posterior: Any, x: Any, noise_level: float) -> NoisedPosterior:
    """The distributions of mean_t theta + std_t e for theta from the posteriors at `x` and Gaussian e."""
    estimator = frozen_copy(posterior.potential_fn.vector_field_estimator)
    if not (estimator.SCORE_DEFINED and estimator.MARGINALS_DEFINED):
        raise TypeError(f"`posterior` rests on a {type(estimator).__name__}, which defines no score.")
    if not isinstance(noise_level, float | int) or not estimator.t_min < noise_level < estimator.t_max:
        raise ValueError(
            f"`noise_level` must lie between {estimator.t_min:g} and {estimator.t_max:g}, the times of the diffusion, "
            f"but is {noise_level!r}."
        )
    x = as_observations(x, estimator, estimator.condition_shape)
    return NoisedPosterior(*embedded(estimator, x), x, float(noise_level), posterior.potential_fn.prior)


@dataclass(frozen=True, eq=False)
class NoisedPosterior:
    """What `from_sbi` returns for NPSE and FMPE."""

    estimator: Any
    features: Array
    x: Array
    noise_level: float
    distribution: Any

    @property
    def n(self) -> int:
        return int(self.x.shape[0])

    @property
    def dim(self) -> int:
        return int(self.estimator.input_shape[0])

    @property
    def noise(self) -> str:
        return f"noised at level {self.noise_level:g}"

    @property
    def prior(self) -> Prior:
        return _NoisedPrior(self)

    def __repr__(self) -> str:
        return describe(self, self.noise)

    def score(self, theta: Array) -> Array:
        """Scores of the noised posteriors, at `theta` in the coordinates of `noised`."""
        import torch

        points = theta.broadcast_to(*theta.shape[:-2], self.n, self.dim).reshape(-1, self.n, self.dim)
        parts = points.to(self.x).split(max(1, ROWS_AT_ONCE // self.n))
        with torch.no_grad():
            scores = [self.estimator.score(part, condition=self.features, t=self._time) for part in parts]
        return torch.cat(scores).reshape(*theta.shape[:-2], self.n, self.dim).to(theta.dtype)

    def noised(self, theta: Array, rng: np.random.Generator) -> Array:
        """Parameters with the noise of the diffusion."""
        if self.estimator.compose_enabled:
            theta = self.estimator.to_z(theta)
        factors = (self.estimator.mean_t_fn(self._time), self.estimator.std_fn(self._time))
        mean, std = (like(factor, theta).reshape(()) for factor in factors)
        return mean * theta + std * like(rng.standard_normal(tuple(theta.shape)), theta)

    @property
    def _time(self) -> Array:
        return self.x.new_full((1,), self.noise_level)


@dataclass(frozen=True, eq=False)
class _NoisedPrior:
    posterior: NoisedPosterior
    n: int = 1

    @property
    def dim(self) -> int:
        return self.posterior.dim

    def sample(self, n_samples: int, rng: Any = None) -> Array:
        rng = np.random.default_rng(rng)
        return self.posterior.noised(seeded_draws(self.posterior.distribution, n_samples, rng)[:, None, :], rng)
