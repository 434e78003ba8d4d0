"""Blocks of Gram matrices of kernels between predictions."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from .._lib.arrays import Array, accumulation_dtype, array_namespace, like
from .._lib.cached import cached_property
from .._lib.linalg import middle_of, norms_cancel
from ..pairwise import DistancesByBlock, PairFunction, Product, Rows, half_distances, is_long
from ..predictions import Predictions
from .bandwidth import resolve_bandwidth
from .distances import Distance, Euclidean
from .protocol import DistributionKernel, check_outer, distance_of
from .radial import Gaussian, Radial


@dataclass(frozen=True, eq=False)
class EmbeddingGram:
    """Kernel k(P_i, P_j) from the rows of `features` (n, p), in units of the bandwidth.

    Of a long table they are made from the rows of an `embedding`, less the `middle`, in this `unit`, when asked for.
    """

    embedding: Array
    outer: str | Radial
    middle: Array | float = 0.0
    unit: Array | float = 1.0
    takes_stacks = True

    def features(self, rows: slice) -> Array:
        """Return some rows of the features."""
        return (self.embedding[rows, :] - self.middle) / self.unit

    @property
    def every(self) -> Array:
        """The features of all rows."""
        return self.features(slice(0, self.embedding.shape[0]))

    def cast(self, dtype: Any) -> "EmbeddingGram":
        """Return the same kernel in this dtype."""
        if self.embedding.dtype == dtype:
            return self
        xp = array_namespace(self.embedding)
        parts = (part if isinstance(part, float) else xp.astype(part, dtype) for part in (self.middle, self.unit))
        return EmbeddingGram(xp.astype(self.embedding, dtype), self.outer, *parts)

    @property
    def floats_per_pair(self) -> int:
        return (2 if isinstance(self.outer, str) else 4) + self.product.floats_per_pair

    @cached_property
    def product(self) -> PairFunction:
        n, width = self.embedding.shape
        if self.outer != "linear" and is_long(n, width) and not norms_cancel(self.embedding, self.unit):
            return DistancesByBlock(self.features, n, width)
        features = self.every
        return Product(features, features) if self.outer == "linear" else half_distances(features)

    def __call__(self, rows: Rows, cols: Rows) -> Array:
        xp = array_namespace(self.embedding)
        product = self.product(rows, cols)
        if self.outer == "linear":
            return product
        negative = xp.minimum(product, 0.0)  # rounding must not make a squared distance negative
        if isinstance(self.outer, Radial):
            return self.outer.profile(-2.0 * negative)[0]
        return xp.exp(negative) if self.outer == "gaussian" else 1.0 / (1.0 - 2.0 * negative)


@dataclass(frozen=True, eq=False)
class DistanceGram:
    """Kernel k(P_i, P_j) as a function of D_ij / bandwidth^2, for a distance without a finite embedding."""

    distance: Distance
    bandwidth: Array
    outer: str

    @property
    def floats_per_pair(self) -> int:
        return self.distance.floats_per_pair

    def __call__(self, rows: slice, cols: slice) -> Array:
        squared = self.distance.block(rows, cols) / self.bandwidth**2
        return array_namespace(squared).exp(-0.5 * squared) if self.outer == "gaussian" else 1.0 / (1.0 + squared)


Gram = EmbeddingGram | DistanceGram


def gram_of(distance: Distance, bandwidth: Array, outer: str) -> Gram:
    """Return the Gram matrix of the kernel on a distance, to be evaluated block by block."""
    if isinstance(distance, Euclidean):
        check_outer(outer)
        if outer == "linear":
            return EmbeddingGram(distance.features, outer, unit=bandwidth)
        return _in_units(distance.features, bandwidth, outer)
    check_outer(outer, ("gaussian", "imq"))  # "linear" needs a finite embedding
    return DistanceGram(distance, bandwidth, outer)


def constant_gram(reference: Array) -> EmbeddingGram:
    """Return the Gram matrix of ones for the n rows of `reference`."""
    return EmbeddingGram(array_namespace(reference).zeros_like(reference[:, :1]), "gaussian")


def radial_gram(inputs: Array, bandwidth: Array, kernel: Radial) -> EmbeddingGram:
    """Return the Gram matrix between inputs; a Gaussian one can be merged with the kernel between targets."""
    return _in_units(inputs, bandwidth, "gaussian" if isinstance(kernel, Gaussian) else kernel)


def _in_units(embedding: Array, bandwidth: Array, outer: str | Radial) -> EmbeddingGram:
    """Return the kernel on an embedding (n, p), centred first, since a large offset would round away digits.

    Where rows are far apart, no row is near the centre of all others: they are then in float64, if there is one.
    """
    gram, wide = EmbeddingGram(embedding, outer, middle_of(embedding), bandwidth), accumulation_dtype(embedding)
    return gram.cast(wide) if embedding.dtype != wide and norms_cancel(embedding, bandwidth) else gram


def distribution_gram(
    kernel: DistributionKernel, predictions: Predictions, reference: Array, rng: np.random.Generator
) -> tuple[Gram, dict[str, Any]]:
    """Return the Gram matrix of the kernel between predictions, to be evaluated block by block, and its bandwidths."""
    distance, bandwidths = distance_of(kernel, predictions, reference.shape[0], reference, rng)
    if isinstance(distance, Euclidean):
        distance = Euclidean(like(distance.features, reference))
    bandwidth = resolve_bandwidth(kernel.bandwidth, distance, reference)
    return gram_of(distance, bandwidth, kernel.outer), {"distribution": bandwidth, **bandwidths}
