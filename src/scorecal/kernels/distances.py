"""Squared Hilbertian distances D(P_i, P_j), for a list of pairs or for a block of rows and columns."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np

from .._arrays import Array, array_namespace, like
from ..predictions import Gaussian as GaussianPredictions
from .radial import Radial

__all__ = ["Distance", "Euclidean", "GaussianMMD", "SampleMMD"]


class Distance(Protocol):
    """Squared distances; `floats_per_pair` is the working memory that one pair needs."""

    @property
    def n(self) -> int: ...

    @property
    def floats_per_pair(self) -> int: ...

    def pairs(self, i: Array, j: Array) -> Array:
        """Distances of the pairs (i_k, j_k), given as two integer arrays."""
        ...

    def block(self, rows: slice, cols: slice) -> Array:
        """Distances of all rows to all columns."""
        ...


@dataclass(frozen=True, eq=False)
class Euclidean:
    """Distances between finite embeddings, the rows of `features` (n, p)."""

    features: Array

    @property
    def n(self) -> int:
        return int(self.features.shape[0])

    @property
    def floats_per_pair(self) -> int:
        return 3 * int(self.features.shape[1])

    def pairs(self, i: Array, j: Array) -> Array:
        xp = array_namespace(self.features)
        return xp.sum((xp.take(self.features, i, axis=0) - xp.take(self.features, j, axis=0)) ** 2, axis=-1)

    def block(self, rows: slice, cols: slice) -> Array:
        xp = array_namespace(self.features)
        return xp.sum((self.features[rows, None, :] - self.features[None, cols, :]) ** 2, axis=-1)


@dataclass(frozen=True, eq=False)
class GaussianMMD:
    """Exact MMD^2 between Gaussian predictions, Gaussian ground kernel of bandwidth `ground`."""

    predictions: GaussianPredictions
    ground: float

    @property
    def n(self) -> int:
        return self.predictions.n

    @property
    def floats_per_pair(self) -> int:
        d = self.predictions.dim
        return 6 * d if self.predictions.scale is not None else 4 * d * d + 4 * d

    def pairs(self, i: Array, j: Array) -> Array:
        xp = array_namespace(self.predictions.mean)
        mean, spread = self.predictions.mean, self._spread

        def take(a: Array, k: Array) -> Array:
            return xp.take(a, k, axis=0)

        return self._squared(take(mean, i), take(mean, j), take(spread, i), take(spread, j))

    def block(self, rows: slice, cols: slice) -> Array:
        mean, spread = self.predictions.mean, self._spread
        return self._squared(mean[rows, None, :], mean[None, cols, :], spread[rows, None, ...], spread[None, cols, ...])

    @property
    def _spread(self) -> Array:
        p = self.predictions
        return p.covariance if p.scale is None else p.scale**2

    def _squared(self, mean: Array, mean2: Array, spread: Array, spread2: Array) -> Array:
        xp = array_namespace(mean)
        zero = 0.0 * mean
        squared = (
            self._expected(zero, spread + spread)
            + self._expected(0.0 * mean2, spread2 + spread2)
            - 2.0 * self._expected(mean - mean2, spread + spread2)
        )
        return xp.maximum(squared, xp.zeros_like(squared))

    def _expected(self, shift: Array, spread: Array) -> Array:
        """E l(X, X') for X - X' ~ N(shift, spread)."""
        xp = array_namespace(shift)
        tau2 = self.ground**2
        if self.predictions.scale is not None:
            log_det = xp.sum(xp.log1p(spread / tau2) + 0.0 * shift, axis=-1)
            quadratic = xp.sum(shift**2 / (tau2 + spread), axis=-1)
        else:
            total = spread / tau2 + like(np.eye(self.predictions.dim), spread)
            log_det = xp.linalg.slogdet(total)[1]
            quadratic = xp.sum(shift * xp.linalg.solve(total, shift[..., None])[..., 0], axis=-1) / tau2
        return xp.exp(-0.5 * (log_det + quadratic))


@dataclass(frozen=True, eq=False)
class SampleMMD:
    """MMD^2 between the empirical distributions of samples (n, S, d), any ground kernel.

    All S^2 terms are kept, the equal ones included: it is a distance between two real distributions, hence
    Hilbertian, where the unbiased estimate is not even non-negative.
    """

    samples: Array
    ground: Radial
    bandwidth: float

    @property
    def n(self) -> int:
        return int(self.samples.shape[0])

    @property
    def floats_per_pair(self) -> int:
        return int(self.samples.shape[1]) ** 2 * (int(self.samples.shape[2]) + 3)

    def pairs(self, i: Array, j: Array) -> Array:
        xp = array_namespace(self.samples)
        return self._squared(xp.take(self.samples, i, axis=0), xp.take(self.samples, j, axis=0))

    def block(self, rows: slice, cols: slice) -> Array:
        return self._squared(self.samples[rows, None, ...], self.samples[None, cols, ...])

    def _squared(self, x: Array, x2: Array) -> Array:
        xp = array_namespace(x)
        squared = self._mean(x, x) + self._mean(x2, x2) - 2.0 * self._mean(x, x2)
        return xp.maximum(squared, xp.zeros_like(squared))

    def _mean(self, x: Array, x2: Array) -> Array:
        xp = array_namespace(x)
        t = xp.sum((x[..., :, None, :] - x2[..., None, :, :]) ** 2, axis=-1) / self.bandwidth**2
        return xp.mean(self.ground.profile(t)[0], axis=(-2, -1))
