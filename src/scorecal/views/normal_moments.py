"""Mean squares and cubes of the features of standard normal targets: by quadrature, where kernels are ours."""

import math
from collections.abc import Callable
from functools import lru_cache
from typing import Any

import numpy as np

from .._lib.dimensions import pairs_of
from ..statistics import stein_features
from ..statistics.hermite import Hermite, Outlying, RadialTails
from ..statistics.many_dimensions import CommonCross, SomeCross
from ..statistics.rank_functions import RadialRank, Rank
from ..statistics.test_functions import BoundedRadial, Constant, Cross, Trace

Moments = tuple[np.ndarray, np.ndarray]

OF_LENGTH = (BoundedRadial, Outlying, RadialRank, RadialTails, Trace)  # features of |z| alone
# Kernels whose features never change, and whose moments are known.
OURS = (*OF_LENGTH, CommonCross, Constant, Cross, Hermite, Rank, SomeCross)
_FAR = 20.0  # beyond it, normal numbers and their products with polynomials are nothing
_AROUND = 10.0  # likewise, of lengths around their root mean square
_N_PANELS, _N_NODES = 50, 20  # of Gauss and Legendre's rule
_FLOATS_FOR_OTHERS, _SEED = 2**17, 2**30


def normal_moments(kernel: Any, d: int, owner: str = "") -> Moments:
    """Means of the squares and cubes of the features of standard normal targets, (q,) each.

    For a kernel of one's own they are means over some 10^5 / d drawn targets, and err by some percent.
    """
    return _of_ours(kernel, d) if type(kernel) in OURS else _of_drawn(kernel, d, owner)


@lru_cache(maxsize=256)
def _of_ours(kernel: Any, d: int) -> Moments:
    if type(kernel) is Outlying:
        share = kernel.share
        return np.array([share * (1.0 - share)]), np.array([share * (1.0 - share) * (1.0 - 2.0 * share)])
    if type(kernel) in (Cross, SomeCross):
        n_pairs = len(pairs_of(d)[0]) if type(kernel) is SomeCross else d * (d - 1) // 2
        return np.ones(n_pairs), np.zeros(n_pairs)
    if type(kernel) is CommonCross:
        return kernel.normal_moments(d)
    if type(kernel) in OF_LENGTH:
        square, cube = _of_length(kernel, d)
        return np.array([square]), np.array([cube])
    square, cube = _of_number(kernel)
    if getattr(kernel, "common", False):  # a sum of d features, divided by the root of d
        return np.array([square]), np.array([cube / math.sqrt(d)])
    return np.full(d, square), np.full(d, cube)


def _of_number(kernel: Any) -> tuple[float, float]:
    """Moments of the feature of one normal number."""
    numbers, weights = _rule(-_FAR, _FAR, lambda x: -0.5 * x**2 - 0.5 * math.log(2.0 * math.pi))
    return _means(kernel, numbers[:, None], weights)


def _of_length(kernel: Any, d: int) -> tuple[float, float]:
    """Moments of a feature of the length of d normal numbers."""
    constant = (0.5 * d - 1.0) * math.log(2.0) + math.lgamma(0.5 * d)
    low, high = max(0.0, math.sqrt(d) - _AROUND), math.sqrt(d) + _AROUND
    lengths, weights = _rule(low, high, lambda r: (d - 1.0) * np.log(r) - 0.5 * r**2 - constant)
    points = np.zeros((len(lengths), d))
    points[:, 0] = lengths
    return _means(kernel, points, weights)


def _rule(low: float, high: float, log_density: Callable[[np.ndarray], np.ndarray]) -> Moments:
    """Nodes and weights of a quadrature with a density, whose logarithm is given."""
    nodes, weights = np.polynomial.legendre.leggauss(_N_NODES)
    edges = np.linspace(low, high, _N_PANELS + 1)
    half = 0.5 * np.diff(edges)[:, None]
    found = (edges[:-1, None] + half * (1.0 + nodes)).ravel()
    return found, (half * weights).ravel() * np.exp(log_density(found))


def _means(kernel: Any, points: np.ndarray, weights: np.ndarray) -> tuple[float, float]:
    features = kernel.features(points, -points)[:, 0]
    return float(np.sum(weights * features**2)), float(np.sum(weights * features**3))


def _of_drawn(kernel: Any, d: int, owner: str) -> Moments:
    """From numbers and their opposites, of variance 1, so that even and odd features have even and odd moments."""
    half = np.random.default_rng(_SEED).standard_normal((max(1, _FLOATS_FOR_OTHERS // (2 * d)), d))
    half /= np.sqrt(np.mean(half**2, axis=0))
    points = np.concatenate([half, -half])
    features = stein_features(kernel, points, -points, owner or repr(kernel))
    return np.mean(features**2, axis=0), np.mean(features**3, axis=0)
