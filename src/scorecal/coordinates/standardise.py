"""A common unit and origin for each dimension, from the prior or the predictions, never from the targets."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from .._lib.arrays import Array, array_namespace, check_finite, has_values, like
from .._lib.linalg import diagonals
from ..predictions import (
    Gaussian,
    GaussianMixture,
    HasMoments,
    Predictions,
    Samplable,
    draw_samples,
    moments_of,
    prior_of,
)
from .identity import Coordinates, Moved, identity
from .mapped import Affine, map_predictions
from .unconstrain import natural

_N_PRIOR_DRAWS, _N_PREDICTIVE_DRAWS = 10_000, 10
_SEED = 0  # for moments from draws: fixed, so that the statistic does not depend on `rng`


def standardise(by: str = "predictions") -> Coordinates:
    """Return coordinates with mean 0 and spread 1 in every dimension, under the prior or the predictions.

    With dimensions in very different units, the largest would dominate the distances between targets. N(0, I), the base
    measure of `GFD` for predictions without a prior, also fits predictions in these coordinates. Predictions on a
    bounded support are first mapped to one without a boundary.

    Parameters
    ----------
    by : {"predictions", "prior"}
        Use the moments of a draw from a random prediction, or of the prior that the predictions carry; estimated from
        draws where there is no closed form.

    Returns
    -------
    callable
        Value for the argument `coordinates` of `kccsd_test`.

    Examples
    --------
    >>> import scorecal as sc
    >>> predictions, y = sc.experiments.mgm(200, 0.5, rng=0)
    >>> far = sc.Gaussian(1000.0 * predictions.mean + 1e5, 1000.0 * predictions.scale)
    >>> sc.kccsd_test(far, 1000.0 * y + 1e5, coordinates=sc.coordinates.standardise(), rng=0).coordinates
    'standardise("predictions")'
    """
    if by not in ("predictions", "prior"):
        raise ValueError(f'`by` must be "predictions" or "prior", but is {by!r}.')
    return _Standardised(by)


@dataclass(frozen=True)
class _Standardised:
    """Coordinates standardised by the moments of the "predictions" or the "prior"."""

    by: str

    def __repr__(self) -> str:
        return f'standardise("{self.by}")'

    def named(self, predictions: Predictions) -> str:
        """Name on a result, with the map from a bounded support if there is one."""
        first = natural(predictions)
        return repr(self) if first is identity else f"{first!r}, {self!r}"

    def __call__(self, predictions: Predictions, y: Array) -> Moved:
        unbounded, targets, scores = natural(predictions)(predictions, y)
        mean, sd = _moments(unbounded, targets, self.by)
        z, moved = (targets - mean) / sd, unbounded
        if isinstance(unbounded, Gaussian | GaussianMixture):
            moved = _in_closed_form(unbounded, mean, sd)
        else:
            moved = map_predictions(unbounded, z, Affine(mean, sd, 1.0 / sd), unbounded.dim)
        return moved, z, sd * scores


def _moments(predictions: Predictions, reference: Array, by: str) -> tuple[Array, Array]:
    """Mean and standard deviation (d,) of a draw from a random prediction or from the prior."""
    judges: Any = predictions
    if by == "prior":
        judges = prior_of(predictions)
        if judges is None:
            raise TypeError(f'`standardise("prior")` needs predictions that carry a `prior`; {predictions!r} do not.')
    xp = array_namespace(reference)
    if isinstance(judges, HasMoments):
        means, covariances = (like(part, reference) for part in moments_of(judges))
        mean = xp.mean(means, axis=0)
        variance = xp.mean(diagonals(covariances) + (means - mean) ** 2, axis=0)
    elif not isinstance(predictions if by == "predictions" else judges, Samplable):
        raise TypeError(
            f"`standardise` found no moments of {judges!r}, which cannot be sampled. If they carry a prior, use "
            '`standardise("prior")`.'
        )
    else:
        n_draws = _N_PRIOR_DRAWS if by == "prior" else _N_PREDICTIVE_DRAWS
        draws = like(draw_samples(judges, n_draws, np.random.default_rng(_SEED)), reference)
        mean, variance = xp.mean(draws, axis=(0, 1)), xp.var(draws, axis=(0, 1))
    check_finite(f"moments of the {by}", variance, "Likely cause: tails so heavy that the variance is infinite.")
    if has_values(variance) and not bool(xp.all(variance > 0)):
        raise ValueError(f"`standardise` found a dimension in which the variance of the {by} is zero.")
    return mean, xp.sqrt(variance)


def _in_closed_form(predictions: Gaussian | GaussianMixture, mean: Array, sd: Array) -> Gaussian | GaussianMixture:
    if isinstance(predictions, GaussianMixture):
        return replace(predictions, means=(predictions.means - mean) / sd, scales=predictions.scales / sd)
    means = (predictions.mean - mean) / sd
    if predictions.scale is not None:
        return Gaussian(means, predictions.scale / sd)
    return Gaussian(means, covariance=predictions.covariance / (sd[:, None] * sd))
