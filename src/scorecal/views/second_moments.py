"""Second moments of whitened targets, E[s.z] + d, which tell a wrong spread from a wrong shape."""

from dataclasses import dataclass

import numpy as np

from .._lib.arrays import to_numpy
from .frame import ViewFrame

OF_ALL = ("whitened", "sequential", "marginal")  # coordinates of a whole prediction, in its units


@dataclass(frozen=True)
class Spread:
    """Second moments less what is claimed, in standard errors but for the ratio; below 0, targets spread too much."""

    ratio: float  # of the second moment to what is claimed
    overall: float
    alone: list[float]  # each dimension


@dataclass(frozen=True, eq=False)
class TraceSums:
    """Number of rows, and sums of second moments less what is claimed, and of their squares, (1 + d,): all, and alone.

    They add up over batches of rows.
    """

    n: int
    sums: np.ndarray
    squares: np.ndarray

    def __add__(self, other: "TraceSums") -> "TraceSums":
        return TraceSums(self.n + other.n, self.sums + other.sums, self.squares + other.squares)

    @property
    def spread(self) -> Spread:
        """Second moments of all rows."""
        means = self.sums / self.n
        errors = np.sqrt(np.maximum(self.squares / self.n - means**2, 0.0) / max(self.n - 1.0, 1.0))
        overall, *alone = np.divide(means, errors, out=np.zeros_like(means), where=errors > 0).tolist()
        return Spread(1.0 - float(means[0]) / len(alone), overall, alone)


def trace_sums(frame: ViewFrame) -> TraceSums:
    """Return the sums over the rows of a frame, in units of whole predictions."""
    parts = [_traces(*_rows(frame, "whitened", None))]
    u, t, shares = _rows(frame, "marginal", None)
    parts += [_traces(u[..., [a]], t[..., [a]], shares) for a in range(u.shape[2])]
    return TraceSums(len(parts[0]), *(np.array([np.sum(part**power) for part in parts]) for power in (1, 2)))


def spread_in(frame: ViewFrame, coordinates: str, outliers: np.ndarray | None = None) -> Spread:
    """Second moments in the coordinates of a view, without outliers; of whole predictions, also by dimension."""
    whitened = coordinates in OF_ALL
    traces = _traces(*_rows(frame, "whitened" if whitened else coordinates, outliers))
    alone = []
    if whitened:
        u, t, shares = _rows(frame, "marginal", outliers)
        alone = [_in_errors(_traces(u[..., [a]], t[..., [a]], shares)) for a in range(u.shape[2])]
    return Spread(1.0 - float(np.mean(traces)) / frame.reference.shape[1], _in_errors(traces), alone)


def _rows(frame: ViewFrame, coordinates: str, outliers: np.ndarray | None) -> list[np.ndarray]:
    """Targets, scores and shares of the rows that are kept."""
    parts = [to_numpy(part).astype(np.float64) for part in frame.at(coordinates)]
    kept = np.sum(parts[2], axis=(0, 2)) > 0
    if outliers is not None:
        kept &= ~outliers
    return [part[:, kept, :] for part in parts]


def _traces(z: np.ndarray, s: np.ndarray, shares: np.ndarray) -> np.ndarray:
    return np.asarray(np.sum(np.sum(z * s + 1.0, axis=2, keepdims=True) * shares, axis=(0, 2)))


def _in_errors(values: np.ndarray) -> float:
    error = np.std(values) / np.sqrt(len(values) - 1.0) if len(values) > 1 else 0.0
    return float(np.mean(values) / error) if error > 0 else 0.0
