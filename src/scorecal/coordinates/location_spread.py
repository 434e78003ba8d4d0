"""Location and spread of each prediction: its moments where they are known, otherwise fitted to its scores.

The score of a Gaussian is s(y) = -precision (y - mean): least squares over any few points y find both. Others are
fitted in several rounds of limited steps, at points spread like the last fit. In the end, over the points, the score
has mean zero and the slope of the Gaussian score, as in variational inference.
"""

from typing import Any

import numpy as np
from array_api_compat import is_array_api_obj

from .._lib.arrays import Array, array_namespace, check_finite, check_real, device_of, full_product, like, to_numpy
from .._lib.linalg import symmetric_root, times
from .._lib.warn import warn_user
from ..predictions import HasMoments, Predictions, Scores, draw_samples, evaluate_score, prior_of, spread_of

_N_ROUNDS, _N_PRIOR_DRAWS = 40, 2000
_N_FULL_STEPS, _PATIENCE = 6, 6  # rounds before steps are halved, since full ones may oscillate; rounds between checks
_SEED = 0  # for the points: fixed, so that the coordinates do not depend on `rng`
_FLOATS_AT_ONCE = 2**22
# Scores count as Gaussian if a linear fit leaves at most this share unexplained; more is allowed in a single round.
_LINEAR, _LINEAR_AT_BASE = 1e-3, 0.5
# For other scores, in units of the last fit: limits to a score (per root of d), the step and the curvature.
_LARGEST, _FARTHEST, _FLATTEST, _STEEPEST = 5.0, 1.0, 0.25, 16.0
_SETTLED, _LOOSE = 0.05, 2.0
_LEAST_KNOWN = 0.5  # of the points: from fewer finite scores no fit is made


def location_and_spread(predictions: Predictions, reference: Array) -> tuple[Array, Array, np.ndarray]:
    """Means (n, d) and covariances (n, d, d), known or fitted, and a mask (n,) of rows where no fit was found."""
    known = known_moments(predictions, reference)
    if known is not None:
        return *known, np.zeros(predictions.n, dtype=bool)
    if isinstance(predictions, Scores):
        location, root, fitted = _fit_at_base(predictions, reference)
    else:
        location, root, fitted = _fit(predictions, reference)
    n_left = int(np.sum(~fitted))
    if n_left:
        warn_user(
            f"`predictions`: {n_left} of {len(fitted)} have scores that do not point back to a centre on average, so "
            "that no spread can be fitted. `calibration_test` leaves these rows out of whitened views; `kccsd_test` "
            "uses the spread of the base points (the prior, or N(0, I)). Likely causes: scores of the wrong sign, a "
            "bounded support that was not given, modes far apart, or base points far from the predictions."
        )
    return location, full_product(root, root.mT), ~fitted


def known_moments(predictions: Any, reference: Array) -> tuple[Array, Array] | None:
    """Return means and covariances; None if there are none, or infinite ones (then scores can be fitted instead)."""
    n, d = predictions.n, predictions.dim
    found = spread_of(predictions)
    if not isinstance(predictions, HasMoments) and found is None:
        return None
    found = _of_draws(found) if is_array_api_obj(found) else found or predictions.moments()
    if not isinstance(found, tuple) or len(found) != 2:
        raise TypeError(f"`predictions.moments()` must return means and covariances, but gave {type(found).__name__}.")
    for part in found:
        if is_array_api_obj(part):
            check_real("predictions.moments()", part)
    mean, covariance = (like(part, reference) for part in found)
    for name, part, shape in (("means", mean, (n, d)), ("covariances", covariance, (n, d, d))):
        if tuple(part.shape) != shape:
            raise ValueError(
                f"`predictions.moments()` must return means (n, d) and covariances (n, d, d), but the {name} have "
                f"shape {tuple(part.shape)}, not {shape}."
            )
    xp = array_namespace(covariance)
    if not bool(xp.all(xp.isfinite(covariance))):
        return None
    if not bool(xp.all(xp.linalg.diagonal(covariance) > 0)):
        raise ValueError("`predictions.moments()` must return positive variances, but some are zero or less.")
    check_finite("predictions.moments()", mean)
    return mean, covariance


def _of_draws(draws: Array) -> tuple[Array, Array]:
    """Means and covariances of draws (m, n, d)."""
    xp = array_namespace(draws)
    mean = xp.mean(draws, axis=0)
    gaps = xp.permute_dims(draws - mean, (1, 0, 2))
    return mean, full_product(gaps.mT, gaps) / (draws.shape[0] - 1)


def _fit(predictions: Predictions, reference: Array) -> tuple[Array, Array, np.ndarray]:
    """Locations, roots of spreads and a mask of the rows fitted: repeated least squares of scores near the last fit."""
    n, d = predictions.n, predictions.dim
    prior = prior_of(predictions)
    mean, root = np.zeros(d), np.eye(d)
    if prior is not None:
        draws = to_numpy(draw_samples(prior, _N_PRIOR_DRAWS, np.random.default_rng(_SEED)))[0].astype(np.float64)
        mean, root = draws.mean(axis=0), symmetric_root(np.cov(draws.T).reshape(d, d))
    half = np.random.default_rng(_SEED).standard_normal((max(8, 2 * d), d))
    nodes = np.concatenate([half, -half])
    xp = array_namespace(reference)
    location = like(mean, reference) + xp.zeros_like(reference)
    roots = xp.broadcast_to(like(root, reference), (n, d, d))
    places = like(nodes, reference)
    at_once = max(1, _FLOATS_AT_ONCE // (n * d))
    fitted, least, best = np.zeros(n, dtype=bool), np.full(n, np.inf), np.full(n, np.inf)
    before, kept = (to_numpy(location), _size_of(roots), least), (location, roots)
    for k in range(_N_ROUNDS):
        scores = []
        for start in range(0, len(nodes), at_once):
            some = places[start : min(start + at_once, len(nodes)), :]
            points = location + xp.permute_dims(full_product(roots, some.mT), (2, 0, 1))
            scores.append(evaluate_score(predictions, points, finite=False))
        share = 1.0 if k < _N_FULL_STEPS else 0.5
        filled, known = _filled(nodes, xp.concat(scores), roots)
        last = (location, roots)
        location, roots, fitted, off = _improve(nodes, filled, location, roots, _LINEAR, share)
        fitted = fitted & known  # arrays of JAX are read-only in memory
        better = xp.asarray(fitted & (off < best), device=device_of(reference))
        kept = (xp.where(better[:, None], last[0], kept[0]), xp.where(better[:, None, None], last[1], kept[1]))
        best, least = np.where(fitted, np.minimum(best, off), best), np.minimum(least, off)
        if np.all(off < _SETTLED):
            break
        if k % _PATIENCE == _PATIENCE - 1:
            now = (to_numpy(location), _size_of(roots), least)
            if np.all((off < _SETTLED) | ~_still_going(before, now)):
                break
            before = now
    # Of several modes, fits may go from one that holds all of them to one between them, where scores point away, and
    # back: the best one counts.
    back = ~fitted & (best < _LOOSE)
    again = xp.asarray(back, device=device_of(reference))
    location, roots = xp.where(again[:, None], kept[0], location), xp.where(again[:, None, None], kept[1], roots)
    fitted = fitted | back
    found = xp.asarray(fitted, device=device_of(reference))
    location = xp.where(found[:, None], location, like(mean, reference))
    return location, xp.where(found[:, None, None], roots, like(root, reference)), fitted


def _filled(nodes: np.ndarray, scores: Array, roots: Array) -> tuple[Array, np.ndarray]:
    """Return scores (m, n, d) in which those that are not finite agree with the last fit, and rows with enough others.

    A density may underflow far out, or a point be rounded to the boundary of a support: the other points tell.
    """
    xp = array_namespace(scores)
    known = xp.all(xp.isfinite(scores), axis=2)  # (m, n)
    enough = np.asarray(to_numpy(xp.sum(xp.astype(known, scores.dtype), axis=0))) > _LEAST_KNOWN * len(nodes)
    if bool(xp.all(known)):
        return scores, enough
    expected = -xp.linalg.solve(roots.mT, like(nodes.T, scores) + xp.zeros_like(roots[:, :1, :1]))
    return xp.where(known[..., None], scores, xp.permute_dims(expected, (2, 0, 1))), enough


def _size_of(roots: Array) -> np.ndarray:
    return np.asarray(to_numpy(array_namespace(roots).sum(roots**2, axis=(1, 2)))) ** 0.5


def _still_going(before: tuple[np.ndarray, ...], now: tuple[np.ndarray, ...]) -> np.ndarray:
    """Rows that improved, or moved to another location or spread rather than oscillate."""
    (place, size, off), (new_place, new_size, new_off) = before, now
    moved = np.linalg.norm(new_place - place, axis=1) > np.minimum(size, new_size)
    return np.asarray((new_off < 0.9 * off) | moved | (np.abs(np.log(new_size / size)) > np.log(2.0)))


def _fit_at_base(scores: Scores, reference: Array) -> tuple[Array, Array, np.ndarray]:
    """Fit in one round, at the base points of the scores."""
    if scores.at_base is None or scores.base_points is None:
        raise ValueError(
            "`Scores` can be whitened only from scores at known base points: give `at_base`, (n, m, d), and "
            "`base_points`, (m, d)."
        )
    points = to_numpy(scores.base_points).astype(np.float64)
    m, d = points.shape
    root = symmetric_root(np.cov(points.T).reshape(d, d)) if m > d else np.zeros((d, d))
    if m <= d or np.linalg.matrix_rank(root) < d:
        raise ValueError(
            f"`base_points` must hold at least d + 1 = {d + 1} points that span all dimensions for `Scores` to be "
            f"whitened, but has shape {(m, d)}."
        )
    mean = points.mean(axis=0)
    xp = array_namespace(reference)
    location = like(mean, reference) + xp.zeros_like(reference)
    roots = xp.broadcast_to(like(root, reference), (scores.n, d, d))
    at_nodes = xp.permute_dims(like(scores.at_base, reference), (1, 0, 2))
    nodes = np.linalg.solve(root, (points - mean).T).T
    fit, narrower, good, off = _improve(nodes, at_nodes, location, roots, _LINEAR_AT_BASE)
    linear = to_numpy(_plane(nodes, full_product(xp.permute_dims(at_nodes, (1, 0, 2)), roots))[2]) <= _LINEAR_AT_BASE
    fitted = good & (linear | (off < _SETTLED))
    found = xp.asarray(fitted, device=device_of(reference))
    return xp.where(found[:, None], fit, location), xp.where(found[:, None, None], narrower, roots), fitted


def _improve(
    nodes: np.ndarray, scores: Array, location: Array, root: Array, leftover: float, share: float = 1.0
) -> tuple[Array, Array, np.ndarray, np.ndarray]:
    """Return the next location and root (n, d, d), from scores (m, n, d) at location + root x for nodes x (m, d).

    Also return for each row whether its curvature is positive, and the error of the last location and root.
    """
    xp = array_namespace(location)
    pulled = full_product(xp.permute_dims(scores, (1, 0, 2)), root)  # the scores of x, (n, m, d)
    linear = _plane(nodes, pulled)[2] <= leftover
    # A few huge scores, far out in a density that is not Gaussian, must not dominate the fit.
    size = xp.sqrt(xp.sum(pulled**2, axis=2, keepdims=True))
    largest = like(_LARGEST * nodes.shape[1] ** 0.5, size)
    pulled = xp.where(linear[:, None, None], pulled, pulled * (largest / xp.maximum(size, largest)))
    centre, slopes, _ = _plane(nodes, pulled)
    curvature, axes = xp.linalg.eigh(-0.5 * (slopes + slopes.mT))
    good = curvature[:, 0] > 1e-9 * xp.abs(curvature[:, -1])
    linear = linear & good
    off = xp.maximum(xp.max(xp.abs(centre), axis=1), xp.max(xp.abs(curvature - 1.0), axis=1))
    curvature = xp.where(linear[:, None], curvature, xp.clip(curvature, _FLATTEST, _STEEPEST))
    step = times(axes, times(axes.mT, centre) / curvature)
    length = xp.sqrt(xp.sum(step**2, axis=1, keepdims=True))
    step = xp.where(linear[:, None], step, step * (_FARTHEST / xp.maximum(length, like(_FARTHEST, length))))
    power = xp.where(linear, like(1.0, size), like(share, size))
    scaled = axes * xp.exp(-0.5 * power[:, None] * xp.log(curvature))[:, None, :]
    narrower = full_product(root, scaled, axes.mT)
    return location + times(root, power[:, None] * step), narrower, to_numpy(good), to_numpy(off)


def _plane(nodes: np.ndarray, values: Array) -> tuple[Array, Array, Array]:
    """Fit values (n, m, d) by least squares: value at the centre (n, d), slopes (n, d, d), unexplained share (n,)."""
    xp = array_namespace(values)
    design = np.concatenate([np.ones((len(nodes), 1)), nodes], axis=1)
    coefficients = full_product(like(np.linalg.pinv(design), values), values)
    centre, slopes = coefficients[:, 0, :], coefficients[:, 1:, :]
    explained = full_product(like(nodes, values), slopes)
    left = values - centre[:, None, :] - explained
    tiny = float(xp.finfo(values.dtype).smallest_normal)
    return centre, slopes, xp.sum(left**2, axis=(1, 2)) / (xp.sum(explained**2, axis=(1, 2)) + tiny)
