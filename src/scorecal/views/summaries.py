"""Summaries of all dimensions of predictions by samples, for what ranks of single dimensions do not see."""

from dataclasses import dataclass
from typing import Any

from .._lib.arrays import Array, like, to_numpy
from .frame import ViewFrame


@dataclass(frozen=True)
class Summaries:
    """Ranks of summaries of the target among those of the members: their mean, spread, largest and distance."""

    def frame_features(self, frame: ViewFrame, rows: slice) -> Array:
        """Return features (rows, q), whose mean is zero if members and target may be exchanged."""
        pool: Any = frame.predictions
        return like(pool.summaries(to_numpy(frame.targets[0, rows, :]), rows), frame.targets)

    def of_stack(self, frame: ViewFrame) -> Array:
        """Return features (size, n, q) of drawn targets (size, n, d)."""
        pool: Any = frame.predictions
        return like(pool.summaries(to_numpy(frame.targets)), frame.targets)
