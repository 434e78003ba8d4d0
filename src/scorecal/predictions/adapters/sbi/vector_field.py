"""Posteriors of sbi given by a vector field (NPSE, FMPE), at one noise level."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, replace
from numbers import Real
from typing import Any

import numpy as np

from ...._lib.arrays import Array, like
from ...capabilities import Prior
from ...protocol import describe
from ..distribution_support import support_of
from ..torch import ROWS_AT_ONCE, seeded_draws
from .density import as_observations, embedded, frozen_copy

_N_PRIOR_DRAWS, _SEED = 10_000, 0


def noised_posterior(posterior: Any, x: Any, noise_level: float) -> NoisedPosterior:
    """Return the distributions of mean_t theta + std_t e for theta from the posteriors at `x` and Gaussian e.

    At time t, std_t / mean_t is `noise_level` prior standard deviations: the noise at a given time differs between
    diffusions by orders of magnitude.
    """
    estimator = frozen_copy(posterior.potential_fn.vector_field_estimator)
    if not (estimator.SCORE_DEFINED and estimator.MARGINALS_DEFINED):
        raise TypeError(f"`posterior` uses a {type(estimator).__name__}, which defines no score.")
    x = as_observations(x, estimator, estimator.condition_shape)
    prior = posterior.potential_fn.prior
    draws = seeded_draws(prior, _N_PRIOR_DRAWS, _SEED).to(x)
    draws = estimator.to_z(draws) if estimator.compose_enabled else draws
    spreads = draws.std(dim=0)
    prior_sd = float(spreads.log().mean().exp())
    time = _time_of(estimator, noise_level, prior_sd)
    if spreads.max() > 10 * spreads.min():
        warnings.warn(
            f"`posterior` has a prior whose standard deviations differ much between parameters, {spreads.tolist()}; "
            "the noise, which is the same for all, is large for some and small for others. Train on parameters in "
            "comparable units.",
            stacklevel=3,
        )
    return NoisedPosterior(*embedded(estimator, x), x, float(noise_level), time, prior, prior_sd)


def _time_of(estimator: Any, noise_level: float, prior_sd: float) -> float:
    """Return the time at a noise level, which is unique: the ratio of noise to signal grows with time."""
    from scipy.optimize import brentq

    def level(time: float) -> float:
        t = next(estimator.parameters()).new_full((1,), time)
        return float(estimator.std_fn(t) / estimator.mean_t_fn(t)) / prior_sd

    low, high = float(estimator.t_min), 0.99 * float(estimator.t_max)
    if not isinstance(noise_level, Real) or not level(low) < noise_level < level(high):
        raise ValueError(
            f"`noise_level` must lie between {level(low):.3g} and {level(high):.3g} standard deviations of the prior, "
            f"the range of the diffusion, but is {noise_level!r}."
        )
    return float(brentq(lambda time: level(time) - noise_level, low, high))


@dataclass(frozen=True, eq=False)
class NoisedPosterior:
    """Predictions of parameters with noise, from a posterior of NPSE or FMPE."""

    estimator: Any
    features: Array
    x: Array
    noise_level: float
    time: float
    distribution: Any
    prior_sd: float
    draws: Array | None = None  # (m, n, dim) without noise, to tell location and spread from

    @property
    def n(self) -> int:
        return int(self.x.shape[0])

    @property
    def dim(self) -> int:
        return int(self.estimator.input_shape[0])

    @property
    def noise(self) -> str:
        return f"noised by {self.noise_level:g} prior sd (t = {self.time:.3g})"

    @property
    def prior(self) -> Prior:
        return _NoisedPrior(self)

    @property
    def spread_of(self) -> Array | None:
        """Draws (m, n, dim) with the noise, if there are any."""
        return None if self.draws is None else self.noised(self.draws, np.random.default_rng(_SEED))

    def __repr__(self) -> str:
        return describe(self, self.noise)

    def score(self, theta: Array) -> Array:
        """Scores of the noised posteriors at parameters that `noised` returned."""
        import torch

        points = theta.broadcast_to(*theta.shape[:-2], self.n, self.dim).reshape(-1, self.n, self.dim)
        parts = points.to(self.x).split(max(1, ROWS_AT_ONCE // self.n))
        with torch.no_grad():
            scores = [self.estimator.score(part, condition=self.features, t=self._time) for part in parts]
        # With theta_t = (1 - t) theta + (t + c) e, sbi's score of flows is 1 + c times that of theta_t.
        excess = 1.0 + getattr(self.estimator, "noise_scale", 0.0)
        return (torch.cat(scores) / excess).reshape(*theta.shape[:-2], self.n, self.dim).to(theta.dtype)

    def noised(self, theta: Array, rng: np.random.Generator) -> Array:
        """Add the noise of the diffusion to parameters, which must lie inside the support of the prior."""
        support = support_of(self.distribution)
        if support is not None and not bool(support.contains(theta).all()):
            raise ValueError(f"`y` must lie inside the support of the prior, {support!r}, its boundary excluded.")
        if self.estimator.compose_enabled:
            theta = self.estimator.to_z(theta)
        factors = (self.estimator.mean_t_fn(self._time), self.estimator.std_fn(self._time))
        mean, std = (like(factor, theta).reshape(()) for factor in factors)
        return mean * theta + std * like(rng.standard_normal(tuple(theta.shape)), theta)

    def noisy(self, level: float) -> NoisedPosterior:
        """Return the same posteriors at another noise level, in standard deviations of the prior."""
        return replace(self, noise_level=float(level), time=_time_of(self.estimator, level, self.prior_sd))

    @property
    def _time(self) -> Array:
        return self.x.new_full((1,), self.time)


@dataclass(frozen=True, eq=False)
class _NoisedPrior:
    """The prior, with the noise of the diffusion added to its draws."""

    posterior: NoisedPosterior
    n: int = 1

    @property
    def dim(self) -> int:
        return self.posterior.dim

    def sample(self, n_samples: int, rng: Any = None) -> Array:
        rng = np.random.default_rng(rng)
        return self.posterior.noised(seeded_draws(self.posterior.distribution, n_samples, rng)[:, None, :], rng)
