"""Blocks of Gram matrices of kernels between predictions."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from .._lib.arrays import Array, accumulation_dtype, array_namespace, like
from .._lib.cached import cached_property
from .._lib.linalg import centre, norms_cancel
from ..pairwise import PairFunction, Product, Rows, half_distances
from ..predictions import Predictions
from .bandwidth import resolve_bandwidth
from .distances import Distance, Euclidean
from .protocol import DistributionKernel, check_outer, distance_of
from .radial import Gaussian, Radial


@dataclass(frozen=True, eq=False)
class EmbeddingGram:
    """Kernel k(P_i, P_j) from the rows of `features` (n, p), in units of the bandwidth."""

    features: Array
    outer: str | Radial
    takes_stacks = True

    @property
    def floats_per_pair(self) -> int:
        return (2 if isinstance(self.outer, str) else 4) + self._product.floats_per_pair

    @cached_property
    def _product(self) -> PairFunction:
        return Product(self.features, self.features) if self.outer == "linear" else half_distances(self.features)

    def __call__(self, rows: Rows, cols: Rows) -> Array:
        xp = array_namespace(self.features)
        product = self._product(rows, cols)
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
        linear = outer == "linear"
        return EmbeddingGram(
            distance.features / bandwidth if linear else _in_units(distance.features, bandwidth), outer
        )
    check_outer(outer, ("gaussian", "imq"))  # "linear" needs a finite embedding
    return DistanceGram(distance, bandwidth, outer)


def constant_gram(reference: Array) -> EmbeddingGram:
    """Return the Gram matrix of ones for the n rows of `reference`."""
    return EmbeddingGram(array_namespace(reference).zeros_like(reference[:, :1]), "gaussian")


def radial_gram(inputs: Array, bandwidth: Array, kernel: Radial) -> EmbeddingGram:
    """Return the Gram matrix between inputs; a Gaussian one can be merged with the kernel between targets."""
    return EmbeddingGram(_in_units(inputs, bandwidth), "gaussian" if isinstance(kernel, Gaussian) else kernel)


def _in_units(features: Array, bandwidth: Array) -> Array:
    """Return features (n, p) in units of the bandwidth, centred first, since a large offset would round away digits.

    Where rows are far apart, no row is near the centre of all others: they are then in float64, if there is one.
    """
    rows = centre(features) / bandwidth
    wide = accumulation_dtype(features)
    if rows.dtype == wide or not norms_cancel(rows):
        return rows
    return centre(array_namespace(features).astype(features, wide)) / bandwidth


def distribution_gram(
    kernel: DistributionKernel, predictions: Predictions, reference: Array, rng: np.random.Generator
) -> tuple[Gram, dict[str, Any]]:
    """Return the Gram matrix of the kernel between predictions, to be evaluated block by block, and its bandwidths."""
    distance, bandwidths = distance_of(kernel, predictions, reference.shape[0], reference, rng)
    if isinstance(distance, Euclidean):
        distance = Euclidean(like(distance.features, reference))
    bandwidth = resolve_bandwidth(kernel.bandwidth, distance, reference)
    return gram_of(distance, bandwidth, kernel.outer), {"distribution": bandwidth, **bandwidths}
