"""The base measure nu of GFD and KGFD, and the scores at draws from it."""

from typing import Any

import numpy as np
from array_api_compat import is_array_api_obj

from .._lib.arrays import Array, array_namespace, as_arrays, check_finite, full_product, like
from .._lib.checks import check_count
from ..predictions import (
    Gaussian,
    HasMoments,
    Predictions,
    Prior,
    Samplable,
    draw_samples,
    evaluate_score,
    prior_of,
    support_of,
)
from ..predictions.protocol import without_draws

DEFAULT_N_BASE = 10
_DRAWS_TO_MATCH = 10  # from each prediction
_MOST_AT_ONCE = 2**22  # numbers


def check_base(base: Any, n_base: int | None) -> None:
    """Raise unless `base` and `n_base` define a base measure."""
    check_count("n_base", n_base, optional=True)
    if isinstance(base, str):
        if base != "match":
            raise ValueError(
                f'`base` must be "match", a `Gaussian` of one row, base points (m, d) or None, but is {base!r}.'
            )
    elif isinstance(base, Gaussian):
        if base.n != 1:
            raise ValueError(f"`base` must be one distribution, a `Gaussian` of one row, but has {base.n} rows.")
    elif base is not None:
        (points,) = as_arrays(base=base)
        if points.ndim != 2 or 0 in points.shape:
            raise ValueError(f"`base` must hold base points of shape (m, d), but has shape {tuple(points.shape)}.")
        check_finite("base", points)
        if n_base is not None:
            raise ValueError(f"`n_base` must be None when `base` gives the base points, but is {n_base}.")


def base_measure(
    base: Any, predictions: Predictions, reference: Array, rng: np.random.Generator
) -> Prior | Array | None:
    """Return one distribution, base points (m, d), or None if the predictions have base points of their own."""
    if base is None:
        if getattr(predictions, "at_base", None) is not None:
            return None
        base = prior_of(predictions) or Gaussian(like(np.zeros((1, predictions.dim)), reference), 1.0)
    measure: Any
    if isinstance(base, Gaussian):
        mean, covariance = (like(part, reference) for part in base.moments())
        measure = Gaussian(mean, covariance=covariance)
    elif isinstance(base, str):
        measure = _match(predictions, reference, rng)
    elif isinstance(base, Samplable):
        measure = base
    else:
        points, _ = as_arrays(base=base, y=reference)
        measure = like(points, reference)
    dim = measure.shape[1] if is_array_api_obj(measure) else measure.dim
    if dim != predictions.dim:
        raise ValueError(f"`base` has dimension {dim}, but the predictions have dimension {predictions.dim}.")
    return measure


def _match(predictions: Predictions, reference: Array, rng: np.random.Generator) -> Gaussian:
    """Gaussian with the mean and covariance of the equal mixture of all predictions; targets are not used."""
    xp = array_namespace(reference)
    if isinstance(predictions, HasMoments):
        means, covariances = (like(part, reference) for part in predictions.moments())
        within = xp.mean(covariances, axis=0)
    elif isinstance(predictions, Samplable):
        draws = like(draw_samples(predictions, _DRAWS_TO_MATCH, rng), reference)
        means, within = xp.reshape(draws, (-1, predictions.dim)), 0.0
    else:
        raise TypeError(
            '`base="match"` needs the moments of all predictions, or draws, but `sample(n_samples, rng)` is missing '
            f"from {without_draws(predictions)}. Give a `Gaussian` of one row, or leave `base` unset."
        )
    mean = xp.mean(means, axis=0, keepdims=True)
    spread = means - mean
    return Gaussian(mean, covariance=within + full_product(spread.mT, spread) / means.shape[0])


def base_scores(
    measure: Prior | Array | None,
    predictions: Predictions,
    reference: Array,
    n_base: int | None,
    rng: np.random.Generator,
) -> tuple[Array | None, Array]:
    """Return base points (m, d), if known, and the scores of all predictions at them, (n, m, d)."""
    if measure is None:
        if n_base is not None:
            raise ValueError("`n_base` must be None: the scores of these predictions are known at given points only.")
        return predictions.base_points, predictions.at_base  # type: ignore[attr-defined]
    points: Array = measure
    if not is_array_api_obj(measure):
        points = like(draw_samples(measure, n_base or DEFAULT_N_BASE, rng), reference)[0, ...]
    support = support_of(predictions)
    if support is not None and not bool(array_namespace(points).all(support.contains(points[:, None, :]))):
        raise ValueError(
            f"`base` must lie inside the support of the predictions, {support!r}, but some base points lie outside. "
            "Likely cause: the default, N(0, I). Give base points inside the support, as in `GFD(base=points)`. "
            "(`kccsd_test` first maps predictions to coordinates without a boundary.)"
        )
    xp, size = array_namespace(points), points.shape[0] * reference.shape[0] * points.shape[1]
    if size <= _MOST_AT_ONCE:
        return points, xp.permute_dims(like(evaluate_score(predictions, points[:, None, :]), points), (1, 0, 2))
    # One point at a time: predictions that compute with all at once would hold several arrays of that size.
    by_point = (like(evaluate_score(predictions, points[k : k + 1, None, :]), points) for k in range(points.shape[0]))
    return points, xp.stack([scores[0, :, :] for scores in by_point], axis=1)
