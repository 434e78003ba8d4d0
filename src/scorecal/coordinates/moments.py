"""Location and spread of each prediction: its moments where they are known, otherwise fitted from its scores.

The score of a Gaussian is s(y) = -precision (y - mean). Least squares over a few points y find both, whatever the
points; for other predictions, points from the last fit make it one of the part where the prediction lives.
"""

from __future__ import annotations

import warnings

import numpy as np

from .._arrays import Array, array_namespace, check_finite, like, to_numpy
from ..predictions import Predictions, Scores, draw_samples, evaluate_score

__all__ = ["location_and_spread"]

_N_ROUNDS, _N_PRIOR_DRAWS = 3, 2000
_SEED = 0  # of the points: a constant, so that the coordinates do not depend on `rng`
_FLOATS_AT_ONCE = 2**22
_WIDEST = 30.0  # in units of the prior: a prediction that seems wider has no curvature to speak of


def location_and_spread(predictions: Predictions, reference: Array) -> tuple[Array, Array]:
    """Means (n, d) and covariances (n, d, d), or what stands for them; they depend on the predictions only."""
    if hasattr(predictions, "moments"):
        mean, covariance = (like(part, reference) for part in predictions.moments())
        check_finite("predictions.moments()", covariance, "Likely cause: tails so heavy that there is no variance.")
        return mean, covariance
    if isinstance(predictions, Scores):
        location, root, fitted = _fit_at_base(predictions, reference)
    else:
        location, root, fitted = _fit(predictions, reference)
    n_left = int(np.sum(~fitted))
    if n_left:
        warnings.warn(
            f"`predictions`: {n_left} of {len(fitted)} have scores that do not point back to a centre on average, so "
            "that no spread can be fitted to them; they are judged in units of the base points (the prior, or "
            "N(0, I)), which is valid but sees less. Likely causes: modes far apart, or base points far from the "
            "predictions (give them a `prior`).",
            stacklevel=6,
        )
    return location, root @ root.mT


def _fit(predictions: Predictions, reference: Array) -> tuple[Array, Array, np.ndarray]:
    """Rounds of least squares, each at points spread like the last fit; the first, like the prior or N(0, I)."""
    n, d = predictions.n, predictions.dim
    prior = getattr(predictions, "prior", None)
    mean, root, flattest = np.zeros(d), np.eye(d), 0.0
    if prior is not None:
        draws = to_numpy(draw_samples(prior, _N_PRIOR_DRAWS, np.random.default_rng(_SEED)))[0].astype(np.float64)
        mean, root, flattest = draws.mean(axis=0), _root(np.cov(draws.T).reshape(d, d)), _WIDEST**-2
    half = np.random.default_rng(_SEED).standard_normal((max(8, 2 * d), d))
    nodes = np.concatenate([half, -half])
    xp = array_namespace(reference)
    location = like(mean, reference) + xp.zeros_like(reference[:, :1])
    roots = xp.broadcast_to(like(root, reference), (n, d, d))
    weights, places = like(_regression(nodes), reference), like(nodes, reference)
    at_once = max(1, _FLOATS_AT_ONCE // (n * d))
    fitted = np.zeros(n, dtype=bool)
    for _ in range(_N_ROUNDS):
        coefficients = 0.0
        for start in range(0, len(nodes), at_once):
            part = slice(start, start + at_once)
            points = location + xp.permute_dims(roots @ places[part, :].mT, (2, 0, 1))
            coefficients += xp.tensordot(weights[:, part], evaluate_score(predictions, points), axes=1)
        location, roots, good = _improve(coefficients, location, roots, flattest)
        fitted |= good
    return location, roots, fitted


def _fit_at_base(scores: Scores, reference: Array) -> tuple[Array, Array, np.ndarray]:
    """One round, at the base points that the scores came with."""
    if scores.at_base is None or scores.base_points is None:
        raise ValueError(
            "`Scores` can be whitened only from scores at known base points: give `at_base`, (n, m, d), and "
            "`base_points`, (m, d)."
        )
    points = to_numpy(scores.base_points).astype(np.float64)
    m, d = points.shape
    root = _root(np.cov(points.T).reshape(d, d)) if m > d else np.zeros((d, d))
    if m <= d or np.linalg.matrix_rank(root) < d:
        raise ValueError(
            f"`base_points` must hold at least d + 1 = {d + 1} points that span all dimensions for `Scores` to be "
            f"whitened, but has shape {(m, d)}."
        )
    mean = points.mean(axis=0)
    weights = like(_regression(np.linalg.solve(root, (points - mean).T).T), reference)
    xp = array_namespace(reference)
    coefficients = xp.tensordot(weights, xp.permute_dims(like(scores.at_base, reference), (1, 0, 2)), axes=1)
    location = like(mean, reference) + xp.zeros_like(reference[:, :1])
    roots = xp.broadcast_to(like(root, reference), (scores.n, d, d))
    return _improve(coefficients, location, roots, 0.0)


def _improve(coefficients: Array, location: Array, root: Array, flattest: float) -> tuple[Array, Array, np.ndarray]:
    """From s = a + B x at y = location + root x, as (d + 1, n, d), to the Gaussian of this score, where it is one."""
    xp = array_namespace(location)
    at_location = coefficients[0, :, :]
    slopes = xp.permute_dims(coefficients[1:, :, :], (1, 0, 2)) @ root
    curvature, axes = xp.linalg.eigh(-0.5 * (slopes + slopes.mT))
    good = curvature[:, 0] > xp.maximum(1e-9 * curvature[:, -1], like(flattest, location))
    curvature = xp.where(good[:, None], curvature, xp.ones_like(curvature))
    inverse_root = (axes * curvature[:, None, :] ** -0.5) @ axes.mT
    narrower = root @ inverse_root
    step = (narrower @ (narrower.mT @ at_location[..., None]))[..., 0]
    keep = ~good
    return (
        xp.where(keep[:, None], location, location + step),
        xp.where(keep[:, None, None], root, narrower),
        to_numpy(good),
    )


def _regression(nodes: np.ndarray) -> np.ndarray:
    """(d + 1, m): from values at the nodes to the intercept and slopes of their least-squares plane."""
    return np.linalg.pinv(np.concatenate([np.ones((len(nodes), 1)), nodes], axis=1))


def _root(covariance: np.ndarray) -> np.ndarray:
    values, vectors = np.linalg.eigh(covariance)
    root: np.ndarray = (vectors * np.sqrt(np.maximum(values, 0.0))) @ vectors.T
    return root
