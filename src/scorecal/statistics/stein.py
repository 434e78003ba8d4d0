"""The pair function H of the KCCSD: k(P_i, P_j) times the Stein kernel h of the targets (eq. 9 and 10)."""

from __future__ import annotations

from dataclasses import dataclass

from .._lib.arrays import Array, array_namespace
from .._lib.linalg import centre, distance_factors
from ..kernels.gram import EmbeddingGram
from ..kernels.radial import Gaussian, Radial
from ..pairwise import PairFunction, Product, ProductOfPairs


def stein_pairs(
    targets: Array, scores: Array, kernel: Radial, bandwidth: Array, gram: PairFunction
) -> GaussianStein | ProductOfPairs:
    """Return H from targets (n, d), scores (n, d), the kernel between targets and the Gram matrix of predictions."""
    if isinstance(kernel, Gaussian) and isinstance(gram, EmbeddingGram) and gram.outer == "gaussian":
        return _gaussian_stein(targets, scores, bandwidth, gram)
    # The longer computation comes first: a finished block that waits for it would leave the cache.
    return ProductOfPairs((radial_stein(targets, scores, kernel, bandwidth), gram))


@dataclass(frozen=True, eq=False)
class GaussianStein:
    """H = exp(one product) times another product, for two Gaussian kernels."""

    exponent: Product
    bilinear: Product
    scores: Array
    bandwidth: Array  # of the targets, the last columns of `features`
    floats_per_pair: int = 4

    @property
    def features(self) -> Array:
        """Rows between which the Gaussian kernel is evaluated, in units of its bandwidths."""
        return self.exponent.left[:, :-2]

    def __call__(self, rows: slice, cols: slice) -> Array:
        exponent = self.exponent(rows, cols)
        xp = array_namespace(exponent)
        # Rounding must not make a squared distance negative.
        return xp.exp(xp.minimum(exponent, 0.0)) * self.bilinear(rows, cols)


def _gaussian_stein(targets: Array, scores: Array, bandwidth: Array, gram: EmbeddingGram) -> GaussianStein:
    """H from k l = exp(-|psi_i - psi_j|^2 / 2) with psi = (phi / sigma_p, y / sigma), since h / l is bilinear:

    h / l = u_i.u_j + y_i.y_j / sigma^4 + a_i + a_j,  u = s - y / sigma^2,
    a = s.y / sigma^2 - |y|^2 / sigma^4 + d / (2 sigma^2).
    """
    xp = array_namespace(targets)
    y = centre(targets)
    precision = 1.0 / bandwidth**2
    u = scores - y * precision
    a = xp.sum(scores * y, axis=1, keepdims=True) * precision - xp.sum((y * precision) ** 2, axis=1, keepdims=True)
    a = a + 0.5 * targets.shape[1] * precision
    ones = xp.ones_like(a)
    bilinear = Product(xp.concat([u, y * precision, a, ones], axis=1), xp.concat([u, y * precision, ones, a], axis=1))
    exponent = Product(*distance_factors(xp.concat([gram.features, y / bandwidth], axis=1)))
    return GaussianStein(exponent, bilinear, scores, bandwidth)


@dataclass(frozen=True, eq=False)
class RadialStein:
    """Stein kernel h for any radial kernel l = f(t), t = |y - y'|^2 / sigma^2:

    h = f s_i.s_j + (2 f' / sigma^2) ((s_j - s_i).(y_i - y_j) - d - 2 t f'' / f').

    With f' / f = slope v and t f'' / f' = offset + r, the terms that do not depend on t are the product `gradient`.
    """

    kernel: Radial
    scores: Product
    gradient: Product
    distance: Product
    scale: Array  # -4 slope / sigma^2
    floats_per_pair: int = 10

    def __call__(self, rows: slice, cols: slice) -> Array:
        product = self.distance(rows, cols)
        t = array_namespace(product).maximum(product, 0.0)
        f, v, r = self.kernel.profile(t, self.scale)
        return f * (self.scores(rows, cols) + v * (self.gradient(rows, cols) + r))


def radial_stein(targets: Array, scores: Array, kernel: Radial, bandwidth: Array) -> RadialStein:
    """Return the Stein kernel h of the targets alone."""
    xp = array_namespace(targets)
    y = centre(targets)
    factor = 2.0 * kernel.slope / bandwidth**2
    # factor (s_j.y_i + s_i.y_j - s_i.y_i - s_j.y_j - d - 2 offset), half of the constants to each side.
    own = -factor * (xp.sum(scores * y, axis=1, keepdims=True) + 0.5 * targets.shape[1] + kernel.offset)
    ones, scaled = xp.ones_like(own), factor * y
    gradient = Product(xp.concat([scaled, scores, own, ones], axis=1), xp.concat([scores, scaled, ones, own], axis=1))
    left, right = distance_factors(y / bandwidth)
    distance = Product(-2.0 * left, right)
    return RadialStein(kernel, Product(scores, scores), gradient, distance, -2.0 * factor)
