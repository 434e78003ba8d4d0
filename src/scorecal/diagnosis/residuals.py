r"""Residuals of targets in units of their predictions: from moments, or from scores where there are none.

With Sigma the covariance of a prediction (or that of the Gaussian fitted to its scores), Sigma s stands for the mean
less the target: it is that for a Gaussian, and has mean zero for every calibrated prediction. Its mean square is then
Sigma E[s s'] Sigma = -Sigma E[grad s] Sigma, which is Sigma itself for a Gaussian.
"""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from .._lib.arrays import Array, array_namespace, like, to_numpy
from .._lib.cached import cached_property
from .._lib.linalg import diagonals, symmetric_root, times
from ..coordinates.locate import locate, noise_stream
from ..coordinates.location_spread import known_moments, location_and_spread
from ..predictions import HasMoments, Noised, Scores, as_targets, check_predictions, evaluate_score

# Of the derivatives, in units of the prediction: small, but not lost to rounding where targets are far from zero.
_STEP, _LARGEST_STEP, _ROUNDINGS = 1e-3, 0.3, 100.0
_N_PROBES = 4  # of many dimensions


@dataclass(frozen=True, eq=False)
class Residuals:
    """Prediction less target, for the n rows that have a spread."""

    rows: np.ndarray  # (n,), which these are
    marginal: np.ndarray  # (n, d), each dimension in units of its own predicted standard deviation
    whitened: np.ndarray  # (n, d), by the inverse root of the covariance
    plain: np.ndarray  # (n, d), likewise, but location less target, also where the others come from scores
    expected: np.ndarray  # (n, d, d), of the square of `whitened` if calibrated: the identity for Gaussians
    root: np.ndarray  # (n, d, d), of the correlations that are claimed; of many dimensions diagonals may do, (n, d)
    location: np.ndarray  # (n, d)
    sd: np.ndarray  # (n, d)
    source: str  # "moments" or "scores"
    coordinates: str

    def without(self, left_out: np.ndarray) -> "Residuals":
        """The residuals of all rows but those of a mask (n,)."""
        names = ("rows", "marginal", "whitened", "plain", "expected", "root", "location", "sd")
        return replace(self, **{name: getattr(self, name)[~left_out] for name in names})

    @property
    def plain_marginal(self) -> np.ndarray:
        """The `plain` residuals, each dimension in units of its own predicted standard deviation."""
        return np.asarray(times(self.root, self.plain))

    @cached_property
    def expected_marginal(self) -> np.ndarray:
        """Expected products of `marginal` residuals if calibrated, (n, d, d): for Gaussians, the correlations."""
        if self.root.ndim == 2 or self.root.strides[0] == 0:  # one unit matrix for all
            return self.expected
        return np.asarray(self.root @ self.expected @ np.swapaxes(self.root, 1, 2))

    def expected_along(self, weights: np.ndarray) -> np.ndarray:
        """Expected squares (n,) of whitened residuals along a direction."""
        if self.expected.ndim == 2:
            return np.asarray(self.expected @ weights**2)
        return np.asarray(np.einsum("k,nkm,m->n", weights, self.expected, weights))

    def expected_products(self, rows: Any, first: np.ndarray, second: np.ndarray) -> np.ndarray:
        """Means over rows of the expected products of `marginal` residuals in pairs of dimensions."""
        if self.expected.ndim == 2:
            return np.zeros(len(first))
        return np.asarray(np.mean(self.expected_marginal[rows], axis=0)[first, second])


def residuals_of(predictions: Any, y: Any, rng: np.random.Generator) -> Residuals:
    """Residuals of the targets, from moments where the predictions know them, otherwise from scores."""
    check_predictions("predictions", predictions)
    n, dim = predictions.n, predictions.dim
    if isinstance(predictions, HasMoments):
        targets = as_targets(y, predictions)  # type: ignore[arg-type]
        known = known_moments(predictions, targets)
        if known is not None:
            name = "identity"
            if isinstance(predictions, Noised):
                targets, name = predictions.noised(targets, noise_stream(rng)), f"{predictions.noise}, identity"
            mean, covariance = (_host(part) for part in known)
            diagonal = covariance.ndim == 2
            expected = np.ones((n, dim)) if diagonal else np.broadcast_to(np.eye(dim), covariance.shape)
            kept = np.ones(n, dtype=bool)
            gap = mean - _host(targets)
            return _residuals(kept, gap, gap, mean, covariance, expected, "moments", name)
    located, targets, scores, coordinates = locate(None, predictions, y, rng)
    mean, covariance, unfitted = location_and_spread(located, targets)
    if np.all(unfitted):
        raise ValueError(
            "`predictions`: no spread can be fitted to the scores of any of them, so that there are no units to tell a "
            "bias in. Likely causes: scores of the wrong sign, or a bounded support that was not given."
        )
    gap = _host(times(covariance, scores))
    expected = _curvature(located, targets, covariance)
    location = _host(mean)
    plain = location - _host(targets)
    return _residuals(~unfitted, gap, plain, location, _host(covariance), expected, "scores", coordinates)


def _residuals(
    kept: np.ndarray,
    gap: np.ndarray,
    plain: np.ndarray,
    mean: np.ndarray,
    covariance: np.ndarray,
    expected: np.ndarray,
    source: str,
    coordinates: str,
) -> Residuals:
    if not np.all(kept):
        gap, plain, mean, covariance, expected = (part[kept] for part in (gap, plain, mean, covariance, expected))
    rows, variances, many = np.flatnonzero(kept), diagonals(covariance), covariance.ndim == 2
    sd = np.sqrt(variances + np.zeros_like(mean))
    marginal = gap / sd
    if many or np.array_equal(np.sum(np.abs(covariance), axis=2), variances):  # all are diagonal
        claimed = np.ones((len(sd), 1)) if many else np.broadcast_to(np.eye(sd.shape[1]), covariance.shape)
        plain = marginal if plain is gap else plain / sd
        return Residuals(rows, marginal, marginal, plain, expected, claimed, mean, sd, source, coordinates)
    root = symmetric_root(covariance)
    whitened, plain = (np.linalg.solve(root, part[..., None])[..., 0] for part in (gap, plain))
    return Residuals(rows, marginal, whitened, plain, expected, root / sd[:, :, None], mean, sd, source, coordinates)


def _curvature(predictions: Any, targets: Array, covariance: Array) -> np.ndarray:
    """-root' grad s root at the targets, by central differences along the columns of the root; for `Scores`, I."""
    n, d = targets.shape
    if covariance.ndim == 2:
        return _curvature_of_many(predictions, targets, covariance)
    if isinstance(predictions, Scores):
        return np.broadcast_to(np.eye(d), (n, d, d))
    root = symmetric_root(_host(covariance))
    xp = array_namespace(targets)
    sizes = np.max(np.abs(_host(targets)), axis=1) / np.min(np.sqrt(np.einsum("nkk->nk", _host(covariance))), axis=1)
    lengths = np.clip(_ROUNDINGS * float(xp.finfo(targets.dtype).eps) * sizes, _STEP, _LARGEST_STEP)[:, None]
    slopes = np.empty((n, d, d))  # a column for each step
    for k in range(d):
        step = like(lengths * root[:, :, k], targets)
        ahead, behind = _host(evaluate_score(predictions, xp.stack([targets + step, targets - step])))
        slopes[:, :, k] = (ahead - behind) / (2.0 * lengths)
    curvature = -np.swapaxes(root, 1, 2) @ slopes
    return np.asarray(0.5 * (curvature + np.swapaxes(curvature, 1, 2)))


def _curvature_of_many(predictions: Any, targets: Array, variances: Array) -> np.ndarray:
    """Diagonals (n, d) of the same, by differences along random signs, whose products cancel on average."""
    n, d = targets.shape
    if isinstance(predictions, Scores):
        return np.ones((n, d))
    xp, sd = array_namespace(targets), _host(variances) ** 0.5 + np.zeros((n, d))
    sizes = np.max(np.abs(_host(targets)) / sd, axis=1)
    lengths = np.clip(_ROUNDINGS * float(xp.finfo(targets.dtype).eps) * sizes, _STEP, _LARGEST_STEP)[:, None]
    rng, found = np.random.default_rng(0), np.zeros((n, d))
    for _ in range(_N_PROBES):
        signs = rng.integers(0, 2, (n, d)) * 2.0 - 1.0
        step = like(lengths * sd * signs, targets)
        ahead, behind = (_host(evaluate_score(predictions, targets + each)) for each in (step, -step))
        found -= sd * signs * (ahead - behind) / (2.0 * lengths * _N_PROBES)
    return found


def _host(array: Array) -> np.ndarray:
    return to_numpy(array).astype(np.float64)
