"""Predictions mapped by a bijection y = forward(z), the same for all rows up to their supports."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

from .._lib.arrays import Array, accumulation_dtype, array_namespace, full_product, has_values
from .._lib.linalg import along
from ..predictions import (
    Box,
    HasMoments,
    Predictions,
    Samplable,
    Scores,
    Simplex,
    describe,
    evaluate_score,
    prior_of,
    spread_of,
)
from .identity import Moved


class Bijection(Protocol):
    """Bijection y = forward(z); with J its Jacobian, `carry` returns J' s(y) + grad log |det J|, the score of z."""

    def inverse(self, y: Array) -> Array: ...

    def forward(self, z: Array) -> Array: ...

    def carry(self, z: Array, scores: Array) -> Array: ...


@dataclass(frozen=True, eq=False)
class Affine:
    """Affine map y = mean + root z, with the matrix `root` (d, d), or a diagonal one (d,), and its inverse."""

    mean: Array
    root: Array
    inverse_root: Array

    def __repr__(self) -> str:
        return "Affine"

    def inverse(self, y: Array) -> Array:
        return self.inverse_step(y - self.mean)

    def forward(self, z: Array) -> Array:
        return self.mean + self.forward_step(z)

    def carry(self, z: Array, scores: Array) -> Array:
        return scores * self.root if self.root.ndim == 1 else full_product(scores, self.root)

    @property
    def units(self) -> Array:
        """Diagonal (d,) of the matrix."""
        return self.root if self.root.ndim == 1 else array_namespace(self.root).linalg.diagonal(self.root)

    def inverse_step(self, gap: Array) -> Array:
        """Difference of two z from that of two y."""
        return along(self.inverse_root, gap)

    def forward_step(self, gap: Array) -> Array:
        """Difference of two y from that of two z."""
        return along(self.root, gap)


@dataclass(frozen=True)
class InDtype:
    """Identity map, for predictions whose scores need arguments of this dtype."""

    dtype: Any

    def inverse(self, y: Array) -> Array:
        xp = array_namespace(y)
        return xp.astype(y, accumulation_dtype(y), copy=False)

    def forward(self, z: Array) -> Array:
        return array_namespace(z).astype(z, self.dtype, copy=False)

    def carry(self, z: Array, scores: Array) -> Array:
        return array_namespace(z).astype(scores, z.dtype, copy=False)


def in_widest_dtype(predictions: Predictions, targets: Array, scores: Array) -> Moved:
    """Return targets and scores in the widest dtype, and predictions that accept it.

    Whitening by predictions of very unequal width needs the digits; a model is still asked in its own dtype.
    """
    xp, dtype = array_namespace(targets), accumulation_dtype(targets)
    if dtype != targets.dtype and not isinstance(predictions, HasMoments):
        predictions = map_predictions(predictions, targets, InDtype(targets.dtype), predictions.dim)
    return predictions, xp.astype(targets, dtype, copy=False), xp.astype(scores, dtype, copy=False)


def map_all(predictions: Predictions, y: Array, bijection: Bijection, dim: int) -> Moved:
    """Return predictions, targets and scores at the targets in z, of dimension `dim`."""
    z = bijection.inverse(y)
    mapped = map_predictions(predictions, z, bijection, dim)
    return mapped, z, evaluate_score(mapped, z)


def map_predictions(predictions: Predictions, z: Array, bijection: Bijection, dim: int) -> Predictions:
    """Return predictions of z; the mapped targets `z` are used for `Scores` only."""
    if isinstance(predictions, Scores):
        return _map_scores(predictions, z, bijection)
    return _mapped(predictions, bijection, dim)


@dataclass(frozen=True, eq=False)
class Mapped:
    """Predictions of z, and their prior, from predictions of y = forward(z)."""

    predictions: Predictions
    bijection: Bijection
    dim: int
    made_of = property(lambda self: (self.predictions,))

    @property
    def n(self) -> int:
        return self.predictions.n

    def __repr__(self) -> str:
        return describe(self, f"{self.predictions!r} by {self.bijection!r}")

    def score(self, z: Array) -> Array:
        """Scores at `z`, broadcast against (n, dim)."""
        return self.bijection.carry(z, self.predictions.score(self.bijection.forward(z)))

    @property
    def spread_of(self) -> Any:
        """Draws in the new coordinates; means and covariances are those of unbounded predictions, whose map is one."""
        found = spread_of(self.predictions)
        return found if found is None or isinstance(found, tuple) else self.bijection.inverse(found)

    @property
    def prior(self) -> Mapped | None:
        prior = prior_of(self.predictions)
        if prior is not None:
            _check_shared("prior", self.bijection)
        return None if prior is None else _mapped(prior, self.bijection, self.dim)


@dataclass(frozen=True, eq=False, repr=False)
class MappedSampler(Mapped):
    """Mapped predictions that can be sampled."""

    def sample(self, n_samples: int, rng: Any = None) -> Array:
        """Draws of z, (n_samples, n, dim)."""
        draws = self.predictions.sample(n_samples, rng)  # type: ignore[attr-defined]
        _check_inside("draws of the predictions or their `prior`", draws, self.bijection)
        return self.bijection.inverse(draws)


def _mapped(predictions: Any, bijection: Bijection, dim: int) -> Mapped:
    kind = MappedSampler if isinstance(predictions, Samplable) else Mapped
    return kind(predictions, bijection, dim)


def _map_scores(scores: Scores, z: Array, bijection: Bijection) -> Scores:
    """Map scores at the targets and at the base points."""
    at_targets = bijection.carry(z, scores.at_targets)
    if scores.at_base is None:
        return Scores(at_targets)
    if scores.base_points is None:
        raise ValueError("`Scores` with `at_base` can be mapped only if they also hold the `base_points`.")
    _check_shared("base_points", bijection)
    _check_inside("`base_points`", scores.base_points, bijection)
    points = bijection.inverse(scores.base_points)
    return Scores(at_targets, bijection.carry(points, scores.at_base), points)


def _check_shared(name: str, bijection: Bijection) -> None:
    if isinstance(bijection, Box) and bijection.low.ndim == 2:
        raise ValueError(f"`{name}` cannot be mapped by a `Box` whose ends differ between predictions; leave it out.")


def _check_inside(name: str, points: Array, bijection: Bijection) -> None:
    if isinstance(bijection, Box | Simplex) and has_values(points):
        inside = bijection.contains(points)
        if not bool(array_namespace(inside).all(inside)):
            raise ValueError(
                f"{name} must lie inside the support, {bijection!r}, its boundary excluded, but some do not."
            )
