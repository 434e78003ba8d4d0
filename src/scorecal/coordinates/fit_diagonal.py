"""Location and spread in many dimensions of predictions of which only scores are known: one spread for each dimension.

As in `fit_scores`, several rounds of limited steps at points spread like the last fit. Points are pairs of opposite
corners of a box, which have the distance of typical draws. From one to the opposite one, the score of a Gaussian whose
covariance is diagonal changes by -2 v / sd, for signs v; of others, what dimensions have in common cancels on average.
"""

import numpy as np

from .._lib.arrays import Array, array_namespace, device_of, like, to_numpy
from ..predictions import Predictions, Scores, draw_samples, evaluate_score, prior_of

_N_ROUNDS, _N_FULL_STEPS, _N_PRIOR_DRAWS = 40, 4, 2000
_REACH = (0.7, 1.0, 1.0, 1.3)  # of the corners, in units of the last fit
_WIDE, _SEED = 10.0, 0
_LINEAR, _LINEAR_AT_BASE = 1e-3, 0.5  # share of the scores that a linear fit may leave unexplained
# In units of the last fit: limits to the step and the curvature; and to the share of a step that is taken.
_FARTHEST, _FLATTEST, _STEEPEST, _SHORTEST = 1.0, 0.25, 16.0, 0.02
_SETTLED, _NEARLY_ALL = 0.1, 0.9  # root mean square error, of so many rows
_LEAST_KNOWN, _FEWEST_BASE = 0.5, 3


def fit_diagonal(predictions: Predictions, reference: Array) -> tuple[Array, Array, np.ndarray]:
    """Return locations and spreads (n, d), and a mask of the rows fitted."""
    n, d = predictions.n, predictions.dim
    xp, (mean, wide) = array_namespace(reference), _start(predictions)
    location, sd = (like(part, reference) + xp.zeros_like(reference) for part in (mean, wide))
    kept, least = (location, sd), np.full(n, np.inf)
    for k in range(_N_ROUNDS):
        signs = np.random.default_rng([_SEED, k]).integers(0, 2, (len(_REACH), d)) * 2.0 - 1.0
        centre, curvature, linear, known = _plane(predictions, signs, location, sd)
        off = np.asarray(to_numpy(xp.sqrt(xp.mean(centre**2 + (curvature - 1.0) ** 2, axis=1))))
        found = (np.asarray(to_numpy(xp.mean(curvature, axis=1))) > 0.0) & known & (off < least)
        least = np.where(found, off, least)
        new = _stepped(predictions, location, sd, centre, curvature, linear, 1.0 if k < _N_FULL_STEPS else 0.5)
        better, exact = (xp.asarray(part, device=device_of(reference))[:, None] for part in (found, found & linear))
        # The fit that a step started from, whose error is known, or what it leads to where scores are linear.
        best = (xp.where(exact, after, before) for after, before in zip(new, (location, sd), strict=True))
        kept = tuple(xp.where(better, one, old) for one, old in zip(best, kept, strict=True))
        location, sd = new
        if np.mean((least < _SETTLED) | linear) >= _NEARLY_ALL and np.all(np.isfinite(least)):
            break
    return *kept, np.isfinite(least)


def diagonal_at_base(scores: Scores, reference: Array) -> tuple[Array, Array, np.ndarray]:
    """Return the fit at the base points of the scores, by a line for each dimension."""
    if scores.at_base is None or scores.base_points is None or scores.base_points.shape[0] < _FEWEST_BASE:
        raise ValueError(
            "`Scores` can be whitened only from scores at known base points: give `at_base`, (n, m, d), and "
            f"`base_points`, (m, d), with m of {_FEWEST_BASE} or more."
        )
    xp = array_namespace(reference)
    points, at_points = like(scores.base_points, reference), like(scores.at_base, reference)
    mean, sd = xp.mean(points, axis=0), xp.std(points, axis=0)
    if not bool(xp.all(sd > 0)):
        raise ValueError("`base_points` must differ in every dimension for `Scores` to be whitened.")
    nodes, pulled = (points - mean) / sd, at_points * sd
    centre, curvature = xp.mean(pulled, axis=1), -xp.mean(pulled * nodes, axis=1)
    left = pulled - centre[:, None, :] + curvature[:, None, :] * nodes
    unexplained = xp.sum(left**2, axis=(1, 2)) / (xp.sum((curvature[:, None, :] * nodes) ** 2, axis=(1, 2)) + _tiny(sd))
    common = xp.mean(curvature, axis=1, keepdims=True)
    curvature = xp.where(curvature > 0.0, curvature, common)  # lines through few points
    fitted = (common[:, 0] > 0.0) & (unexplained <= _LINEAR_AT_BASE)
    safe = xp.where(fitted[:, None], curvature, xp.ones_like(curvature))
    location = xp.where(fitted[:, None], mean + sd * centre / safe, mean + xp.zeros_like(reference))
    return location, sd / xp.sqrt(safe), np.asarray(to_numpy(fitted))


def _start(predictions: Predictions) -> tuple[np.ndarray, np.ndarray]:
    """Mean and standard deviations (d,) of the prior or, without one, of a wide Gaussian."""
    prior, d = prior_of(predictions), predictions.dim
    if prior is None:
        return np.zeros(d), np.full(d, _WIDE)
    draws = to_numpy(draw_samples(prior, _N_PRIOR_DRAWS, np.random.default_rng(_SEED)))[0].astype(np.float64)
    return draws.mean(axis=0), draws.std(axis=0)


def _plane(
    predictions: Predictions, signs: np.ndarray, location: Array, sd: Array
) -> tuple[Array, Array, np.ndarray, np.ndarray]:
    """Fit the scores at corners of several boxes by a line for each dimension, in units of the last fit.

    Return values at the centre and curvatures (n, d), in which rows lines explain the scores, and which have enough
    scores that are finite. Those that are not agree with the last fit.
    """
    xp = array_namespace(location)
    centres, slopes, known = [], [], []
    for reach, row in zip(_REACH, signs, strict=True):
        ends = []
        for step in (like(reach * row, location), like(-reach * row, location)):
            scores = evaluate_score(predictions, location + sd * step, finite=False) * sd
            finite = xp.all(xp.isfinite(scores), axis=1, keepdims=True)
            ends.append(xp.where(finite, scores, -step + xp.zeros_like(scores)))
            known.append(np.asarray(to_numpy(finite))[:, 0])
        centres.append(0.5 * (ends[0] + ends[1]))
        slopes.append(-0.5 / reach * (ends[0] - ends[1]) * like(row, location))
    centre, curvature = _mean(centres), _mean(slopes)
    noise = _mean([(slope - curvature) ** 2 for slope in slopes])
    left = xp.sum(noise + _mean([(one - centre) ** 2 for one in centres]), axis=1)
    linear = to_numpy(left <= _LINEAR * xp.sum(curvature**2, axis=1) + _tiny(sd))
    return centre, _shrunk(curvature, noise / (len(slopes) - 1.0)), linear, np.mean(known, axis=0) > _LEAST_KNOWN


def _stepped(
    predictions: Predictions,
    location: Array,
    sd: Array,
    centre: Array,
    curvature: Array,
    linear: np.ndarray,
    share: float,
) -> tuple[Array, Array]:
    """Return the next locations and spreads; where lines do not explain the scores, these do not go far.

    Along the step, the score after it tells how long it should have been: dimensions may be correlated.
    """
    xp = array_namespace(location)
    positive = np.asarray(to_numpy(xp.all(curvature > 0.0, axis=1)))
    exact = xp.asarray(linear & positive, device=device_of(location))[:, None]
    held = xp.clip(curvature, _FLATTEST, _STEEPEST)
    step = sd * xp.clip(centre / held, -_FARTHEST, _FARTHEST)
    if not np.all(linear):
        after = evaluate_score(predictions, location + step, finite=False)
        before = xp.sum(centre / sd * step, axis=1, keepdims=True)
        fall = before - xp.sum(after * step, axis=1, keepdims=True)
        length = before / xp.where(fall > 0.0, fall, before)  # NaN where a score is
        step = step * xp.clip(xp.where(length > 0.0, length, xp.ones_like(length)), _SHORTEST, 1.0)
    held = xp.exp(share * xp.log(held))
    safe = xp.where(exact, curvature, xp.ones_like(curvature))
    return (
        location + xp.where(exact, sd * centre / safe, step),
        sd / xp.sqrt(xp.where(exact, safe, held)),
    )


def _mean(values: list[Array]) -> Array:
    return sum(values[1:], values[0]) / len(values)


def _shrunk(curvature: Array, noise: Array) -> Array:
    """Curvatures (n, d) that are as different as they are beyond noise of this variance: without noise, as they are.

    What other dimensions add to the curvature of one, where they are correlated, differs from pair to pair of points.
    """
    xp = array_namespace(curvature)
    common = xp.mean(curvature, axis=1, keepdims=True)
    between = xp.mean((curvature - common) ** 2, axis=1, keepdims=True) + _tiny(curvature)
    share = 1.0 - xp.minimum(xp.mean(noise, axis=1, keepdims=True), between) / between
    return common + share * (curvature - common)


def _tiny(array: Array) -> float:
    return float(array_namespace(array).finfo(array.dtype).smallest_normal)
