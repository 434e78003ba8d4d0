"""Normal scores: what makes predictions without scores, known by a distribution function, fit for every test.

If Y has the distribution function F, a uniform draw between P(Y < y) and P(Y <= y) is uniform on (0, 1), whether F
jumps or not, and z, its normal quantile, is standard normal. With any location m and spread s that the prediction has,
m + s z is then a target of the Gaussian N(m, s^2).
"""

from typing import Any

import numpy as np

from .._lib.arrays import as_arrays, check_finite, to_numpy
from .._lib.linalg import diagonals
from .._lib.warn import warn_user
from ..predictions import HasCdf, Rankable, moments_of
from ..predictions.normal_scores import as_gaussian, normal_quantiles
from .locate import noise_stream

_COARSE = 0.02  # mean probability between which they are drawn


def in_normal_scores(predictions: Any, y: Any, rng: np.random.Generator) -> tuple[Any, Any]:
    """Return predictions with scores, and their targets; those that have scores already come back as they are."""
    return normal_scores_by(predictions, y, noise_stream(rng)) if needs_normal_scores(predictions) else (predictions, y)


def normal_scores_by(predictions: Any, y: Any, stream: np.random.Generator) -> tuple[Any, Any]:
    """Return predictions with scores, and their targets, by these random numbers: one for each target, in order."""
    targets = as_numbers(y, predictions.n, predictions.dim)
    if isinstance(predictions, Rankable):
        return predictions.ranked(targets, stream)
    return as_gaussian(normal_quantiles(*cdf_bounds_of(predictions, targets), stream), *_centres(predictions))


def needs_normal_scores(predictions: Any) -> bool:
    """Return whether predictions have no scores, but can be ranked or have a distribution function."""
    if isinstance(predictions, type) or hasattr(predictions, "score"):
        return False
    return isinstance(predictions, HasCdf | Rankable)


def are_coarse(predictions: Any, y: Any) -> bool:
    """Return whether normal scores say little of how far off targets are: most of each is drawn at random."""
    if not needs_normal_scores(predictions):
        return False
    if isinstance(predictions, Rankable):
        return True
    below, at = cdf_bounds_of(predictions, as_numbers(y, predictions.n, predictions.dim))
    return float(np.mean(at - below)) > _COARSE


def as_numbers(y: Any, n: int, dim: int) -> np.ndarray:
    """Return targets as (n, dim) numbers in memory; raise where they do not fit n predictions."""
    targets = to_numpy(as_arrays(y=y)[0]).astype(np.float64)
    targets = targets[:, None] if targets.ndim == 1 and dim == 1 else targets
    if targets.shape != (n, dim):
        raise ValueError(f"`y` must have shape (n, d) = ({n}, {dim}) to fit `predictions`, but has {targets.shape}.")
    if n < 2:
        raise ValueError(f"`y` must hold at least 2 targets, but has {n}.")
    check_finite("y", targets, "Drop rows without a finite target before the test.")
    if np.all(targets == targets[:1]):
        warn_user("`y` is constant: all targets are equal. Likely cause: the wrong column was given.")
    return targets


def cdf_bounds_of(predictions: HasCdf, y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return P(Y < y) and P(Y <= y), each (n, dim), checked."""
    bounds = predictions.cdf_bounds(y)
    if not isinstance(bounds, tuple) or len(bounds) != 2:
        raise TypeError("`predictions.cdf_bounds(y)` must return two arrays: P(Y < y) and P(Y <= y).")
    below, at = (np.asarray(to_numpy(part), dtype=np.float64) for part in bounds)
    for part in (below, at):
        if part.shape != y.shape:
            raise ValueError(
                f"`predictions.cdf_bounds(y)` must return arrays (n, d) = {y.shape}, but gave shape {part.shape}."
            )
    wrong = ~((below >= -1e-6) & (below <= at + 1e-6) & (at <= 1.0 + 1e-6))  # of float32 models
    if np.any(wrong):
        row, k = (int(index) for index in np.argwhere(wrong)[0])
        raise ValueError(
            f"`predictions.cdf_bounds(y)` must return 0 <= P(Y < y) <= P(Y <= y) <= 1, but row {row} has "
            f"{below[row, k]:.6g} and {at[row, k]:.6g}. Likely cause: parameters that the distribution does not accept."
        )
    return below, at


def _centres(predictions: HasCdf) -> tuple[np.ndarray, np.ndarray]:
    """Return means and standard deviations (n, dim), checked."""
    mean, covariance = (to_numpy(part).astype(np.float64) for part in moments_of(predictions))
    n, d = predictions.n, predictions.dim
    if mean.shape != (n, d) or covariance.shape not in {(n, d, d), (n, d)}:
        raise ValueError(
            "`predictions.moments()` must return means (n, d) and covariances (n, d, d), but gave shapes "
            f"{mean.shape} and {covariance.shape} for n = {n}, d = {d}."
        )
    variances = diagonals(covariance)
    for name, part in (("means", mean), ("variances", variances)):
        check_finite(f"predictions.moments(): {name}", part)
    if np.any(variances < 0):
        raise ValueError("`predictions.moments()` must return variances that are not negative.")
    return mean, np.sqrt(variances)
