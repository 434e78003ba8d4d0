"""The frame of an average prediction, from sums over predictions that can be added up over batches of these."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .._lib.arrays import Array, array_namespace, check_finite, full_product
from .._lib.linalg import roots_and_inverses
from .mapped import Affine


@dataclass(frozen=True, eq=False)
class MomentSums:
    """Number of predictions, mean of their locations, scatter of these about it, and sum of their covariances.

    Where covariances of many dimensions are diagonal, so are the sums, (d,).
    """

    n: int
    mean: Array  # (d,)
    scatter: Array  # (d, d)
    within: Array  # (d, d)

    def __add__(self, other: MomentSums) -> MomentSums:
        n = self.n + other.n
        gap = other.mean - self.mean  # from means, not from sums of squares: digits of far locations do not cancel
        between = gap * gap if self.within.ndim == 1 else gap[:, None] * gap
        scatter = self.scatter + other.scatter + (self.n * (other.n / n)) * between
        return MomentSums(n, self.mean + (other.n / n) * gap, scatter, self.within + other.within)

    @property
    def total(self) -> Array:
        """Covariance (d, d) of a draw from a random prediction."""
        return (self.within + self.scatter) / self.n


def moment_sums(location: Array, covariance: Array) -> MomentSums:
    """Return the sums of locations (n, d) and covariances (n, d, d), or variances (n, d) or (n, 1)."""
    xp, n = array_namespace(location), location.shape[0]
    with np.errstate(over="ignore", invalid="ignore"):
        mean = xp.mean(location, axis=0)
        gaps = location - mean
        if covariance.ndim == 2:
            within = xp.sum(covariance + xp.zeros_like(location), axis=0)
            return MomentSums(n, mean, xp.sum(gaps**2, axis=0), within)
        return MomentSums(n, mean, full_product(gaps.mT, gaps), xp.sum(covariance, axis=0))


def average_frame(sums: MomentSums) -> Affine:
    """Return the frame, which has the mean, spreads and correlation of a draw from a random prediction.

    With the symmetric root of the correlation, units of the dimensions change nothing. Where covariances of many
    dimensions are diagonal, so is the frame, and whitened targets are in units of each dimension.
    """
    total = sums.total
    check_finite(
        "predictions.moments()",
        total,
        "These are covariances of all predictions together. Likely causes: a mean or a standard deviation that stands "
        "for a missing value, or predictions in extreme units.",
    )
    xp = array_namespace(total)
    if total.ndim == 1:
        sd = xp.sqrt(total)
        return Affine(sums.mean, sd, 1.0 / sd)
    sd = xp.sqrt(xp.linalg.diagonal(total))
    root, inverse = roots_and_inverses(total / (sd[:, None] * sd))
    return Affine(sums.mean, sd[:, None] * root, inverse / sd)
