"""Second moments of whitened targets, E[s.z] + d, which tell a wrong spread from a wrong shape."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .._arrays import Array, array_namespace, to_numpy
from .space import Space

__all__ = ["Spread", "spread_in"]


@dataclass(frozen=True)
class Spread:
    """All but the ratio in standard errors; below 0, targets spread too much."""

    ratio: float  # of the second moment to what is claimed
    overall: float
    unbiased: float  # about the targets' own means, less what a shift of all of them would explain
    alone: list[float]  # each dimension


def spread_in(space: Space, coordinates: str) -> Spread:
    """In the coordinates of a view; of single dimensions, where these are whitened or marginal."""
    targets, scores, shares = space.at("whitened" if coordinates == "marginal" else coordinates)
    traces = _traces(targets, scores, shares)
    alone = []
    if coordinates in ("whitened", "marginal"):
        u, t, equal = space.at("marginal")
        alone = [_in_errors(_traces(u[..., a : a + 1], t[..., a : a + 1], equal)) for a in range(u.shape[2])]
    ratio = 1.0 - float(np.mean(traces)) / targets.shape[2]
    return Spread(ratio, _in_errors(traces), _without_shift(targets, scores, shares), alone)


def _without_shift(targets: Array, scores: Array, shares: Array) -> float:
    """A shift moves every feature f by -Cov(f, s) times it, and s itself by -Cov(s, s): f is regressed on s."""
    xp = array_namespace(targets)
    z, s = (part - xp.mean(xp.sum(part * shares, axis=0), axis=0) for part in (targets, scores))
    centred, off = _traces(z, s, shares), to_numpy(xp.sum(scores * shares, axis=0))
    shift = off.mean(axis=0)
    slopes = np.linalg.lstsq(off - shift, centred, rcond=None)[0]
    leverage = float(shift @ np.linalg.pinv(np.atleast_2d(np.cov(off.T, bias=True))) @ shift)
    return _in_errors(centred - off @ slopes) / float(np.sqrt(1.0 + leverage))


def _traces(targets: Array, scores: Array, shares: Array) -> np.ndarray:
    xp = array_namespace(targets)
    return np.asarray(to_numpy(xp.sum(xp.sum(targets * scores + 1.0, axis=2, keepdims=True) * shares, axis=(0, 2))))


def _in_errors(values: np.ndarray) -> float:
    return float(np.mean(values) / (np.std(values) / np.sqrt(len(values)) + 1e-300))
