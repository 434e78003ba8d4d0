"""Inner products between mean embeddings of signed measures by a ground kernel l: <mu, nu> = E l(X, X').

Here X ~ mu and X' ~ nu. The maximum mean discrepancy is a distance between such embeddings. The calibration error is an
inner product between embeddings of "point mass at the target, minus the prediction".
"""

from dataclasses import dataclass
from typing import Protocol

import numpy as np

from .._lib.arrays import Array, array_namespace, full_product, like
from .._lib.cached import cached_property
from .._lib.linalg import centre, distance_factors, middle_of, norms_cancel
from ..pairwise import Product
from .radial import Gaussian, Radial


class MeanEmbeddings(Protocol):
    """Mean embeddings of n signed measures; `floats_per_pair` is the working memory that one inner product needs."""

    @property
    def n(self) -> int: ...

    @property
    def floats_per_pair(self) -> int: ...

    def pairs(self, i: Array, j: Array) -> Array:
        """Inner products of the pairs (i_k, j_k), given as two integer arrays."""
        ...

    def __call__(self, rows: slice, cols: slice) -> Array:
        """Inner products between all rows and all columns."""
        ...

    def waves(self, rows: slice, w: Array) -> tuple[Array, Array]:
        """Means of cos(w.X) and sin(w.X), (rows, R) each, for frequencies w (d, R) in units of the bandwidth."""
        ...


@dataclass(frozen=True, eq=False)
class GaussianMeasures:
    """Measures sum_a weight_a N(mean_a, spread_a), with the Gaussian ground kernel of the given bandwidth.

    Weights are (n, K) and means (n, K, d). `spreads` are variances (n, K, 1) or (n, K, d), or covariances (n, K, d, d);
    zero stands for a point mass.
    """

    weights: Array
    means: Array
    spreads: Array
    bandwidth: Array | float

    @property
    def n(self) -> int:
        return int(self.means.shape[0])

    @property
    def dim(self) -> int:
        return int(self.means.shape[2])

    @property
    def floats_per_pair(self) -> int:
        d = int(self.means.shape[2])
        return 4 + (6 * d if self.spreads.ndim == 3 else 4 * d * d + 4 * d)

    def pairs(self, i: Array, j: Array) -> Array:
        xp = array_namespace(self.means)
        parts = (self.weights, self.means, self.spreads)
        (weights, means, spreads), (weights2, means2, spreads2) = (
            [xp.take(p, k, axis=0) for p in parts] for k in (i, j)
        )
        total: Array = 0.0
        for a in range(weights.shape[1]):
            for b in range(weights.shape[1]):
                expected = self._expected(means[:, a, :] - means2[:, b, :], spreads[:, a, ...] + spreads2[:, b, ...])
                total = total + weights[:, a] * weights2[:, b] * expected
        return total

    def __call__(self, rows: slice, cols: slice) -> Array:
        total: Array = 0.0
        for a in range(self.weights.shape[1]):
            for b in range(self.weights.shape[1]):
                weight = self.weights[rows, a][:, None] * self.weights[cols, b][None, :]
                spread = self.spreads[rows, a, ...][:, None, ...] + self.spreads[cols, b, ...][None, ...]
                total = total + weight * self._block_of(rows, a, cols, b, spread)
        return total

    def _block_of(self, rows: slice, a: int, cols: slice, b: int, spread: Array) -> Array:
        isotropic = self.spreads.ndim == 3 and self.spreads.shape[2] == 1
        if isotropic and self._factors is not None:  # one product gives all distances
            xp = array_namespace(self.means)
            spread = 1.0 + spread[..., 0] / self.bandwidth**2
            product = full_product(self._factors.left[rows, a, :], self._factors.right[cols, b, :].mT)
            return xp.exp(xp.minimum(product, 0.0) / spread) / spread ** (0.5 * self.means.shape[2])
        shift = self.means[rows, a, :][:, None, :] - self.means[cols, b, :][None, ...]
        return self._expected(shift, spread)

    @property
    def kernel(self) -> Radial:
        return Gaussian()

    def waves(self, rows: slice, w: Array) -> tuple[Array, Array]:
        """Means of cos(w.X) and sin(w.X), (rows, R) each, for frequencies w (d, R) in units of the bandwidth."""
        xp = array_namespace(self.means)
        angles = full_product((self.means[rows, ...] - self._middle) / self.bandwidth, w)
        spread = self.spreads[rows, ...] / self.bandwidth**2
        if spread.ndim == 4:
            variance = xp.sum(w * full_product(spread, w), axis=2)
        elif spread.shape[2] == 1:
            variance = spread * xp.sum(w**2, axis=0)
        else:
            variance = full_product(spread, w**2)
        size = self.weights[rows, :][..., None] * xp.exp(-0.5 * variance)
        return xp.sum(size * xp.cos(angles), axis=1), xp.sum(size * xp.sin(angles), axis=1)

    @cached_property
    def _middle(self) -> Array:
        return _middle_of_components(self.means)

    @cached_property
    def _factors(self) -> Product | None:
        return _augment_components(self.means, self.bandwidth)

    def _expected(self, shift: Array, spread: Array) -> Array:
        """E l(X, X') for X - X' ~ N(shift, spread)."""
        xp = array_namespace(shift)
        d = shift.shape[-1]
        spread = spread / self.bandwidth**2
        shift = shift / self.bandwidth
        if self.spreads.ndim == 3:
            log_det = xp.sum(xp.log1p(spread), axis=-1) * (d / spread.shape[-1])
            quadratic = xp.sum(shift**2 / (1.0 + spread), axis=-1)
        else:
            total = spread + like(np.eye(d), spread)
            log_det = xp.linalg.slogdet(total)[1]
            quadratic = xp.sum(shift * xp.linalg.solve(total, shift[..., None])[..., 0], axis=-1)
        return xp.exp(-0.5 * (log_det + quadratic))


@dataclass(frozen=True, eq=False)
class PointMeasures:
    """Measures sum_a weight_a (point mass at x_a), with any ground kernel; weights (K,) for all n, points (n, K, d)."""

    weights: Array
    points: Array
    kernel: Radial
    bandwidth: Array | float

    @property
    def n(self) -> int:
        return int(self.points.shape[0])

    @property
    def dim(self) -> int:
        return int(self.points.shape[2])

    @property
    def floats_per_pair(self) -> int:
        _, k, d = self.points.shape
        return int(k * (d + 5 if self._factors is not None else 3 * d + 3))

    def pairs(self, i: Array, j: Array) -> Array:
        xp = array_namespace(self.points)
        left, right = (xp.take(self.points, k, axis=0) for k in (i, j))
        total: Array = 0.0
        for a in range(self.points.shape[1]):
            t = xp.sum(((left[:, a, None, :] - right) / self.bandwidth) ** 2, axis=-1)
            total = total + self.weights[a] * full_product(self.kernel.profile(t)[0], self.weights)
        return total

    def __call__(self, rows: slice, cols: slice) -> Array:
        total: Array = 0.0
        for a in range(self.points.shape[1]):
            values = self.kernel.profile(self._squared_distances(rows, a, cols))[0]
            total = total + self.weights[a] * full_product(values, self.weights)
        return total

    def _squared_distances(self, rows: slice, a: int, cols: slice) -> Array:
        """Squared distances between point a of the rows and all points of the columns, (rows, cols, K)."""
        xp = array_namespace(self.points)
        if self._factors is None:
            gaps = self.points[rows, a, :][:, None, None, :] - self.points[cols, ...][None, ...]
            return xp.sum((gaps / self.bandwidth) ** 2, axis=-1)
        right = self._factors.right[cols, ...]
        n_cols, k, width = right.shape
        product = full_product(self._factors.left[rows, a, :], xp.reshape(right, (n_cols * k, width)).mT)
        return xp.reshape(-2.0 * xp.minimum(product, 0.0), (-1, n_cols, k))

    def waves(self, rows: slice, w: Array) -> tuple[Array, Array]:
        """Means of cos(w.X) and sin(w.X), (rows, R) each, for frequencies w (d, R) in units of the bandwidth."""
        xp = array_namespace(self.points)
        angles = full_product((self.points[rows, ...] - self._middle) / self.bandwidth, w)
        weights = self.weights[:, None]
        return xp.sum(weights * xp.cos(angles), axis=1), xp.sum(weights * xp.sin(angles), axis=1)

    @cached_property
    def _middle(self) -> Array:
        return _middle_of_components(self.points)

    @cached_property
    def _factors(self) -> Product | None:
        return _augment_components(self.points, self.bandwidth)


def _middle_of_components(points: Array) -> Array:
    """Return the middle of points (n, K, d): a large offset would round away digits."""
    return middle_of(array_namespace(points).reshape(points, (-1, points.shape[2])))


def _augment_components(points: Array, bandwidth: Array | float) -> Product | None:
    """Factors (n, K, d + 2) of -|x - x'|^2 / 2 for points (n, K, d), x in units of the bandwidth.

    None where norms would cancel.
    """
    xp = array_namespace(points)
    n, k, d = points.shape
    rows = centre(xp.reshape(points, (n * k, d))) / bandwidth  # a large offset would round away digits
    if norms_cancel(rows):
        return None
    return Product(*(xp.reshape(part, (n, k, d + 2)) for part in distance_factors(rows)))
