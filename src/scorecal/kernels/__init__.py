"""How two targets, and how two predictions, compare."""

from .bandwidth import median_distance
from .distances import Euclidean
from .distribution import GFD, KGFD, MMD, DistributionKernel, Wasserstein
from .gram import EmbeddingGram, Gram, Product, augment, distribution_gram, resolve_bandwidth
from .radial import IMQ, Gaussian, Radial

__all__ = [
    "GFD",
    "IMQ",
    "KGFD",
    "MMD",
    "DistributionKernel",
    "EmbeddingGram",
    "Euclidean",
    "Gaussian",
    "Gram",
    "Product",
    "Radial",
    "Wasserstein",
    "augment",
    "distribution_gram",
    "median_distance",
    "resolve_bandwidth",
]
