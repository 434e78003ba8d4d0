"""Location and spread of each prediction: its moments where they are known, otherwise fitted to its scores."""

from typing import Any

import numpy as np
from array_api_compat import is_array_api_obj

from .._lib.arrays import Array, array_namespace, check_finite, check_real, full_product, like
from .._lib.warn import warn_user
from ..predictions import HasMoments, Predictions, Scores, spread_of
from .fit_scores import fit, fit_at_base


def location_and_spread(predictions: Predictions, reference: Array) -> tuple[Array, Array, np.ndarray]:
    """Means (n, d) and covariances (n, d, d), known or fitted, and a mask (n,) of rows where no fit was found."""
    known = known_moments(predictions, reference)
    if known is not None:
        return *known, np.zeros(predictions.n, dtype=bool)
    if isinstance(predictions, Scores):
        location, root, fitted = fit_at_base(predictions, reference)
    else:
        location, root, fitted = fit(predictions, reference)
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
