"""Location and spread of each prediction: its moments where they are known, otherwise fitted to its scores."""

from typing import Any

import numpy as np
from array_api_compat import is_array_api_obj

from .._lib.arrays import Array, array_namespace, check_finite, check_real, full_product, like
from .._lib.dimensions import are_many
from .._lib.linalg import diagonals
from .._lib.warn import warn_user
from ..predictions import HasMoments, Predictions, Scores, moments_of, spread_of
from .fit_diagonal import diagonal_at_base, fit_diagonal
from .fit_scores import fit, fit_at_base


def location_and_spread(predictions: Predictions, reference: Array) -> tuple[Array, Array, np.ndarray]:
    """Means (n, d) and covariances, known or fitted, and a mask (n,) of rows where no fit was found.

    Covariances are (n, d, d) or, of many dimensions, variances (n, d) or (n, 1): those that are known as such, and all
    that are fitted.
    """
    known = known_moments(predictions, reference)
    if known is not None:
        return *known, np.zeros(predictions.n, dtype=bool)
    many = are_many(predictions.dim)
    if isinstance(predictions, Scores):
        location, root, fitted = (diagonal_at_base if many else fit_at_base)(predictions, reference)
    else:
        location, root, fitted = (fit_diagonal if many else fit)(predictions, reference)
    n_left = int(np.sum(~fitted))
    if n_left:
        warn_user(
            f"`predictions`: {n_left} of {len(fitted)} have scores that do not point back to a centre on average, so "
            "that no spread can be fitted. `calibration_test` leaves these rows out of whitened views; `kccsd_test` "
            "uses the spread of the base points (the prior, or N(0, I)). Likely causes: scores of the wrong sign, a "
            "bounded support that was not given, modes far apart, or base points far from the predictions."
        )
    return location, root**2 if many else full_product(root, root.mT), ~fitted


def known_moments(predictions: Any, reference: Array) -> tuple[Array, Array] | None:
    """Return means and covariances, by shape as `location_and_spread` does; None if there are none.

    Infinite ones count as none: scores can be fitted instead.
    """
    n, d = predictions.n, predictions.dim
    found = spread_of(predictions)
    if not isinstance(predictions, HasMoments) and found is None:
        return None
    if is_array_api_obj(found):
        found = _of_draws(found)
    elif found is None or are_many(d):
        found = moments_of(predictions)
    if not isinstance(found, tuple) or len(found) != 2:
        raise TypeError(f"`predictions.moments()` must return means and covariances, but gave {type(found).__name__}.")
    for part in found:
        if is_array_api_obj(part):
            check_real("predictions.moments()", part)
    mean, covariance = (like(part, reference) for part in found)
    several = {(n, d, d), (n, d), (n, 1)} if are_many(d) else {(n, d, d)}
    for name, part, shapes in (("means", mean, {(n, d)}), ("covariances", covariance, several)):
        if tuple(part.shape) not in shapes:
            raise ValueError(
                f"`predictions.moments()` must return means (n, d) and covariances (n, d, d), but the {name} have "
                f"shape {tuple(part.shape)}, not {(n, d) if name == 'means' else (n, d, d)}."
            )
    xp = array_namespace(covariance)
    if not bool(xp.all(xp.isfinite(covariance))):
        return None
    if not bool(xp.all(diagonals(covariance) > 0)):
        raise ValueError("`predictions.moments()` must return positive variances, but some are zero or less.")
    check_finite("predictions.moments()", mean)
    return mean, covariance


def _of_draws(draws: Array) -> tuple[Array, Array]:
    """Means and covariances of draws (m, n, d), or variances of many dimensions."""
    xp = array_namespace(draws)
    mean = xp.mean(draws, axis=0)
    if are_many(draws.shape[2]):
        return mean, xp.var(draws, axis=0, correction=1)
    gaps = xp.permute_dims(draws - mean, (1, 0, 2))
    return mean, full_product(gaps.mT, gaps) / (draws.shape[0] - 1)
