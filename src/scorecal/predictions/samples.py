"""Predictions known by draws: ensembles, draws of a posterior, Monte Carlo dropout."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from .._lib.arrays import Array, as_arrays, to_numpy
from .._lib.cached import cached_property
from .gaussian import Gaussian
from .normal_scores import as_gaussian, normal_quantiles, positive
from .protocol import Predictions, describe

_FEWEST = 3  # members of a row


def from_samples(draws: Any) -> "Samples":
    """Predictions known by draws from them, such as the members of an ensemble.

    Parameters
    ----------
    draws : array_like, shape (n, m) or (n, m, d)
        m draws for each of n targets in d dimensions, all alike before the target is known. NaN stands for a member
        that is missing, in all dimensions; rows may lack different ones.

    Returns
    -------
    Samples
        Tests rank each target among the members of its row. The null hypothesis is that target and members could be
        exchanged: members are not taken for the distribution that they come from, so that few of them do.

    Notes
    -----
    In several dimensions, ranks are those of single dimensions, whose correlations come from the members as well, and
    of summaries of all dimensions: mean, spread, largest and distance from the other members [1].

    References
    ----------
    [1] S. Allen, J. Ziegel, D. Ginsbourger, "Assessing the calibration of multivariate probabilistic forecasts",
    Q. J. R. Meteorol. Soc. 150, 2024.

    Examples
    --------
    Twenty members that differ too little:

    >>> import numpy as np, scorecal as sc
    >>> rng = np.random.default_rng(0)
    >>> mean = rng.normal(size=(300, 1))
    >>> y = mean[:, 0] + rng.normal(size=300)
    >>> predictions = sc.from_samples(mean + 0.7 * rng.normal(size=(300, 20)))
    >>> predictions
    Samples(n=300, dim=1, 20 members)
    >>> sc.calibration_test(predictions, y, rng=0).seen
    ('over-confident',)
    """
    members = to_numpy(as_arrays(draws=draws)[0]).astype(np.float64)
    members = members[:, :, None] if members.ndim == 2 else members
    if members.ndim != 3 or 0 in members.shape:
        raise ValueError(f"`draws` must have shape (n, m) or (n, m, d), but has {members.shape}.")
    if np.any(np.isinf(members)):
        row, k, _ = (int(index) for index in np.argwhere(np.isinf(members))[0])
        raise ValueError(f"`draws` must be finite, or NaN where a member is missing, but member {k} of row {row} is not.")
    missing = np.isnan(members)
    if np.any(missing != missing[:, :, :1]):
        row = int(np.argwhere(np.any(missing != missing[:, :, :1], axis=(1, 2)))[0, 0])
        raise ValueError(f"`draws`: a member of row {row} is missing in some dimensions only; make all of them NaN.")
    counts = np.sum(~missing[:, :, 0], axis=1)
    if np.min(counts) < _FEWEST:
        row = int(np.argmin(counts))
        raise ValueError(
            f"`draws` must hold at least {_FEWEST} members for each target, but row {row} has {counts[row]}."
            + (" Likely cause: axes in another order; give (n, m) or (n, m, d)." if members.shape[1] < _FEWEST else "")
        )
    return Samples(members)


@dataclass(frozen=True, eq=False)
class Samples:
    """n predictions, each by its members (n, m, d); NaN where one is missing."""

    members: np.ndarray

    @property
    def n(self) -> int:
        return len(self.members)

    @property
    def dim(self) -> int:
        return int(self.members.shape[2])

    def __repr__(self) -> str:
        counts = np.sum(~np.isnan(self.members[:, :, 0]), axis=1)
        low, high = int(np.min(counts)), int(np.max(counts))
        return describe(self, f"{low} members" if low == high else f"{low} to {high} members")  # type: ignore[arg-type]

    def ranked(self, y: np.ndarray, rng: np.random.Generator) -> tuple[Predictions, np.ndarray]:
        """Return predictions with scores, and targets of them, from the ranks of the targets among the members.

        Locations and spreads are those of the members and the target together, the pool: it does not tell which of them
        is the target, so that ranks are uniform given the pool. Those of the members alone would be larger where the
        target is small (20 members: 7 % of calibrated data sets were rejected, 15 members: 50 %).
        """
        pool = np.concatenate([self.members, y[:, None, :]], axis=1)
        location, spread = np.nanmean(pool, axis=1), positive(np.nanstd(pool, axis=1))
        ranks, sizes = ranks_in_pool(pool, rng)
        below, at = (np.minimum(ranks + step, sizes) / sizes for step in (0.0, 1.0))
        z = normal_quantiles(below[:, -1, :], at[:, -1, :], rng)
        if self.dim == 1:
            return as_gaussian(z, location, spread)
        return Pool(pool, ranks, location, spread), location + spread * z


def ranks_in_pool(pool: np.ndarray, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Return ranks from 0 of each value of (n, m + 1, d) among those of its row, ties at random, and their numbers."""
    ties = rng.random(pool.shape)
    order = np.lexsort((ties, pool), axis=1)  # NaN comes last
    ranks = np.empty(pool.shape)
    np.put_along_axis(ranks, order, np.broadcast_to(np.arange(pool.shape[1])[:, None], pool.shape).astype(float), axis=1)
    return ranks, np.sum(~np.isnan(pool), axis=1, keepdims=True).astype(float)


@dataclass(frozen=True, eq=False)
class Pool:
    """Predictions that the target is one of the pool (n, m + 1, d) of members and target, by ranks in each dimension.

    Scores are those of Gaussians with the locations, spreads and correlations of the ranks; draws are not Gaussian.
    """

    pool: np.ndarray
    ranks: np.ndarray  # (n, m + 1, d)
    location: np.ndarray  # (n, d)
    spread: np.ndarray  # (n, d)

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

    def sample(self, n_samples: int, rng: Any = None) -> np.ndarray:
        """Draws (n_samples, n, dim): ranks of a random one of each pool, as normal scores."""
        generator = np.random.default_rng(rng)
        sizes = np.sum(~np.isnan(self.pool[:, :, 0]), axis=1)
        chosen = np.floor(generator.random((n_samples, self.n)) * sizes).astype(int)
        present = np.argsort(np.isnan(self.pool[:, :, 0]), axis=1, kind="stable")
        rows = np.arange(self.n)
        found = self.ranks[rows, present[rows, chosen], :]
        below, at = (np.minimum(found + step, sizes[:, None]) / sizes[:, None] for step in (0.0, 1.0))
        return np.asarray(self.location + self.spread * normal_quantiles(below, at, generator))

    @cached_property
    def _gaussian(self) -> Gaussian:
        scale = self.spread
        return Gaussian(self.location, covariance=scale[:, :, None] * self.correlations * scale[:, None, :])

    @cached_property
    def correlations(self) -> np.ndarray:
        """Correlations (n, d, d) of the normal scores of a random one of each pool."""
        means = _mean_scores(self.ranks, np.sum(~np.isnan(self.pool), axis=1, keepdims=True))
        sizes = np.sum(~np.isnan(self.pool[:, :, 0]), axis=1)
        products = np.einsum("nmj,nmk->njk", means, means) / sizes[:, None, None]
        diagonal = np.arange(self.dim)
        products[:, diagonal, diagonal] = 1.0  # within its bin, the place is random
        return np.asarray(products)


def _mean_scores(ranks: np.ndarray, sizes: np.ndarray) -> np.ndarray:
    """Return the mean normal score of each rank, of as many equal bins as there are values; 0 for missing ones."""
    from scipy.special import ndtri

    edges = (ndtri(np.clip((ranks + step) / sizes, 0.0, 1.0)) for step in (0.0, 1.0))
    low, high = (np.exp(-0.5 * edge**2) / np.sqrt(2.0 * np.pi) for edge in edges)
    return np.where(ranks < sizes, sizes * (low - high), 0.0)
