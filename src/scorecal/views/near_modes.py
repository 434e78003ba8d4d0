"""Spread near the modes of predictions with several, of which nothing but scores is known.

With modes far apart, the spread of a whole prediction is mostly the distance between them, and hides how wide each is.
But for a direction v and the score s, (v.s)^2 + v.(ds/dy)v has mean zero: the Fisher information of a location, in two
ways (H. White, "Maximum likelihood estimation of misspecified models", Econometrica 50, 1982). It is larger where
targets lie farther from the mode that is next to them than the prediction claims.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from .._lib.arrays import Array, array_namespace, as_float, device_of, like
from ..coordinates.location_spread import known_moments
from ..predictions import evaluate_score

if TYPE_CHECKING:
    from .frame import ViewFrame

_SEED = 0  # of the directions: a part of the statistic, the same for observed and drawn targets
# In standard deviations from the centre. A fit to scores may have found one of the modes, with others on either side.
_FROM_CENTRE, _FROM_FIT = (-0.5, 0.5), (-9.0, -6.0, -4.0, -2.5, -0.5, 0.5, 2.5, 4.0, 6.0, 9.0)
_FEWEST = 0.05  # of the predictions
_STEP = 0.05  # standard deviations; shorter ones make jumps of the score rare and huge


@dataclass(frozen=True)
class NearModes:
    """The features (v.s)^2 + v.(ds/dy)v of whitened targets, for one random direction v in each row."""

    def frame_features(self, frame: ViewFrame, rows: slice) -> Array:
        return array_namespace(frame.targets).permute_dims(frame.information, (1, 0))[rows, :1]

    def of_stack(self, frame: ViewFrame) -> Array:
        """Return features (size, n, 1) of drawn targets (size, n, d)."""
        return frame.information[..., None]

    def are_too_far(self, frame: ViewFrame) -> bool:
        """Return whether targets lie farther from their modes than predictions claim, rather than nearer."""
        xp = array_namespace(frame.targets)
        return as_float(xp.sum(frame.information * frame.valleys[:, 0])) > 0.0


def information(frame: ViewFrame) -> Array:
    """(v.s)^2 + v.(ds/dy)v of the targets (S, n, d), (S, n), with scores averaged over a step; 0 where not known.

    With a(y), the mean of v.s from y to y + h v, the derivative of a along v is a difference of two scores, and
    (v.s) a + v.(da/dy) has mean zero for any h, also where scores jump. A score at a random point of the step stands
    for its mean.
    """
    xp, v, n = array_namespace(frame.targets), _directions(frame), frame.reference.shape[0]
    inside = like(np.random.default_rng(_SEED + 1).random((n, 1)), v)
    steps = xp.stack([_STEP * inside * v, _STEP * v])
    points = frame.targets[None, ...] + _unwhitened(frame, steps)[:, None, ...]
    ahead = evaluate_score(frame.predictions, xp.reshape(points, (-1, *points.shape[2:])), finite=False)
    at = frame.whitening.whitened(frame.targets, frame.scores)[1], frame.whitening.whitened(frame.targets, ahead)[1]
    here, (near, end) = xp.sum(v * at[0], axis=2), xp.reshape(xp.sum(v * at[1], axis=2), points.shape[:3])
    found = here * near + (end - here) / _STEP
    found = xp.where(xp.isfinite(found), found, xp.zeros_like(found))
    return found if frame.kept is None else found * frame.kept[:, 0]


def valleys(frame: ViewFrame) -> Array:
    """1 for predictions with a valley along a line through their centre, and 0 for others, (n, 1).

    Along a line across a single mode, the density rises and then falls; in a valley it falls and then rises.
    """
    xp, v = array_namespace(frame.targets), _directions(frame)
    fitted = known_moments(frame.predictions, frame.targets[0, ...]) is None
    distances = like(np.asarray(_FROM_FIT if fitted else _FROM_CENTRE)[:, None, None], v)
    points = frame.whitening.location + distances * _unwhitened(frame, v)
    scores = evaluate_score(frame.predictions, points, finite=False)
    slopes = xp.sum(v * frame.whitening.whitened(points, scores)[1], axis=2)
    falls, valley = slopes[0, ...] < 0.0, xp.zeros(slopes.shape[1], dtype=xp.bool, device=device_of(slopes))
    for k in range(1, slopes.shape[0]):
        valley = valley | (falls & (slopes[k, ...] > 0.0))
        falls = falls | (slopes[k, ...] < 0.0)
    return xp.astype(valley, frame.targets.dtype)[:, None]


def _directions(frame: ViewFrame) -> Array:
    """Directions (n, d) of length 1 in whitened units."""
    v = np.random.default_rng(_SEED).standard_normal(frame.reference.shape)
    return like(v / np.linalg.norm(v, axis=1, keepdims=True), frame.targets)


def _unwhitened(frame: ViewFrame, steps: Array) -> Array:
    """Steps (n, d) of whitened targets as steps of targets."""
    return frame.whitening.forward_step(steps)


def are_enough(found: Array) -> bool:
    """Return whether so many predictions have a valley that a view of them is worth its share of the level."""
    return as_float(array_namespace(found).mean(found)) >= _FEWEST
