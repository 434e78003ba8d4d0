"""Two batches of predictions as one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from .._arrays import Array, array_namespace
from .gaussian import Gaussian
from .mixture import GaussianMixture
from .protocol import Predictions, draw_samples

__all__ = ["join"]


@dataclass(frozen=True, eq=False)
class Joined:
    """The rows of `first` followed by those of `second`, at points that all rows share."""

    first: Predictions
    second: Predictions

    @property
    def n(self) -> int:
        return self.first.n + self.second.n

    @property
    def dim(self) -> int:
        return self.first.dim

    def score(self, y: Array) -> Array:
        scores = [self.first.score(y), self.second.score(y)]
        return array_namespace(*scores).concat(scores, axis=-2)


@dataclass(frozen=True, eq=False)
class JoinedSamplers(Joined):
    """Predictions that can both be sampled."""

    def sample(self, n_samples: int, rng: Any = None) -> Array:
        rng = np.random.default_rng(rng)
        draws = [draw_samples(part, n_samples, rng) for part in (self.first, self.second)]
        xp = array_namespace(*draws)
        return xp.permute_dims(xp.concat(draws, axis=0), (1, 0, 2))


def join(p: Predictions, q: Predictions) -> Predictions:
    """One batch of p.n + q.n predictions, of the same kind where both are, so that closed forms stay available."""
    for name, part in (("p", p), ("q", q)):
        if not isinstance(part, Predictions):
            raise TypeError(
                f"`{name}` must be a batch of predictions such as `Gaussian`, but is a {type(part).__name__}."
            )
    if p.dim != q.dim:
        raise ValueError(f"`p` lives in dimension {p.dim} but `q` in dimension {q.dim}.")
    if isinstance(p, Gaussian) and isinstance(q, Gaussian):
        xp = array_namespace(p.mean, q.mean)
        mean = xp.concat([p.mean, q.mean], axis=0)
        if p.scale is None or q.scale is None:
            return Gaussian(mean, covariance=xp.concat([p.moments()[1], q.moments()[1]], axis=0))
        scales = [part.scale if p.isotropic and q.isotropic else part.scale + 0.0 * part.mean for part in (p, q)]
        return Gaussian(mean, xp.concat(scales, axis=0))
    if isinstance(p, GaussianMixture) and isinstance(q, GaussianMixture) and p.weights.shape[1] == q.weights.shape[1]:
        xp = array_namespace(p.means, q.means)
        parts = [(a.weights, a.means, a.scales + 0.0 * a.means) for a in (p, q)]
        return GaussianMixture(*(xp.concat(pair, axis=0) for pair in zip(*parts, strict=True)))
    return JoinedSamplers(p, q) if hasattr(p, "sample") and hasattr(q, "sample") else Joined(p, q)
