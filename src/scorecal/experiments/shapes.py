"""Predictions of other than Gaussian shape, with known distribution functions: on the unit cube, and skewed."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from .._lib.arrays import Array
from ..predictions import Box, Gaussian


@dataclass(frozen=True, eq=False)
class LogitNormal:
    """Predictions on (0, 1)^d with Gaussian logits."""

    logits: Gaussian

    @property
    def n(self) -> int:
        return self.logits.n

    @property
    def dim(self) -> int:
        return self.logits.dim

    @property
    def support(self) -> Box:
        return Box(0.0, 1.0)

    def score(self, y: Array) -> Array:
        slope = 1.0 / (y * (1.0 - y))
        return slope * self.logits.score(np.log(y / (1.0 - y))) - (1.0 - 2.0 * y) * slope

    def log_prob(self, y: Array) -> Array:
        return self.logits.log_prob(np.log(y / (1.0 - y))) - np.sum(np.log(y * (1.0 - y)), axis=-1)

    def sample(self, n_samples: int, rng: Any = None) -> Array:
        return 1.0 / (1.0 + np.exp(-self.logits.sample(n_samples, rng)))


@dataclass(frozen=True, eq=False)
class Gumbel:
    """Independent Gumbel distributions, whose scores are skewed, with means and standard deviations (n, d)."""

    mean: np.ndarray
    std: np.ndarray

    @property
    def n(self) -> int:
        return len(self.mean)

    @property
    def dim(self) -> int:
        return int(self.mean.shape[1])

    @property
    def _scale(self) -> np.ndarray:
        return np.asarray(self.std * (np.sqrt(6.0) / np.pi))

    def _standard(self, y: Array) -> Array:
        return (y - self.mean) / self._scale + np.euler_gamma

    def score(self, y: Array) -> Array:
        return np.expm1(-self._standard(y)) / self._scale

    def log_prob(self, y: Array) -> Array:
        x = self._standard(y)
        return np.sum(-x - np.exp(-x) - np.log(self._scale), axis=-1)

    def sample(self, n_samples: int, rng: Any = None) -> Array:
        drawn = np.random.default_rng(rng).gumbel(size=(n_samples, *self.mean.shape))
        return self.mean + self._scale * (drawn - np.euler_gamma)

    def moments(self) -> tuple[np.ndarray, np.ndarray]:
        return self.mean, self.std[:, :, None] ** 2 * np.eye(self.dim)

    def cdf(self, y: Array) -> Array:
        """Distribution function of each dimension, (n, d)."""
        return np.exp(-np.exp(-self._standard(y)))
