"""How two targets, and how two predictions, compare."""

from .bandwidth import median_distance
from .base import check_count
from .distances import Euclidean
from .distribution import GFD, KGFD, MMD, DistributionKernel, Wasserstein
from .gram import EmbeddingGram, Gram, distribution_gram, radial_gram, resolve_bandwidth
from .mean_embeddings import GaussianMeasures, MeanEmbeddings, PointMeasures
from .products import Product, augment
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
    "GaussianMeasures",
    "Gram",
    "MeanEmbeddings",
    "PointMeasures",
    "Product",
    "Radial",
    "Wasserstein",
    "augment",
    "check_count",
    "distribution_gram",
    "median_distance",
    "radial_gram",
    "resolve_bandwidth",
]
