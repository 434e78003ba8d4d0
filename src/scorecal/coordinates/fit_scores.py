"""Location and spread of predictions of which only scores are known: a Gaussian fitted to the scores.

It takes several rounds of limited steps, at points spread like the last fit. In the end, over the points, the score has
mean zero and the slope of the Gaussian score, as in variational inference. Whitening may be any function of the
prediction: a rough fit is valid, and costs little power.
"""

import math
from typing import NamedTuple

import numpy as np

from .._lib.arrays import Array, array_namespace, device_of, full_product, like, to_numpy
from .._lib.linalg import symmetric_root
from ..predictions import Predictions, Scores, draw_samples, evaluate_score, prior_of
from .gaussian_step import improve, plane

_N_ROUNDS, _N_PRIOR_DRAWS = 40, 2000
_N_FULL_STEPS = 4  # rounds before steps are halved, since full ones may oscillate
_FEWEST_PAIRS = 4  # of opposite points in a round
_WIDE = 10.0  # standard deviations of the first points, where no prior tells: from outside, all modes are in view
_NEARER = (0.1, 0.3)  # of the spread of the first points
_SEED = 0  # for the points: fixed, so that the coordinates do not depend on `rng`
_FLOATS_AT_ONCE = 2**22
# Scores count as Gaussian if a linear fit leaves at most this share unexplained; more is allowed in a single round.
_LINEAR, _LINEAR_AT_BASE = 1e-3, 0.5
# Errors of a fit, in its own units, of rows that need no further round, and of those that need a few more at most.
_SETTLED, _LOOSE, _SETTLED_AT_BASE = 0.5, 3.0, 0.05
_PATIENCE, _GROWTH = 2, 1.5  # rounds over which a row that moves its own width, or grows so much, is still on its way
_NEARLY_ALL = 0.9  # of the rows: a few that oscillate must not hold up the others
_LEAST_KNOWN = 0.5  # of the points: from fewer finite scores no fit is made


class _Round(NamedTuple):
    """Where rows are after a round."""

    location: np.ndarray  # (n, d)
    size: np.ndarray  # (n,), of the spread
    least: np.ndarray  # (n,), error of the best fit so far; infinite where there is none


def fit(predictions: Predictions, reference: Array) -> tuple[Array, Array, np.ndarray]:
    """Locations, roots of spreads and a mask of the rows fitted: repeated least squares of scores near the last fit.

    From far outside, scores of heavy tails hardly point back: where no fit is found, it is looked for from nearer.
    """
    xp, (mean, root) = array_namespace(reference), _start(predictions)
    location, roots, fitted = _fit_from(predictions, reference, mean, root)
    for nearer in _NEARER:
        if np.all(fitted):
            break
        other, other_roots, found = _fit_from(predictions, reference, mean, nearer * root)
        first = xp.asarray(fitted, device=device_of(reference))
        location = xp.where(first[:, None], location, other)
        roots, fitted = xp.where(first[:, None, None], roots, other_roots), fitted | found
    return location, roots, fitted


def _fit_from(
    predictions: Predictions, reference: Array, mean: np.ndarray, root: np.ndarray
) -> tuple[Array, Array, np.ndarray]:
    """The fit from one start.

    Of several modes, fits may go from one that holds all of them to one between them, where scores point away, and
    back: the step from the best one counts. Rows cost the same as long as one is left, so the rounds end for all.
    """
    n, d = predictions.n, predictions.dim
    xp = array_namespace(reference)
    location = like(mean, reference) + xp.zeros_like(reference)
    roots = xp.broadcast_to(like(root, reference), (n, d, d))
    kept, least = (location, roots), np.full(n, np.inf)
    rounds: list[_Round] = []
    for k in range(_N_ROUNDS):
        nodes = _nodes(d, k)
        scores, known = _filled(nodes, _scores_at(predictions, nodes, location, roots), roots)
        share = 1.0 if k < _N_FULL_STEPS else 0.5
        location, roots, good, off = improve(nodes, scores, location, roots, _LINEAR, share)
        found = good & known & (off < least)
        least = np.where(found, off, least)
        better = xp.asarray(found, device=device_of(reference))
        kept = (xp.where(better[:, None], location, kept[0]), xp.where(better[:, None, None], roots, kept[1]))
        rounds = [*rounds[-_PATIENCE:], _Round(np.asarray(to_numpy(location)), _size_of(roots), least)]
        if _are_enough(rounds):
            break
    return *kept, np.isfinite(least)


def _start(predictions: Predictions) -> tuple[np.ndarray, np.ndarray]:
    """Mean and root of the covariance of the prior, or, without one, of a wide Gaussian."""
    prior, d = prior_of(predictions), predictions.dim
    if prior is None:
        return np.zeros(d), _WIDE * np.eye(d)
    draws = to_numpy(draw_samples(prior, _N_PRIOR_DRAWS, np.random.default_rng(_SEED)))[0].astype(np.float64)
    return draws.mean(axis=0), symmetric_root(np.cov(draws.T).reshape(d, d))


def _nodes(d: int, k: int) -> np.ndarray:
    """Points (m, d) of round k, pairs of opposite ones along random orthogonal axes, with mean zero and covariance I.

    Where one such set is not enough, several have other lengths, as draws of N(0, I) have. Along orthogonal axes, what
    is not linear in one of them does not spoil the slopes along the others.
    """
    from scipy.special import gammaincinv

    n_sets = math.ceil(_FEWEST_PAIRS / d)
    squares = gammaincinv(0.5 * d, (np.arange(n_sets) + 0.5) / n_sets)  # quantiles of half a chi-square
    rng = np.random.default_rng([_SEED, k])
    axes = [np.linalg.qr(rng.standard_normal((d, d)))[0] for _ in squares]
    lengths = np.sqrt(d * squares / squares.mean())
    half = np.concatenate([length * each for length, each in zip(lengths, axes, strict=True)])
    return np.concatenate([half, -half])


def _scores_at(predictions: Predictions, nodes: np.ndarray, location: Array, roots: Array) -> Array:
    """Scores (m, n, d) at location + root x for all nodes x (m, d), some of them at a time."""
    xp, at_once = array_namespace(location), max(1, _FLOATS_AT_ONCE // (predictions.n * predictions.dim))
    found = []
    for start in range(0, len(nodes), at_once):
        some = like(nodes[start : start + at_once], location)
        points = location + xp.permute_dims(full_product(roots, some.mT), (2, 0, 1))
        found.append(evaluate_score(predictions, points, finite=False))
    return xp.concat(found)


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


def _are_enough(rounds: list[_Round]) -> bool:
    """Whether nearly all rows are settled, were nearly so some rounds ago, or oscillate, and all others have a fit."""
    now, before = rounds[-1], rounds[0]
    going = now.least >= _SETTLED
    if len(rounds) > _PATIENCE:
        moved = np.linalg.norm(now.location - before.location, axis=1) > np.minimum(before.size, now.size)
        moved = moved | (np.abs(np.log(now.size / before.size)) > np.log(_GROWTH))
        going = going & (moved | ((before.least >= _LOOSE) & (now.least < 0.9 * before.least)))
    return bool(np.mean(going) <= 1.0 - _NEARLY_ALL and np.all(now.least[going] < np.inf))


def fit_at_base(scores: Scores, reference: Array) -> tuple[Array, Array, np.ndarray]:
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
    fit, narrower, good, off = improve(nodes, at_nodes, location, roots, _LINEAR_AT_BASE)
    linear = to_numpy(plane(nodes, full_product(xp.permute_dims(at_nodes, (1, 0, 2)), roots))[2]) <= _LINEAR_AT_BASE
    fitted = good & (linear | (off < _SETTLED_AT_BASE))
    found = xp.asarray(fitted, device=device_of(reference))
    return xp.where(found[:, None], fit, location), xp.where(found[:, None, None], narrower, roots), fitted
