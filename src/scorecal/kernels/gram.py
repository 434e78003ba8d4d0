"""From a kernel and predictions to blocks of its Gram matrix."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from .._arrays import Array, array_namespace, like
from ..predictions import Predictions
from .bandwidth import median_distance
from .distances import Distance, Euclidean
from .distribution import DistributionKernel

__all__ = ["DistanceGram", "EmbeddingGram", "Gram", "Product", "augment", "distribution_gram", "resolve_bandwidth"]


@dataclass(frozen=True, eq=False)
class Product:
    """Blocks of left @ right', the one operation to which everything pairwise is brought."""

    left: Array
    right: Array

    def __call__(self, rows: slice, cols: slice) -> Array:
        return self.left[rows, :] @ self.right[cols, :].mT


def augment(features: Array) -> Product:
    """The product whose entries are -|x_i - x_j|^2 / 2: the norms ride along as two more columns.

    Features are centred first, since the norms cancel; at a median of some rows, which no outlier drags away.
    """
    xp = array_namespace(features)
    some = features[:: max(1, features.shape[0] // 1024), :]
    features = features - xp.sort(some, axis=0)[some.shape[0] // 2, :]
    norms = -0.5 * xp.sum(features**2, axis=1, keepdims=True)
    ones = xp.ones_like(norms)
    return Product(xp.concat([features, norms, ones], axis=1), xp.concat([features, ones, norms], axis=1))


@dataclass(frozen=True, eq=False)
class EmbeddingGram:
    """k(P_i, P_j) as a function of rows of `features` (n, p), given in units of the bandwidth."""

    features: Array
    outer: str
    floats_per_pair: int = 3

    @cached_property
    def _product(self) -> Product:
        return Product(self.features, self.features) if self.outer == "linear" else augment(self.features)

    def __call__(self, rows: slice, cols: slice) -> Array:
        xp = array_namespace(self.features)
        product = self._product(rows, cols)
        if self.outer == "linear":
            return product
        negative = xp.minimum(product, 0.0)  # rounding must not make a squared distance negative
        return xp.exp(negative) if self.outer == "gaussian" else 1.0 / (1.0 - 2.0 * negative)


@dataclass(frozen=True, eq=False)
class DistanceGram:
    """k(P_i, P_j) = exp(-D_ij / (2 bandwidth^2)) for a distance without a finite embedding."""

    distance: Distance
    bandwidth: Array

    @property
    def floats_per_pair(self) -> int:
        return self.distance.floats_per_pair

    def __call__(self, rows: slice, cols: slice) -> Array:
        squared = self.distance.block(rows, cols)
        return array_namespace(squared).exp(-0.5 * squared / self.bandwidth**2)


Gram = EmbeddingGram | DistanceGram


def distribution_gram(
    kernel: DistributionKernel, predictions: Predictions, reference: Array, rng: np.random.Generator
) -> tuple[Gram, dict[str, Any]]:
    """The kernel between the predictions, ready for blocks, and the bandwidths it came to use."""
    distance, bandwidths = kernel.distance(predictions, reference, rng)
    if isinstance(distance, Euclidean):
        distance = Euclidean(like(distance.features, reference))
    bandwidth = resolve_bandwidth(kernel.bandwidth, distance, reference)
    bandwidths = {"distribution": bandwidth, **bandwidths}
    if isinstance(distance, Euclidean):
        return EmbeddingGram(distance.features / bandwidth, kernel.outer), bandwidths
    return DistanceGram(distance, bandwidth), bandwidths


def resolve_bandwidth(bandwidth: float | str, distance: Distance, reference: Array) -> Array:
    """A bandwidth as a 0-d array: the given number, or the median heuristic."""
    return median_distance(distance, reference) if isinstance(bandwidth, str) else like(float(bandwidth), reference)
