"""The pair function H of the KCCSD: k(P_i, P_j) times the Stein kernel h of the targets (eq. 9 and 10)."""

from __future__ import annotations

from dataclasses import dataclass

from .._lib.arrays import Array, array_namespace
from .._lib.linalg import centre, norms_cancel
from ..kernels.gram import EmbeddingGram
from ..kernels.radial import Gaussian, Radial
from ..pairwise import (
    Differences,
    PairFunction,
    Product,
    ProductOfPairs,
    SumOfPairs,
    half_distances,
    sum_of_differences,
)


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

    exponent: Product | Differences
    bilinear: PairFunction
    scores: Array
    bandwidth: Array  # of the targets, the last columns of `features`

    @property
    def features(self) -> Array:
        """Rows between which the Gaussian kernel is evaluated, in units of its bandwidths."""
        exponent = self.exponent
        return exponent.left[:, :-2] if isinstance(exponent, Product) else exponent.a

    @property
    def floats_per_pair(self) -> int:
        return 2 + self.exponent.floats_per_pair + self.bilinear.floats_per_pair

    def __call__(self, rows: slice, cols: slice) -> Array:
        exponent = self.exponent(rows, cols)
        xp = array_namespace(exponent)
        # Rounding must not make a squared distance negative.
        return xp.exp(xp.minimum(exponent, 0.0)) * self.bilinear(rows, cols)


def _gaussian_stein(targets: Array, scores: Array, bandwidth: Array, gram: EmbeddingGram) -> GaussianStein:
    """H from k l = exp(-|psi_i - psi_j|^2 / 2) with psi = (phi / sigma_p, y / sigma), since h / l is bilinear:

    h / l = u_i.u_j + y_i.y_j / sigma^4 + a_i + a_j,  u = s - y / sigma^2,
    a = s.y / sigma^2 - |y|^2 / sigma^4 + d / (2 sigma^2).

    Between targets far from each other, h / l = s_i.s_j + (s_i - s_j).D / sigma^2 + d / sigma^2 - |D|^2 / sigma^4 with
    D = y_i - y_j loses no digits.
    """
    xp = array_namespace(targets)
    y = centre(targets)
    precision = 1.0 / bandwidth**2
    exponent = half_distances(xp.concat([gram.features, y / bandwidth], axis=1))
    constant = targets.shape[1] * precision
    bilinear: PairFunction
    if norms_cancel(y / bandwidth):
        differences = sum_of_differences(scores - y * precision, y * precision, constant, far=True)
        bilinear = SumOfPairs((Product(scores, scores), differences))
    else:
        u = scores - y * precision
        a = xp.sum(scores * y, axis=1, keepdims=True) * precision - xp.sum((y * precision) ** 2, axis=1, keepdims=True)
        a = a + 0.5 * constant
        both, ones = [u, y * precision], xp.ones_like(a)
        bilinear = Product(xp.concat([*both, a, ones], axis=1), xp.concat([*both, ones, a], axis=1))
    return GaussianStein(exponent, bilinear, scores, bandwidth)


@dataclass(frozen=True, eq=False)
class RadialStein:
    """Stein kernel h for any radial kernel l = f(t), t = |y - y'|^2 / sigma^2:

    h = f s_i.s_j + (2 f' / sigma^2) ((s_j - s_i).(y_i - y_j) - d - 2 t f'' / f').

    With f' / f = slope v and t f'' / f' = offset + r, the terms that do not depend on t are the product `gradient`.
    """

    kernel: Radial
    scores: Product
    gradient: PairFunction
    distance: PairFunction  # -t / 2
    scale: Array  # -4 slope / sigma^2

    @property
    def floats_per_pair(self) -> int:
        return 8 + self.gradient.floats_per_pair + self.distance.floats_per_pair

    def __call__(self, rows: slice, cols: slice) -> Array:
        product = self.distance(rows, cols)
        t = -2.0 * array_namespace(product).minimum(product, 0.0)
        f, v, r = self.kernel.profile(t, self.scale)
        return f * (self.scores(rows, cols) + v * (self.gradient(rows, cols) + r))


def radial_stein(targets: Array, scores: Array, kernel: Radial, bandwidth: Array) -> RadialStein:
    """Return the Stein kernel h of the targets alone."""
    y = centre(targets)
    factor = 2.0 * kernel.slope / bandwidth**2
    constant = -factor * (targets.shape[1] + 2.0 * kernel.offset)
    gradient = sum_of_differences(scores, -factor * y, constant, far=norms_cancel(y / bandwidth))
    return RadialStein(kernel, Product(scores, scores), gradient, half_distances(y / bandwidth), -2.0 * factor)
