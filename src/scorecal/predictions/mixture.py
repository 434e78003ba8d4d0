"""Mixtures of isotropic or diagonal Gaussians."""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from .._lib.arrays import (
    Array,
    array_namespace,
    as_arrays,
    as_float,
    check_finite,
    device_of,
    full_product,
    has_values,
    like,
)
from .._lib.linalg import diagonals
from .capabilities import moments_of
from .categorical import check_sums_to_one
from .noisy import Noisy, check_level
from .protocol import describe


@dataclass(frozen=True, eq=False)
class GaussianMixture:
    """n predictions, each a mixture of K Gaussians with isotropic or diagonal covariances.

    Parameters
    ----------
    weights : array_like, shape (n, K)
        Non-negative, each row summing to one.
    means : array_like, shape (n, K, d)
        Component means; (n, K) is taken as d = 1.
    scales : array_like, shape (n, K) or (n, K, d)
        Component standard deviations.

    Examples
    --------
    >>> import scorecal as sc
    >>> predictions = sc.GaussianMixture([[0.5, 0.5]], [[[-2.0], [2.0]]], [[1.0, 1.0]])
    >>> predictions.score(predictions.means[:, 0, :] * 0.0)
    array([[0.]])
    """

    weights: Array
    means: Array
    scales: Array

    def __post_init__(self) -> None:
        weights, means, scales = as_arrays(weights=self.weights, means=self.means, scales=self.scales)
        means = means[..., None] if means.ndim == 2 else means
        if means.ndim != 3 or 0 in means.shape:
            raise ValueError(
                f"`means` must have shape (n, K, d) or (n, K), none of them 0, but has {tuple(means.shape)}."
            )
        n, k, d = means.shape
        if tuple(weights.shape) != (n, k):
            raise ValueError(
                f"`weights` must have shape (n, K) = ({n}, {k}) to fit `means`, but has {tuple(weights.shape)}."
            )
        if tuple(scales.shape) not in {(n, k), (n, k, 1), (n, k, d)}:
            raise ValueError(
                f"`scales` must have shape (n, K) = ({n}, {k}) or (n, K, d) = ({n}, {k}, {d}) to fit `means`, "
                f"but has {tuple(scales.shape)}."
            )
        check_finite("weights", weights)
        check_finite("means", means)
        check_finite("scales", scales)
        check_sums_to_one("weights", weights)
        _check_positive(scales)
        for name, array in (("weights", weights), ("means", means), ("scales", scales)):
            object.__setattr__(self, name, array[..., None] if name == "scales" and array.ndim == 2 else array)

    def __repr__(self) -> str:
        return describe(self, f"{self.weights.shape[1]} components")

    @property
    def n(self) -> int:
        return int(self.means.shape[0])

    @property
    def dim(self) -> int:
        return int(self.means.shape[2])

    def _component_log_probs(self, y: Array) -> Array:
        """Log of weight times density, shape (..., n, K)."""
        xp = array_namespace(self.means)
        z = (y[..., None, :] - self.means) / self.scales
        log_scale = xp.sum(xp.log(self.scales) + xp.zeros_like(self.means), axis=-1)
        log_density = -0.5 * xp.sum(z**2, axis=-1) - log_scale - 0.5 * self.dim * math.log(2 * math.pi)
        present = self.weights > 0
        log_weights = xp.log(xp.where(present, self.weights, xp.ones_like(self.weights)))
        return xp.where(present, log_weights + log_density, -xp.inf * xp.ones_like(log_density))

    def log_prob(self, y: Array) -> Array:
        """Log-density at `y`, broadcast against (n, d)."""
        xp = array_namespace(self.means)
        terms = self._component_log_probs(y)
        largest = xp.max(terms, axis=-1, keepdims=True)
        return largest[..., 0] + xp.log(xp.sum(xp.exp(terms - largest), axis=-1))

    def score(self, y: Array) -> Array:
        """Gradient of the log-density at `y`, broadcast against (n, d)."""
        xp = array_namespace(self.means)
        shares = self.shares(y)[..., None]
        pulls = (self.means - y[..., None, :]) / self.scales**2
        return xp.sum(xp.where(shares > 0, shares * pulls, xp.zeros_like(pulls)), axis=-2)

    def shares(self, y: Array) -> Array:
        """Probabilities that `y` comes from each component, (..., n, K)."""
        xp = array_namespace(self.means)
        terms = self._component_log_probs(y)
        shares = xp.exp(terms - xp.max(terms, axis=-1, keepdims=True))
        return shares / xp.sum(shares, axis=-1, keepdims=True)

    def sample(self, n_samples: int, rng: Any = None) -> Array:
        """Draws of shape (n_samples, n, d)."""
        xp = array_namespace(self.means)
        n, k, d = self.means.shape
        rng = np.random.default_rng(rng)
        noise = like(rng.standard_normal((n_samples, n, d)), self.means)
        u = like(rng.random((n_samples, n, 1)), self.means)
        edges = xp.cumulative_sum(self.weights, axis=-1)
        chosen = xp.sum(xp.astype(u * edges[:, -1:] >= edges[:, :-1], xp.int32), axis=-1, dtype=xp.int32)
        index = xp.reshape(chosen + xp.asarray(k * np.arange(n, dtype=np.int32), device=device_of(chosen)), (-1,))

        def pick(parts: Array) -> Array:
            flat = xp.take(xp.reshape(parts, (n * k, -1)), index, axis=0)
            return xp.reshape(flat, (n_samples, n, -1))

        return pick(self.means) + pick(self.scales) * noise

    def components(self) -> tuple[Array, Array, Array]:
        """Weights (n, K), means (n, K, d) and variances (n, K, 1 or d)."""
        return self.weights, self.means, self.scales**2

    def moments(self) -> tuple[Array, Array]:
        """Means (n, d) and covariances (n, d, d)."""
        xp = array_namespace(self.means)
        weights = self.weights[..., None]
        mean = xp.sum(weights * self.means, axis=-2)
        spread = self.means - mean[:, None, :]
        variances = xp.sum(weights * (self.scales**2 + xp.zeros_like(self.means)), axis=-2)
        between = full_product((weights * spread).mT, spread)
        return mean, between + variances[..., None] * like(np.eye(self.dim), self.means)

    def noisy(self, level: float) -> Noisy:
        """Predictions of targets with noise of `level` predictive standard deviations in each dimension.

        Tests draw the noise and add it to the targets; give them the targets without noise.
        """
        check_level(level)
        xp = array_namespace(self.means)
        noise_sd = level * xp.sqrt(diagonals(moments_of(self)[1]))
        scales = xp.sqrt(self.scales**2 + noise_sd[:, None, :] ** 2)
        return Noisy(GaussianMixture(self.weights, self.means, scales), noise_sd, level)


def _check_positive(scales: Array) -> None:
    xp = array_namespace(scales)
    if has_values(scales) and not bool(xp.all(scales > 0)):
        raise ValueError(
            f"`scales` must be positive, but the smallest is {as_float(xp.min(scales)):.4g}. Standard deviations are "
            "expected, not variances or logarithms."
        )
    with np.errstate(over="ignore"):
        variances = scales**2
    if has_values(scales) and not bool(xp.all((variances > 0) & xp.isfinite(variances))):
        raise ValueError(
            "`scales` must be positive and finite, also when squared, but range from "
            f"{as_float(xp.min(scales)):.4g} to {as_float(xp.max(scales)):.4g} in {scales.dtype}. Rescale `means`, "
            "`scales` and `y`."
        )
