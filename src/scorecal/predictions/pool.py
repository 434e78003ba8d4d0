"""Targets among the members that predict them: any of the pool may be the target, if predictions are calibrated."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from .._lib.arrays import Array
from .._lib.cached import cached_property
from .._lib.dimensions import are_many
from .gaussian import Gaussian
from .normal_scores import normal_quantiles
from .protocol import describe

_ALL = slice(None)


def ranks_in_pool(pool: np.ndarray, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Return ranks from 0 of each value of (n, m + 1, d) among those of its row, ties at random, and their numbers."""
    ties = rng.random(pool.shape)
    order = np.lexsort((ties, pool), axis=1)  # NaN comes last
    ranks = np.empty(pool.shape)
    places = np.broadcast_to(np.arange(float(pool.shape[1]))[:, None], pool.shape)
    np.put_along_axis(ranks, order, places, axis=1)
    return ranks, np.sum(~np.isnan(pool), axis=1, keepdims=True).astype(float)


@dataclass(frozen=True, eq=False)
class Pool:
    """Predictions that the target is one of the pool (n, m + 1, d) of members and target, by ranks in each dimension.

    Scores are those of Gaussians with the locations, spreads and, in few dimensions, correlations of the ranks; draws
    are not Gaussian.
    """

    pool: np.ndarray
    ranks: np.ndarray  # (n, m + 1, d)
    location: np.ndarray  # (n, d)
    spread: np.ndarray  # (n, d)
    seed: int  # of ties between summaries

    @property
    def n(self) -> int:
        return len(self.pool)

    @property
    def dim(self) -> int:
        return int(self.pool.shape[2])

    def __repr__(self) -> str:
        return describe(self, f"{self.pool.shape[1]} values")

    def score(self, y: Array) -> Array:
        """Scores of the Gaussians, broadcast against (n, dim)."""
        return self._gaussian.score(y)

    def moments(self) -> tuple[Array, Array]:
        """Locations, and covariances, of targets."""
        return self._gaussian.moments()

    @property
    def spread_of(self) -> tuple[Array, Array] | None:
        """Locations and variances, of many dimensions; None of few."""
        return (self.location, self.spread**2) if are_many(self.dim) else None

    def sample(self, n_samples: int, rng: Any = None) -> np.ndarray:
        """Draws (n_samples, n, dim): ranks of a random one of each pool, as normal scores."""
        generator = np.random.default_rng(rng)
        chosen = np.floor(generator.random((n_samples, self.n)) * self._sizes).astype(int)
        rows, sizes = np.arange(self.n), self._sizes[:, None]
        found = self.ranks[rows, self._order[rows, chosen], :]
        below, at = found / sizes, np.minimum(found + 1.0, sizes) / sizes
        return np.asarray(self.location + self.spread * normal_quantiles(below, at, generator))

    def summaries(self, y: np.ndarray, rows: slice = _ALL) -> np.ndarray:
        """Normal scores of summaries of targets (..., rows, d) among their pools, and their squares, (..., rows, q).

        Summaries are the mean, the spread and the largest of all dimensions, and the distance from the others of the
        pool (Allen, Ziegel, Ginsbourger 2024). All have mean zero if each of the pool may be the target.
        """
        from scipy.special import ndtr

        share = ndtr((y[..., 0] - self.location[rows, 0]) / self.spread[rows, 0])
        k = np.minimum(np.floor(share * self._sizes[rows]), self._sizes[rows] - 1.0).astype(int)
        here = np.arange(y.shape[-2])
        return np.asarray(self._summaries[rows][here, self._order[rows][here, k], :])

    @cached_property
    def _sizes(self) -> np.ndarray:
        return np.asarray(np.sum(~np.isnan(self.pool[:, :, 0]), axis=1))

    @cached_property
    def _order(self) -> np.ndarray:
        """Which of each pool has which rank in the first dimension, (n, m + 1)."""
        return np.asarray(np.argsort(self.ranks[:, :, 0], axis=1))

    @cached_property
    def _summaries(self) -> np.ndarray:
        values = (self.pool - self.location[:, None, :]) / self.spread[:, None, :]
        distance = np.zeros(values.shape[:2])
        for k in range(values.shape[1]):
            distance += np.nan_to_num(np.linalg.norm(values - values[:, k : k + 1, :], axis=2))
        distance = np.where(np.isnan(values[:, :, 0]), np.nan, distance)
        parts = [np.mean(values, axis=2), np.std(values, axis=2), np.max(values, axis=2), distance]
        every = np.stack(parts, axis=2)
        ranks, sizes = ranks_in_pool(every, np.random.default_rng(self.seed))
        means = _mean_scores(ranks, sizes)
        squares = means**2 - np.sum(means**2, axis=1, keepdims=True) / sizes
        return np.concatenate([means, np.where(ranks < sizes, squares, 0.0)], axis=2)

    @cached_property
    def _gaussian(self) -> Gaussian:
        scale = self.spread
        if are_many(self.dim):  # the members of one row do not tell so many correlations
            return Gaussian(self.location, scale)
        return Gaussian(self.location, covariance=scale[:, :, None] * self.correlations * scale[:, None, :])

    @cached_property
    def correlations(self) -> np.ndarray:
        """Correlations (n, d, d) of the normal scores of a random one of each pool."""
        sizes = self._sizes[:, None, None]
        means = _mean_scores(self.ranks, sizes)
        products = np.einsum("nmj,nmk->njk", means, means) / sizes
        diagonal = np.arange(self.dim)
        products[:, diagonal, diagonal] = 1.0  # within its bin, the place is random
        return np.asarray(products)


def _mean_scores(ranks: np.ndarray, sizes: np.ndarray) -> np.ndarray:
    """Return the mean normal score of each rank, of as many equal bins as there are values; 0 for missing ones."""
    from scipy.special import ndtri

    edges = (ndtri(np.clip((ranks + step) / sizes, 0.0, 1.0)) for step in (0.0, 1.0))
    low, high = (np.exp(-0.5 * edge**2) / np.sqrt(2.0 * np.pi) for edge in edges)
    return np.where(ranks < sizes, sizes * (low - high), 0.0)
