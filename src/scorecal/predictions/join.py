"""Two batches of predictions as one."""

from dataclasses import dataclass, field, fields
from typing import Any

import numpy as np

from .._lib.arrays import Array, array_namespace, as_arrays
from .capabilities import HasMoments, Prior, Samplable, prior_of
from .gaussian import Gaussian
from .mixture import GaussianMixture
from .protocol import Predictions, check_predictions, draw_samples, held_array
from .scores import Scores


@dataclass(frozen=True, eq=False)
class Joined:
    """Rows of `first` followed by rows of `second`; scores are at points that all rows share."""

    first: Predictions
    second: Predictions
    made_of = property(lambda self: (self.first, self.second))

    @property
    def n(self) -> int:
        return self.first.n + self.second.n

    @property
    def dim(self) -> int:
        return self.first.dim

    @property
    def prior(self) -> Prior | None:
        return prior_of(self.first)

    def score(self, y: Array) -> Array:
        """Scores of all rows at points `y`, (m, 1, dim)."""
        scores = [self.first.score(y), self.second.score(y)]
        return array_namespace(*scores).concat(scores, axis=-2)


class _JoinedDraws(Joined):
    def sample(self, n_samples: int, rng: Any = None) -> Array:
        """Draws (n_samples, n, dim)."""
        return _draw_apart((self.first, self.second), n_samples, rng)


class _JoinedMoments(Joined):
    def moments(self) -> tuple[Array, Array]:
        parts = zip(self.first.moments(), self.second.moments(), strict=True)  # type: ignore[attr-defined]
        mean, covariance = (array_namespace(*pair).concat(pair, axis=0) for pair in parts)
        return mean, covariance


class _JoinedBoth(_JoinedDraws, _JoinedMoments):
    pass


def join(p: Predictions, q: Predictions, *, draws_apart: bool = False) -> Predictions:
    """Return one batch of p.n + q.n predictions, with closed forms where both have them.

    With `draws_apart`, draws from `p` come first and are the same as from `p` alone.
    """
    check_joinable(p, q)
    joined = _join(p, q)
    if draws_apart and isinstance(joined, Gaussian | GaussianMixture):
        kind = _GaussianDrawnApart if isinstance(joined, Gaussian) else _MixtureDrawnApart
        return kind(**{each.name: getattr(joined, each.name) for each in fields(joined)}, parts=(p, q))
    return joined


def _join(p: Predictions, q: Predictions) -> Predictions:
    if isinstance(p, Gaussian) and isinstance(q, Gaussian):
        return _join_gaussians(p, q)
    if isinstance(p, Scores) and isinstance(q, Scores):
        return _join_scores(p, q)
    mixture, mixture2 = _as_mixture(p), _as_mixture(q)
    if mixture is not None and mixture2 is not None:
        return _join_mixtures(mixture, mixture2)
    draws, moments = (isinstance(p, each) and isinstance(q, each) for each in (Samplable, HasMoments))
    if draws:
        return _JoinedBoth(p, q) if moments else _JoinedDraws(p, q)
    return _JoinedMoments(p, q) if moments else Joined(p, q)


def _draw_apart(parts: tuple[Predictions, Predictions], n_samples: int, rng: Any) -> Array:
    rng = np.random.default_rng(rng)
    draws = [draw_samples(part, n_samples, rng) for part in parts]
    xp = array_namespace(*draws)
    return xp.permute_dims(xp.concat(draws, axis=0), (1, 0, 2))


@dataclass(frozen=True, eq=False, repr=False)
class _GaussianDrawnApart(Gaussian):
    """Joined Gaussians, sampled one part after the other, so that the first part has the draws it has alone."""

    parts: Any = field(kw_only=True)

    def sample(self, n_samples: int, rng: Any = None) -> Array:
        return _draw_apart(self.parts, n_samples, rng)


@dataclass(frozen=True, eq=False, repr=False)
class _MixtureDrawnApart(GaussianMixture):
    """Joined mixtures, sampled one part after the other, so that the first part has the draws it has alone."""

    parts: Any = field(kw_only=True)

    def sample(self, n_samples: int, rng: Any = None) -> Array:
        return _draw_apart(self.parts, n_samples, rng)


def check_joinable(p: Any, q: Any) -> None:
    """Raise unless `p` and `q` are predictions of one dimension, in one library and on one device."""
    check_predictions("p", p)
    check_predictions("q", q)
    if p.dim != q.dim:
        raise ValueError(f"`p` has dimension {p.dim} but `q` has dimension {q.dim}.")
    held = {name: array for name, part in (("p", p), ("q", q)) if (array := held_array(part)) is not None}
    if len(held) == 2:
        as_arrays(**held)  # raises unless of one library and device


def _join_gaussians(p: Gaussian, q: Gaussian) -> Gaussian:
    xp = array_namespace(p.mean, q.mean)
    mean = xp.concat([p.mean, q.mean], axis=0)
    if p.scale is None or q.scale is None:
        return Gaussian(mean, covariance=xp.concat([p.moments()[1], q.moments()[1]], axis=0))
    scales = [part.scale if p.isotropic and q.isotropic else part.scale + 0.0 * part.mean for part in (p, q)]
    return Gaussian(mean, xp.concat(scales, axis=0))


def _join_scores(p: Scores, q: Scores) -> Scores:
    xp = array_namespace(p.at_targets, q.at_targets)
    same = p.base_points is not None and q.base_points is not None and p.base_points.shape == q.base_points.shape
    if p.at_base is None or q.at_base is None or not same or not bool(xp.all(p.base_points == q.base_points)):
        raise ValueError("`p` and `q` must hold scores at the same `base_points` to be compared.")
    at_targets = xp.concat([p.at_targets, q.at_targets], axis=0)
    return Scores(at_targets, xp.concat([p.at_base, q.at_base], axis=0), p.base_points)


def _as_mixture(predictions: Any) -> tuple[Array, Array, Array] | None:
    """Weights (n, K), means and scales (n, K, d), or None if covariances are full or `predictions` not Gaussian."""
    if isinstance(predictions, Gaussian) and predictions.scale is not None:
        weights, means, variances = predictions.components()
        return weights, means, variances**0.5 + 0.0 * means
    if isinstance(predictions, GaussianMixture):
        return predictions.weights, predictions.means, predictions.scales + 0.0 * predictions.means
    return None


def _join_mixtures(p: tuple[Array, Array, Array], q: tuple[Array, Array, Array]) -> GaussianMixture:
    """Join mixtures; pad the one of fewer components with copies of its first, of weight zero."""
    xp = array_namespace(p[0], q[0])
    k = max(p[0].shape[1], q[0].shape[1])

    def filled(parts: tuple[Array, Array, Array]) -> list[Array]:
        missing = k - parts[0].shape[1]
        empty = [0.0 * parts[0][:, :1], parts[1][:, :1, :], parts[2][:, :1, :]]
        return [xp.concat([part] + [one] * missing, axis=1) for part, one in zip(parts, empty, strict=True)]

    return GaussianMixture(*(xp.concat(pair, axis=0) for pair in zip(filled(p), filled(q), strict=True)))
