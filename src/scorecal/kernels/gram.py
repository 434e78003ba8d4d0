"""From a kernel and predictions to blocks of its Gram matrix."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from .._lib.arrays import Array, array_namespace, like
from ..pairwise.products import Product, augment
from ..predictions import Predictions
from .bandwidth import resolve_bandwidth
from .distances import Distance, Euclidean
from .gfd import DistributionKernel
from .radial import Gaussian, Radial

__all__ = [
    "DistanceGram",
    "EmbeddingGram",
    "Gram",
    "RadialGram",
    "block_of",
    "distribution_gram",
    "radial_gram",
]


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


@dataclass(frozen=True, eq=False)
class RadialGram:
    """A radial kernel between rows of `features` (n, p), given in units of the bandwidth."""

    features: Array
    kernel: Radial
    floats_per_pair: int = 5

    @cached_property
    def _product(self) -> Product:
        return augment(self.features)

    def __call__(self, rows: slice, cols: slice) -> Array:
        xp = array_namespace(self.features)
        return self.kernel.profile(-2.0 * xp.minimum(self._product(rows, cols), 0.0))[0]


Gram = EmbeddingGram | DistanceGram | RadialGram


def block_of(distance: Distance, bandwidth: Array, outer: str, rows: slice, cols: slice) -> Array:
    """A block of the Gram matrix of the kernel on a distance."""
    if isinstance(distance, Euclidean):
        return EmbeddingGram(distance.features / bandwidth, outer)(rows, cols)
    return DistanceGram(distance, bandwidth)(rows, cols)


def radial_gram(features: Array, kernel: Radial) -> EmbeddingGram | RadialGram:
    """The kernel between inputs; a Gaussian one can be merged with that of the targets."""
    return EmbeddingGram(features, "gaussian") if isinstance(kernel, Gaussian) else RadialGram(features, kernel)


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
