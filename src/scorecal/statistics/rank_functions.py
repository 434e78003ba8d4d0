r"""Test functions whose features are polynomials of ranks, for targets in standard coordinates.

Any function f of mean zero under N(0, 1) is the Stein feature g' - y g = f of g = F / density, with F the integral of
density times f. Here f are Legendre polynomials of the distribution function, which have mean zero and are
uncorrelated. For standard Gaussian predictions, the features are then polynomials of the rank of the target (its
probability integral transform): along each dimension as in SBC, along the radius as in expected coverage. They are
bounded, and no more skewed than a polynomial of a uniform variable. For other predictions, the Stein feature s g + g'
has an additional term (s + y) g, and still has mean zero.
"""

import math
from dataclasses import dataclass
from functools import cache
from typing import ClassVar

import numpy as np

from .._lib.arrays import Array, array_namespace, like
from .._lib.checks import check_count
from .._lib.special import special
from .._lib.tabulate import Tabulated, tabulate

_FAR = 9.0  # beyond it, ranks of normal numbers are 0 or 1 to 1e-18
_LARGE = 1e3  # beyond it, 1 / y is Mills' ratio to a relative error of 1e-6


@dataclass(frozen=True)
class Rank:
    """Legendre polynomials of the rank of the target along each dimension, among draws from N(0, 1).

    It is the rank in the target's own prediction where targets are whitened, as they are in views, and predictions are
    Gaussian. Otherwise the feature still has mean zero for calibrated predictions.

    Parameters
    ----------
    order : int
        1 sees bias, 2 spread, 3 skewness, 4 heavy tails.
    """

    order: int = 1
    separable: ClassVar[bool] = True

    def __post_init__(self) -> None:
        check_count("order", self.order)

    def features(self, targets: Array, scores: Array) -> Array:
        xp = array_namespace(targets)
        rank = special("ndtr", targets)
        size = xp.abs(targets)
        near = xp.minimum(size, like(_LARGE, targets))
        mills = math.sqrt(2 * math.pi) * xp.exp(special("log_ndtr", -near) + 0.5 * near**2)
        mills = xp.where(size < _LARGE, mills, 1.0 / xp.maximum(size, like(1.0, targets)))
        value, integral = _legendre(self.order, rank)
        # F / density, with F = rank (1 - rank) times a polynomial.
        return value + special("ndtr", size) * mills * integral * (scores + targets)

    def normal_features(self, targets: np.ndarray) -> np.ndarray:
        """Features of standard normal targets, whose scores are minus the targets, to some 1e-7."""
        return _normal_rank(self.order)(targets)


@dataclass(frozen=True)
class RadialRank:
    """Legendre polynomial of the rank of the target's distance from the origin, among draws from N(0, I).

    It is meant for whitened targets, as `Rank` is.

    Parameters
    ----------
    order : int
        1 sees the overall spread, 2 and above the shape.
    """

    order: int = 1

    def __post_init__(self) -> None:
        check_count("order", self.order)

    def features(self, targets: Array, scores: Array) -> Array:
        xp = array_namespace(targets)
        d = targets.shape[1]
        half = like(0.5 * d, targets)
        squared = xp.sum(targets**2, axis=1, keepdims=True)
        inside = special("gammainc", half + 0.0 * squared, 0.5 * squared)
        outside = special("gammaincc", half + 0.0 * squared, 0.5 * squared)
        tiny = float(xp.finfo(squared.dtype).smallest_normal)
        # log of r times the density of r, the chi distribution
        constant = (0.5 * d - 1.0) * math.log(2.0) + math.lgamma(0.5 * d)
        log_density = 0.5 * d * xp.log(xp.maximum(squared, like(tiny, squared))) - 0.5 * squared - constant
        extreme = log_density < 0.8 * math.log(tiny)
        ratio = inside * outside * xp.exp(xp.where(extreme, 0.0 * log_density, -log_density))
        far = 1.0 / xp.maximum(squared - d + 2.0, like(1.0, squared))
        ratio = xp.where(extreme, xp.where(squared > d, far, like(1.0 / d, squared) + 0.0 * far), ratio)
        value, integral = _legendre(self.order, inside)
        trace = xp.sum(scores * targets, axis=1, keepdims=True)
        return value + ratio * integral * (trace + squared)

    def normal_features(self, targets: np.ndarray) -> np.ndarray:
        """Features of standard normal targets, whose scores are minus the targets, to some 1e-7."""
        radius = np.sqrt(np.einsum("nd,nd->n", targets, targets))
        return _normal_radial_rank(self.order, targets.shape[1])(radius)[:, None]


@cache
def _normal_rank(order: int) -> Tabulated:
    """The normalised polynomial of the rank among draws from N(0, 1), as a function of the target."""
    return tabulate(lambda x: _horner(_coefficients(order)[0], 2.0 * special("ndtr", x) - 1.0), -_FAR, _FAR)


@cache
def _normal_radial_rank(order: int, d: int) -> Tabulated:
    """The normalised polynomial of the rank among draws from N(0, I), as a function of the radius."""

    def value(radius: np.ndarray) -> np.ndarray:
        rank = special("gammainc", 0.5 * d + 0.0 * radius, 0.5 * radius**2)
        return np.asarray(_horner(_coefficients(order)[0], 2.0 * rank - 1.0))

    return tabulate(value, 0.0, math.sqrt(d) + _FAR)


def _legendre(order: int, rank: Array) -> tuple[Array, Array]:
    """Normalised polynomial of a rank in (0, 1), and its integral from 0 divided by rank (1 - rank)."""
    value, integral = _coefficients(order)
    x = 2.0 * rank - 1.0
    return _horner(value, x), _horner(integral, x)


@cache
def _coefficients(order: int) -> tuple[tuple[float, ...], tuple[float, ...]]:
    """Coefficients of P_k and of its integral, which is -(1 - x^2) P_k' / (k (k + 1)) by Legendre's equation."""
    from numpy.polynomial import legendre, polynomial

    value = legendre.leg2poly([0.0] * order + [math.sqrt(2 * order + 1)])
    integral = polynomial.polyder(value) * (-2.0 / (order * (order + 1)))
    return tuple(map(float, value)), tuple(map(float, integral))


def _horner(coefficients: tuple[float, ...], x: Array) -> Array:
    total = 0.0 * x
    for coefficient in reversed(coefficients):
        total = total * x + coefficient
    return total
