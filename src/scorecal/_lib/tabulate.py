"""Smooth functions of one variable from a table, where millions of values are needed."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

_N_STEPS = 2**15  # linear interpolation then errs by some 1e-7, for functions of order 1 on tens of units


@dataclass(frozen=True, eq=False)
class Tabulated:
    """A function on an interval, interpolated linearly; beyond its ends, its values there."""

    low: float
    steps_per_unit: float
    values: np.ndarray
    slopes: np.ndarray  # differences of neighbouring values

    def __call__(self, x: np.ndarray) -> np.ndarray:
        place = np.clip((x - self.low) * self.steps_per_unit, 0.0, _N_STEPS - 1e-9)
        index = place.astype(np.int32)
        place -= index
        place *= self.slopes[index]
        place += self.values[index]
        return place


def tabulate(function: Callable[[np.ndarray], np.ndarray], low: float, high: float) -> Tabulated:
    """Return the function from `low` to `high` as a table."""
    values = function(np.linspace(low, high, _N_STEPS + 1))
    return Tabulated(low, _N_STEPS / (high - low), values[:-1].copy(), np.diff(values))
