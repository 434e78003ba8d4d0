"""The statistic of a view that compares pairs, for many drawn data sets of the same predictions.

The kernel between predictions is one n x n matrix for all of them. With a Gaussian kernel of fixed bandwidth between
targets, each data set costs two products, an exponential and two sums over n x n numbers: up to some 2000 rows, less
than random frequencies, which need as many sines for the same power.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from .._lib.arrays import Array, array_namespace, full_product, like
from .._lib.cached import cached_property
from ..kernels import Gaussian
from ..kernels.gram import Gram
from .frame import ViewFrame
from .view import View

_MOST_ROWS, _PAIRS_AT_ONCE = 2000, 2**16
_ROWS_OF_STRIP = 25


@dataclass(frozen=True, eq=False)
class DensePairs:
    """U-statistics of H = k(P_i, P_j) h(y_i, y_j), from the matrix of k with zeros on its diagonal."""

    gram: Array  # (n, n)
    bandwidth: float

    def __call__(self, targets: Array, scores: Array) -> Array:
        """Return the statistics (m,) of targets and scores (m, n, d), a few data sets at a time."""
        found = [self._of(targets[some, ...], scores[some, ...]) for some in _few(targets, targets.shape[1])]
        return array_namespace(targets).concat(found)

    def of_normal(self, targets: np.ndarray) -> np.ndarray:
        """Return the statistics (m,) of standard normal targets (m, n, d), whose scores are minus the targets."""
        return np.concatenate([self._of_normal(targets[some]) for some in _few(targets, _ROWS_OF_STRIP)])

    def _of_normal(self, z: np.ndarray) -> np.ndarray:
        """With scores -z and D = z_i - z_j, h / l = (|z_i|^2 + |z_j|^2) / 2 + d / sigma^2 - factor |D|^2 / (2 sigma^2).

        The matrix is symmetric: strips of it that begin at the diagonal will do.
        """
        n, d = z.shape[1:]
        precision = self.bandwidth**-2
        factor = 1.0 / precision + 2.0 + 2.0 * precision
        half = 0.5 * np.einsum("mnd,mnd->mn", z, z)[..., None]
        norms, ones = -precision * half, np.ones_like(half)
        left, right = np.concatenate([precision * z, norms, ones], 2), np.concatenate([z, ones, norms], 2)
        ends = np.concatenate([ones, half], 2).swapaxes(1, 2)
        total = np.zeros(len(z))
        for start, gram in self._strips:
            strip = slice(start, start + len(gram))
            exponents = np.matmul(left[:, strip], right[:, start:].swapaxes(1, 2))
            block = np.exp(exponents)
            block *= gram
            sums, own = np.matmul(ends[:, :, strip], block).swapaxes(0, 1)
            total += factor * np.einsum("mnk,mnk->m", block, exponents)
            total += np.einsum("mk,mk->m", sums, half[:, start:, 0] + d * precision) + np.sum(own, axis=1)
        return np.asarray(total / (n * (n - 1)))

    @cached_property
    def _strips(self) -> list[tuple[int, np.ndarray]]:
        """First rows of strips of the matrix, and these from the diagonal on, so that each pair is in one of them."""
        found = []
        for start in range(0, len(self.gram), _ROWS_OF_STRIP):
            strip = np.array(self.gram[start : start + _ROWS_OF_STRIP, start:])
            strip[:, _ROWS_OF_STRIP:] *= 2.0
            found.append((start, strip))
        return found

    def _of(self, targets: Array, scores: Array) -> Array:
        """For the bilinear form, u_i.u_j + y_i.y_j + a_i + a_j, see `statistics.stein`."""
        xp, n, d = array_namespace(self.gram), self.gram.shape[0], targets.shape[2]
        x, y = targets / self.bandwidth, targets / self.bandwidth**2
        norms = -0.5 * xp.sum(x**2, axis=2, keepdims=True)
        own = xp.sum(scores * y - y**2, axis=2, keepdims=True) + 0.5 * d / self.bandwidth**2
        u, ones = scores - y, xp.ones_like(own)

        def product(left: list[Array], right: list[Array]) -> Array:
            return full_product(xp.concat(left, axis=2), xp.concat(right, axis=2).mT)

        block = xp.exp(product([x, norms, ones], [x, ones, norms])) * self.gram
        block = block * product([u, y, own, ones], [u, y, ones, own])
        return xp.sum(block, axis=(1, 2)) / (n * (n - 1))


def _few(targets: Array, n_rows: int) -> list[slice]:
    """Slices of data sets (m, n, d) whose pairs with `n_rows` of the rows fit the cache together."""
    m, n, _ = targets.shape
    size = max(1, _PAIRS_AT_ONCE // (n * n_rows))
    return [slice(k, min(k + size, m)) for k in range(0, m, size)]


def is_dense(view: View, frame: ViewFrame) -> bool:
    """Return whether the pairs of a view can be computed from one matrix of all predictions."""
    kernel: Any = view.target_kernel
    return (
        not view.finite_rank
        and isinstance(kernel, Gaussian)
        and not isinstance(kernel.bandwidth, str)
        and frame.reference.shape[0] <= _MOST_ROWS
    )


def dense_pairs(view: View, frame: ViewFrame) -> DensePairs:
    """Return the statistic of a view as a function of targets; its kernel has been evaluated for the observed ones."""
    gram: Gram = frame.grams[view.name][0]
    n = frame.reference.shape[0]
    every = slice(0, n)
    block = gram(every, every)
    kept = frame.kept if view.coordinates != "natural" else None
    if kept is not None:
        block = block * full_product(kept, kept.mT)
    kernel: Any = view.target_kernel
    return DensePairs(block * like(1.0 - np.eye(n), block), float(kernel.bandwidth))
