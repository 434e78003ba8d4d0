"""The statistic of a view that compares pairs, for many drawn data sets of the same predictions.

The kernel between predictions is one n x n matrix for all of them. With a Gaussian kernel of fixed bandwidth between
targets, each data set costs two products, an exponential and two sums over n x n numbers: up to some 2000 rows, less
than random frequencies, which need as many sines for the same power.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from .._lib.arrays import Array, array_namespace, full_product, like
from .._lib.linalg import distance_factors
from ..kernels import Gaussian
from ..kernels.gram import Gram
from .frame import ViewFrame
from .view import View

_MOST_ROWS = 2000


@dataclass(frozen=True, eq=False)
class DensePairs:
    """U-statistics of H = k(P_i, P_j) h(y_i, y_j), from the matrix of k with zeros on its diagonal."""

    gram: Array  # (n, n)
    bandwidth: float

    def __call__(self, targets: Array, scores: Array) -> Array:
        """Return the statistic of targets and scores (n, d); for the bilinear form see `statistics.stein`."""
        xp, n = array_namespace(self.gram), self.gram.shape[0]
        left, right = distance_factors(targets / self.bandwidth)
        block = xp.exp(full_product(left, right.mT)) * self.gram
        y = targets / self.bandwidth**2
        u = scores - y
        own = xp.sum(scores * y - y**2, axis=1, keepdims=True) + 0.5 * targets.shape[1] / self.bandwidth**2
        ones = xp.ones_like(own)
        left, right = xp.concat([u, y, own, ones], axis=1), xp.concat([u, y, ones, own], axis=1)
        return xp.sum(block * full_product(left, right.mT)) / (n * (n - 1))


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
