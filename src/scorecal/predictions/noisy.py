"""Predictions of targets with noise: if P is calibrated for Y, so is P convolved with the noise for Y + noise.

Scores hardly depend on the weights of distant modes; those of noisy predictions, whose modes overlap, do.
"""

from dataclasses import dataclass
from numbers import Real
from typing import Any

import numpy as np

from .._lib.arrays import Array, like
from .protocol import describe


@dataclass(frozen=True, eq=False)
class Noisy:
    """Predictions convolved with independent Gaussian noise, which tests add to the targets."""

    convolved: Any
    noise_sd: Array  # (n, d)
    level: float

    @property
    def n(self) -> int:
        return int(self.convolved.n)

    @property
    def dim(self) -> int:
        return int(self.convolved.dim)

    @property
    def noise(self) -> str:
        return f"noised by {self.level:g} predictive sd"

    def __repr__(self) -> str:
        return describe(self, self.noise)

    def score(self, y: Array) -> Array:
        """Scores of the convolved predictions at `y`, broadcast against (n, d)."""
        return self.convolved.score(y)

    def moments(self) -> tuple[Array, Array]:
        """Means (n, d) and covariances (n, d, d), with the noise."""
        moments: tuple[Array, Array] = self.convolved.moments()
        return moments

    def noised(self, y: Array, rng: np.random.Generator) -> Array:
        """Add noise to targets."""
        return y + self.noise_sd * like(rng.standard_normal(tuple(y.shape)), y)


def check_level(level: float) -> None:
    """Raise unless `level` is positive and finite."""
    if isinstance(level, bool) or not isinstance(level, Real) or not 0 < level < np.inf:
        raise ValueError(f"`level` must be a positive number, in standard deviations, but is {level!r}.")
