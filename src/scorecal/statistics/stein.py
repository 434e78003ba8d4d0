"""The pair function H of the KCCSD: k(P_i, P_j) times the Stein kernel h of the targets (eq. 9 and 10)."""

from __future__ import annotations

from dataclasses import dataclass

from .._lib.arrays import Array, array_namespace
from .._lib.cached import cached_property
from .._lib.linalg import centre, norms_cancel
from ..kernels.gram import EmbeddingGram
from ..kernels.radial import Gaussian, Radial
from ..pairwise import (
    Differences,
    DistancesByBlock,
    PairFunction,
    Product,
    ProductOfPairs,
    Rows,
    SumOfPairs,
    half_distances,
    is_long,
    sum_of_differences,
)


def stein_pairs(
    targets: Array, scores: Array, kernel: Radial, bandwidth: Array, gram: PairFunction
) -> GaussianStein | ProductOfPairs:
    """Return H from targets (n, d), scores (n, d), the kernel between targets and the Gram matrix of predictions."""
    if isinstance(kernel, Gaussian) and isinstance(gram, EmbeddingGram) and gram.outer == "gaussian":
        return GaussianStein(centre(targets), scores, bandwidth, gram)
    # The longer computation comes first: a finished block that waits for it would leave the cache.
    return ProductOfPairs((RadialStein(centre(targets), scores, bandwidth, kernel), gram))


@dataclass(frozen=True, eq=False)
class GaussianStein:
    """H = exp(one product) times another product, for two Gaussian kernels; `targets` are centred.

    k l = exp(-|psi_i - psi_j|^2 / 2) with psi = (phi / sigma_p, y / sigma), and h / l is bilinear:

    h / l = u_i.u_j + y_i.y_j / sigma^4 + a_i + a_j,  u = s - y / sigma^2,
    a = s.y / sigma^2 - |y|^2 / sigma^4 + d / (2 sigma^2).

    Between targets far from each other, h / l = s_i.s_j + (s_i - s_j).D / sigma^2 + d / sigma^2 - |D|^2 / sigma^4 with
    D = y_i - y_j loses no digits. Factors are made when pairs are first asked for: random waves need none.
    """

    targets: Array
    scores: Array
    bandwidth: Array
    gram: EmbeddingGram

    takes_stacks = True

    def points(self, rows: slice) -> Array:
        """psi of some rows."""
        parts = [self.gram.features(rows), self.targets[rows, :] / self.bandwidth]
        return array_namespace(self.targets).concat(parts, axis=1)

    @cached_property
    def exponent(self) -> Product | DistancesByBlock | Differences:
        n, embedding = self.targets.shape[0], self.gram.embedding
        width = embedding.shape[1] + self.targets.shape[1]
        far = (norms_cancel(*each) for each in ((embedding, self.gram.unit), (self.targets, self.bandwidth)))
        if is_long(n, width) and not any(far):
            return DistancesByBlock(self.points, n, width)
        return half_distances(self.points(slice(0, n)))

    @cached_property
    def bilinear(self) -> PairFunction:
        y, scores, precision = self.targets, self.scores, 1.0 / self.bandwidth**2
        xp, constant = array_namespace(y), y.shape[1] * precision
        if norms_cancel(y / self.bandwidth):
            differences = sum_of_differences(scores - y * precision, y * precision, constant, far=True)
            return SumOfPairs((Product(scores, scores), differences))
        u = scores - y * precision
        a = xp.sum(scores * y, axis=1, keepdims=True) * precision - xp.sum((y * precision) ** 2, axis=1, keepdims=True)
        a = a + 0.5 * constant
        both, ones = [u, y * precision], xp.ones_like(a)
        return Product(xp.concat([*both, a, ones], axis=1), xp.concat([*both, ones, a], axis=1))

    @property
    def floats_per_pair(self) -> int:
        return 2 + self.exponent.floats_per_pair + self.bilinear.floats_per_pair

    def __call__(self, rows: Rows, cols: Rows) -> Array:
        exponent = self.exponent(rows, cols)
        xp = array_namespace(exponent)
        # Rounding must not make a squared distance negative.
        return xp.exp(xp.minimum(exponent, 0.0)) * self.bilinear(rows, cols)


@dataclass(frozen=True, eq=False)
class RadialStein:
    """Stein kernel h of the targets alone, centred ones, for any radial kernel l = f(t), t = |y - y'|^2 / sigma^2:

    h = f s_i.s_j + (2 f' / sigma^2) ((s_j - s_i).(y_i - y_j) - d - 2 t f'' / f').

    With f' / f = slope v and t f'' / f' = offset + r, the terms that do not depend on t are the product `gradient`.
    """

    targets: Array
    scores: Array
    bandwidth: Array
    kernel: Radial

    takes_stacks = True

    @cached_property
    def distance(self) -> Product | Differences:
        """-t / 2."""
        return half_distances(self.targets / self.bandwidth)

    @cached_property
    def gradient(self) -> PairFunction:
        factor = 2.0 * self.kernel.slope / self.bandwidth**2
        constant = -factor * (self.targets.shape[1] + 2.0 * self.kernel.offset)
        far = norms_cancel(self.targets / self.bandwidth)
        return sum_of_differences(self.scores, -factor * self.targets, constant, far=far)

    @property
    def scale(self) -> Array:
        """-4 slope / sigma^2."""
        return -4.0 * self.kernel.slope / self.bandwidth**2

    @property
    def floats_per_pair(self) -> int:
        return 8 + self.gradient.floats_per_pair + self.distance.floats_per_pair

    def __call__(self, rows: Rows, cols: Rows) -> Array:
        product = self.distance(rows, cols)
        t = -2.0 * array_namespace(product).minimum(product, 0.0)
        f, v, r = self.kernel.profile(t, self.scale)
        return f * (Product(self.scores, self.scores)(rows, cols) + v * (self.gradient(rows, cols) + r))
