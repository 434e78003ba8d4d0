"""Targets and scores in the coordinates of the views, and the functions that views are there."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from .._arrays import Array, accumulation_dtype, array_namespace, check_finite, like
from .._pipeline import stream_of_noise
from ..coordinates import natural
from ..coordinates.identity import identity, name_of
from ..coordinates.whiten import Whitening, whitening_of
from ..kernels import Radial
from ..kernels.bandwidth import resolve_bandwidth
from ..kernels.distances import Euclidean
from ..kernels.gram import distribution_gram
from ..kernels.products import Product
from ..predictions import Predictions, evaluate_score
from ..resampling import Features, PairFunction
from ..statistics import ProductOfPairs, cast_gram, stein_pairs, sufficient_dtype
from .view import Gain, Traits, View

__all__ = ["Space", "function_of", "space_of"]

_N_DRAWS = 16  # of the noise of each target
_SAME = 1e-8  # traits that vary by less, in units of the frame, do not vary


@dataclass(frozen=True, eq=False)
class Space:
    """Predictions on all of R^d at one noise level, with S draws of each target's noise (one without noise)."""

    predictions: Predictions
    targets: Array  # (S, n, d)
    scores: Array  # (S, n, d)
    whitening: Whitening
    name: str

    @cached_property
    def framed(self) -> Predictions:
        return self.whitening.framed(self.predictions, self.targets[0, ...])

    @cached_property
    def whitened(self) -> tuple[Array, Array]:
        return self.whitening.whitened(self.targets, self.scores)

    @cached_property
    def marginal(self) -> tuple[Array, Array]:
        return self.whitening.marginal(self.targets, self.scores)

    @cached_property
    def kept(self) -> Array | None:
        """1 for predictions with a fitted spread and 0 for others, (n, 1); None if all have one.

        Far from where a prediction lives, features have mean zero by values too rare to occur: signs would not do.
        """
        unfitted = self.whitening.unfitted
        return like(~unfitted[:, None], self.targets) if np.any(unfitted) else None

    @cached_property
    def location(self) -> Array:
        """Of each prediction in the frame, (n, d)."""
        return self.whitening.frame.inverse(self.whitening.location)

    @cached_property
    def traits(self) -> Array:
        """Location and logarithm of the spread, each in units of how it varies; those that do not vary are left out."""
        xp = array_namespace(self.location)
        spread = (self.whitening.log_spread - xp.mean(self.whitening.log_spread))[:, None]
        parts = []
        for part in (self.location, spread):
            size = float(xp.mean(part**2)) ** 0.5
            if size > _SAME:
                parts.append(part / size)
        return xp.concat(parts, axis=1) if parts else self.location[:, :0]

    def directions(self, coordinates: str) -> Array:
        """Locations less their mean, (n, d), where a step along them is a step of the location itself."""
        if coordinates == "whitened":
            return (self.whitening.inverse_root @ self.location[..., None])[..., 0]
        xp = array_namespace(self.location)
        gap = self.whitening.location - self.whitening.frame.mean
        return gap / xp.sqrt(xp.mean(gap**2 + self.whitening.sd**2, axis=0))

    def at(self, coordinates: str) -> tuple[Array, Array]:
        """Targets and scores (S, n, d)."""
        if coordinates == "natural":
            return self.targets, self.scores
        return self.whitened if coordinates == "whitened" else self.marginal


def space_of(predictions: Any, y: Array, noise: float, rng: np.random.Generator) -> Space:
    """The space of views with this noise; 0 stands for the noise, if any, that the predictions come with."""
    if noise:
        predictions = predictions.noisy(noise)
    if hasattr(predictions, "noised"):
        child = stream_of_noise(rng)
        xp = array_namespace(y)
        targets = xp.stack([predictions.noised(y, child) for _ in range(_N_DRAWS)])
        return _space(predictions, targets, evaluate_score(predictions, targets), predictions.noise)
    coordinates = natural(predictions)
    unbounded, located, scores = coordinates(predictions, y)
    name = "" if coordinates is identity else name_of(coordinates, predictions)
    return _space(unbounded, located[None, ...], scores[None, ...], name)


def _space(predictions: Predictions, targets: Array, scores: Array, name: str) -> Space:
    xp = array_namespace(targets)
    dtype = accumulation_dtype(targets)  # few numbers, compared to the pairs
    targets, scores = (xp.astype(part, dtype, copy=False) for part in (targets, scores))
    whitening = whitening_of(predictions, targets[0, ...])
    return Space(predictions, targets, scores, whitening, f"{name}, whiten()" if name else "whiten()")


def function_of(
    view: View, space: Space, reference: Array, rng: np.random.Generator
) -> tuple[PairFunction | Features, dict[str, Any]] | None:
    """What the engine is to average, and bandwidths; None where predictions are too much alike for the view."""
    if not view.finite_rank:
        return _pairs(view, space, reference, rng)
    targets, scores = space.at(view.coordinates)
    test_functions: Any = view.target_kernel
    kernel = view.distribution_kernel
    if isinstance(kernel, Traits) and space.traits.shape[1] == 0:
        return None
    if isinstance(kernel, Gain) and float(array_namespace(targets).max(abs(space.location))) <= _SAME:
        return None

    directions = space.directions(view.coordinates)

    def features(rows: slice) -> Array:
        n_draws = targets.shape[0]
        mean: Array = (
            sum(test_functions.features(targets[k, rows, :], scores[k, rows, :]) for k in range(n_draws)) / n_draws
        )
        if space.kept is not None and view.coordinates != "natural":
            mean = mean * space.kept[rows, :]
        if isinstance(kernel, Traits):
            xp = array_namespace(mean)
            return xp.reshape(space.traits[rows, :, None] * mean[:, None, :], (mean.shape[0], -1))
        if isinstance(kernel, Gain):
            return array_namespace(mean).sum(mean * directions[rows, :], axis=1, keepdims=True)
        return mean

    some = features(slice(0, min(2, targets.shape[1])))
    check_finite(f"features of view {view.name!r}", some)
    return Features(features, view.largest), {}


def _pairs(view: View, space: Space, reference: Array, rng: np.random.Generator) -> tuple[PairFunction, dict[str, Any]]:
    """H = k(P_i, P_j) h(y_i, y_j), with predictions compared in the frame."""
    xp = array_namespace(reference)
    targets, scores = (part[0, ...] for part in space.at(view.coordinates))
    predictions = space.predictions if view.coordinates == "natural" else space.framed
    between: Any = view.distribution_kernel
    gram, bandwidths = distribution_gram(between, predictions, scores, rng)
    kernel = view.target_kernel
    kept = None if view.coordinates == "natural" else space.kept
    if isinstance(kernel, Radial):
        width = resolve_bandwidth(kernel.bandwidth, Euclidean(targets), targets)
        narrow = xp.astype(targets, reference.dtype, copy=False)
        dtype = sufficient_dtype(narrow, xp.astype(width, reference.dtype), [cast_gram(gram, reference.dtype)])
        targets, scores, width = (xp.astype(part, dtype, copy=False) for part in (targets, scores, width))
        bandwidths = {"target": width, **bandwidths}
        pairs: PairFunction = stein_pairs(targets, scores, kernel, width, cast_gram(gram, dtype))
        if kept is not None:
            kept = xp.astype(kept, dtype, copy=False)
            pairs = ProductOfPairs((pairs, Product(kept, kept)))
        return pairs, bandwidths
    features = kernel.features(targets, scores)
    if kept is not None:
        features = features * kept
    return ProductOfPairs((Product(features, features), gram)), bandwidths
