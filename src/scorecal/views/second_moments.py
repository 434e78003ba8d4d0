"""Second moments of whitened targets, E[s.z] + d, which tell a wrong spread from a wrong shape."""

from dataclasses import dataclass

import numpy as np

from .._lib.arrays import to_numpy
from .frame import ViewFrame

_OF_ALL = ("whitened", "sequential", "marginal")  # coordinates of a whole prediction, in its units
_ROUNDING = 1e-3  # whitened and marginal coordinates that differ by less are the same


@dataclass(frozen=True)
class Spread:
    """Second moments less what is claimed, in standard errors but for the ratios; below 0, targets spread too much."""

    ratio: float  # of the second moment to what is claimed
    marginal_ratio: float  # the same with each dimension in units of its own spread
    overall: float
    alone: list[float]  # each dimension
    joint: float  # overall less marginal: of mean zero if correlations are right and spreads wrong by one factor
    unbiased: float  # of all, about the targets' own means, less what a shift of all of them would explain
    crossed: float  # the clearest of two dimensions together, about their means
    shift: float  # the clearest mean of a dimension, or of all together
    moments: tuple[float, float] | None  # the clearest mean, and the overall spread, of targets alone, if known


def spread_in(frame: ViewFrame, coordinates: str, outliers: np.ndarray | None = None) -> Spread:
    """Second moments in the coordinates of a view, without outliers; of whole predictions, also by dimension."""
    z, s, shares = _rows(frame, "whitened" if coordinates in _OF_ALL else coordinates, outliers)
    dim = z.shape[2]
    whitened = coordinates in _OF_ALL
    traces = _traces(z, s, shares)
    alone, apart = [], traces
    if whitened:
        u, t, equal = _rows(frame, "marginal", outliers)
        alone = [_in_errors(_traces(u[..., [a]], t[..., [a]], equal)) for a in range(dim)]
        apart = _traces(u, t, equal)
    known = whitened and frame.whitening.known
    moments = (_clearest_mean(np.sum(z * shares, axis=0)), _in_errors(_traces(z, -z, shares))) if known else None
    off = np.sum(s * shares, axis=0)
    z, s = (part - np.mean(np.sum(part * shares, axis=0), axis=0) for part in (z, s))
    both = [(a, b) for a in range(dim) for b in range(a)]
    crossed = [_in_errors(np.sum((z[..., a] * s[..., b] + z[..., b] * s[..., a]) * shares[..., 0], 0)) for a, b in both]
    return Spread(
        1.0 - float(np.mean(traces)) / dim,
        1.0 - float(np.mean(apart)) / dim,
        _in_errors(traces),
        alone,
        _in_errors(traces - apart) if np.std(traces - apart) > _ROUNDING * np.std(traces) else 0.0,
        _without_shift(_traces(z, s, shares), off),
        max(map(abs, crossed), default=0.0),
        _clearest_mean(off),
        moments,
    )


def _rows(frame: ViewFrame, coordinates: str, outliers: np.ndarray | None) -> list[np.ndarray]:
    """Targets, scores and shares of the rows that are kept."""
    parts = [to_numpy(part).astype(np.float64) for part in frame.at(coordinates)]
    kept = np.sum(parts[2], axis=(0, 2)) > 0
    if outliers is not None:
        kept &= ~outliers
    return [part[:, kept, :] for part in parts]


def _traces(z: np.ndarray, s: np.ndarray, shares: np.ndarray) -> np.ndarray:
    return np.asarray(np.sum(np.sum(z * s + 1.0, axis=2, keepdims=True) * shares, axis=(0, 2)))


def _clearest_mean(off: np.ndarray) -> float:
    return max(abs(_in_errors(column)) for column in (*off.T, np.sum(off, axis=1)))


def _without_shift(centred: np.ndarray, off: np.ndarray) -> float:
    """Mean of f less the part that a regression on s ascribes to a shift, divided by its standard error."""
    n, dim = off.shape
    if n < 4 * dim + 10:  # too few for a regression
        return _in_errors(centred)
    shift, around = off.mean(axis=0), off - off.mean(axis=0)
    inverse = np.linalg.pinv(around.T @ around / n)
    slopes = inverse @ (around.T @ centred) / n
    left = centred - centred.mean() - around @ slopes
    error = np.std(left * (1.0 - around @ inverse @ shift)) / np.sqrt(n - dim)  # that of the slopes included
    return float((centred.mean() - slopes @ shift) / error) if error > 0 else 0.0


def _in_errors(values: np.ndarray) -> float:
    error = np.std(values) / np.sqrt(len(values) - 1.0) if len(values) > 1 else 0.0
    return float(np.mean(values) / error) if error > 0 else 0.0
