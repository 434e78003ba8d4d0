"""Location and spread of each prediction: its moments where they are known, otherwise fitted to its scores."""

from collections.abc import Iterable
from typing import Any

import numpy as np
from array_api_compat import is_array_api_obj

from .._lib.arrays import Array, array_namespace, check_finite, check_real, full_product, like
from .._lib.warn import warn_user
from ..predictions import HasMoments, Noised, Predictions, Scores, is_quick_to_sample, n_draws_for_moments, spread_of
from .fit_scores import fit, fit_at_base

_SEED = (2023, 1)  # of draws: fixed, so that coordinates do not depend on `rng`; targets drawn by any seed are others
_FLOATS_AT_ONCE = 2**22
_FARTHEST = 7.5  # median distances: 5 standard deviations of a Gaussian


def location_and_spread(predictions: Predictions, reference: Array) -> tuple[Array, Array, np.ndarray]:
    """Means (n, d) and covariances (n, d, d), known or fitted, and a mask (n,) of rows where no fit was found."""
    known = known_moments(predictions, reference)
    if known is not None:
        return *known, np.zeros(predictions.n, dtype=bool)
    return fitted_moments(predictions, reference)


def fitted_moments(predictions: Predictions, reference: Array) -> tuple[Array, Array, np.ndarray]:
    """Means and covariances fitted to scores, and a mask (n,) of rows where no fit was found."""
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
    """Return means and covariances; None if there are none, or infinite ones (then scores can be fitted instead).

    Of predictions without moments, a few draws tell them where they are quick.
    """
    n, d = predictions.n, predictions.dim
    given = spread_of(predictions)
    found: Any = given
    if is_array_api_obj(given):
        found = moments_of_draws([given])
    elif given is None and isinstance(predictions, HasMoments):
        found = predictions.moments()
    elif given is None:
        found = drawn_moments(predictions, reference, n_draws_for_moments(d), limited=True)
    if found is None:
        return None
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


def drawn_moments(
    predictions: Any, reference: Array, n_draws: int, batch: int = 0, limited: bool = False
) -> tuple[Array, Array] | None:
    """Return means and covariances of so many draws; None where draws are slow, or none, or on the edge of a support.

    Batches of other numbers have other draws. With `limited`, draws far out count as less far: of few draws from heavy
    tails, the moments would be those of the farthest.
    """
    if not is_quick_to_sample(predictions) or isinstance(predictions, Noised):
        return None
    rng = np.random.default_rng((*_SEED, batch))
    at_once = max(n_draws_for_moments(1), _FLOATS_AT_ONCE // (predictions.n * predictions.dim))
    sizes = [min(at_once, n_draws - start) for start in range(0, n_draws, at_once)]
    try:
        parts = (like(predictions.sample(size, rng), reference) for size in sizes)
        return moments_of_draws(map(_limited, parts) if limited else parts)
    except ValueError:  # a draw was rounded to an end of the support, which no map without a boundary takes
        return None


def _limited(draws: Array) -> Array:
    """Draws (m, n, d), at most so far from their median in units of the median distance to it."""
    xp, middle = array_namespace(draws), draws.shape[0] // 2
    centre = xp.sort(draws, axis=0)[middle, ...]
    most = _FARTHEST * xp.sort(xp.abs(draws - centre), axis=0)[middle, ...]
    most = xp.where(most > 0, most, xp.inf * xp.ones_like(most))
    return xp.clip(draws, centre - most, centre + most)


def moments_of_draws(parts: Iterable[Array]) -> tuple[Array, Array]:
    """Means and covariances of draws (m, n, d), in parts, from their distances to the first of them."""
    first: Any = None
    n_draws, total, squares = 0, 0.0, 0.0
    for part in parts:
        xp = array_namespace(part)
        first = part[0, ...] if first is None else first
        gaps = xp.permute_dims(part - first, (1, 0, 2))
        n_draws += part.shape[0]
        total, squares = total + xp.sum(gaps, axis=1), squares + full_product(gaps.mT, gaps)
    mean: Any = total / n_draws
    return first + mean, (squares - n_draws * mean[:, :, None] * mean[:, None, :]) / (n_draws - 1)
