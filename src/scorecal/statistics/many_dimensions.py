r"""Test functions for the correlation of many dimensions, of which not every two can be looked at.

As for `Cross`, features are products of the score along one dimension and the target along another, which have mean
zero if the predictions are calibrated; they cost no more than a few numbers for each dimension.
"""

from dataclasses import dataclass

import numpy as np

from .._lib.arrays import Array, array_namespace, device_of
from .._lib.dimensions import pairs_of


@dataclass(frozen=True)
class SomeCross:
    """The features of `Cross` for some pairs: each dimension with the next one, and with two others at random."""

    def features(self, targets: Array, scores: Array) -> Array:
        xp = array_namespace(targets)
        first, second = (xp.asarray(part, device=device_of(targets)) for part in pairs_of(targets.shape[1]))
        one = xp.take(scores, first, axis=1) * xp.take(targets, second, axis=1)
        return 0.5 * (one + xp.take(scores, second, axis=1) * xp.take(targets, first, axis=1))


@dataclass(frozen=True)
class CommonCross:
    """Two features, each of mean square 1 for Gaussians: the sum over all pairs, and over dimensions and the next one.

    They see correlations of one sign, of all dimensions or of neighbours, however small each is.
    """

    def features(self, targets: Array, scores: Array) -> Array:
        xp, d = array_namespace(targets), targets.shape[1]
        every = xp.sum(targets, axis=1) * xp.sum(scores, axis=1) - xp.sum(targets * scores, axis=1)
        near = xp.sum(targets[:, 1:] * scores[:, :-1] + targets[:, :-1] * scores[:, 1:], axis=1)
        return xp.stack([every / (2.0 * d * (d - 1.0)) ** 0.5, 0.5 * near / (d - 1.0) ** 0.5], axis=1)

    @staticmethod
    def normal_moments(d: int) -> tuple[np.ndarray, np.ndarray]:
        """Means of squares and cubes for standard normal targets z: the latter are -8 tr A^3 for a feature -z' A z."""
        return np.ones(2), np.array([-8.0 * d * (d - 1.0) * (d - 2.0) / (2.0 * d * (d - 1.0)) ** 1.5, 0.0])
