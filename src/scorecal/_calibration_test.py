"""The test that we recommend: several views of the same data, one bootstrap, one p-value."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from ._lib.arrays import array_namespace, has_values
from ._pipeline import as_generator, as_planned, as_targets, bootstrap_results, check_n_resamples
from .coordinates import Coordinates
from .parallel.workers import Map
from .predictions import Gaussian, GaussianMixture, Predictions
from .resampling import draw_signs
from .resampling.estimators import Estimator
from .resampling.options import as_plan
from .results import CombinedResult, ViewResult
from .views import View, default_views
from .views.combine import combine
from .views.evaluate import function_of
from .views.frame import Space, space_of
from .views.naming import message_of, seen_by

__all__ = ["calibration_test"]


def calibration_test(
    predictions: Predictions,
    y: Any,
    *,
    views: Sequence[View] | None = None,
    coordinates: Coordinates | None = None,
    n_resamples: int = 999,
    estimator: str | Estimator = "complete",
    memory: float | None = None,
    workers: int | Map | None = None,
    precision: str = "mixed",
    rng: Any = None,
) -> CombinedResult:
    r"""Test whether predictions are calibrated, from their scores alone, and say what is wrong with them.

    The null hypothesis is that every target is a draw from its own prediction: given the prediction P, Y ~ P. Several
    views look at the same data, each for one kind of miscalibration: bias, wrong spread, wrong correlation, wrong
    shape, and what depends on the prediction. One bootstrap serves them all and makes one p-value of them.

    Parameters
    ----------
    predictions : Predictions
        n predictive distributions on R^d, as for `kccsd_test`.
    y : array_like, shape (n, d)
        The n observed targets; (n,) for d = 1.
    views : sequence of View, optional
        What to look at; `views.default_views(predictions)` by default.
    coordinates : callable, optional
        As for `kccsd_test`, before targets are whitened: for `Scores` on a bounded support, say.
    n_resamples : int
        Number of wild-bootstrap draws B; the smallest p-value is 1 / (B + 1).
    estimator : {"complete", "incomplete", "block", "linear", "low-rank"} or a value of `estimators`
        Which pairs of rows are averaged by the views that compare pairs; with signs in all cases. Other views average
        all pairs at no cost.
    memory, workers, precision
        As for `kccsd_test`, for the views that compare pairs; the others are computed in this process.
    rng : seed or numpy.random.Generator, optional
        Source of noise, base points and signs.

    Returns
    -------
    CombinedResult
        With `pvalue`, `message`, `seen`, `views` (each with its own `pvalue` and `adjusted_pvalue`), `cannot_see`, and
        what `kccsd_test` returns.

    Notes
    -----
    Each target is first brought to units of its own prediction, :math:`z = \Sigma_i^{-1/2} (y_i - m_i)`, with the
    score :math:`\Sigma_i^{1/2} s_i` (`coordinates.whiten`). The map depends on the prediction only, so the test is as
    valid as without it. A test function :math:`\phi` then gives the feature :math:`f_i = s \cdot \phi(z) +
    \mathrm{div} \phi(z)`, of mean zero if the predictions are calibrated; a view is the U-statistic of
    :math:`k(P_i, P_j) f_i \cdot f_j`, which for a constant k costs no pairs, and is then corrected for the skewness of
    f [1]. Random signs give its null distribution, the same signs for all views; p-values of the views are ranks
    among all draws, with an exponential tail, and the observed data are ranked among the draws by the smallest one.

    Scores do not see the weights of modes that are far apart. Mixtures and posteriors of diffusion models can have
    noise, with which they do; `cannot_see` tells where that is not so.

    Rows must be independent. Time grows as n^2, for one of the views, and memory as n.

    References
    ----------
    [1] P. Hall, "On the removal of skewness by transformation", J. R. Stat. Soc. B 54, 1992.

    Examples
    --------
    Forecasts whose standard deviations are too small by a fifth:

    >>> import numpy as np, scorecal as sc
    >>> rng = np.random.default_rng(0)
    >>> mean = 10.0 * rng.normal(size=(300, 2))
    >>> y = mean + rng.normal(size=(300, 2))
    >>> result = sc.calibration_test(sc.Gaussian(mean, 0.8), y, rng=0)
    >>> result.pvalue, result.seen
    (0.001, ('over-confidence',))
    >>> sc.calibration_test(sc.Gaussian(mean, 1.0), y, rng=0).message
    'Calibration is not rejected (p = 0.188, n = 300).'
    """
    generator, n_resamples = as_generator(rng), check_n_resamples(n_resamples)
    plan = as_plan(estimator, memory, workers, precision)
    targets = as_targets(y, predictions)
    if not has_values(targets):
        raise TypeError("A p-value cannot be computed while JAX is tracing; call the test outside.")
    if coordinates is not None and not callable(coordinates):
        raise TypeError(f"`coordinates` must be a function of predictions and targets, but is {coordinates!r}.")
    spaces: dict[float, Space] = {0.0: space_of(predictions, targets, 0.0, generator, coordinates)}
    space = spaces[0.0]
    if views is not None:
        chosen = _checked(views, predictions)
        if coordinates is not None and any(view.noise or view.coordinates == "component" for view in chosen):
            raise ValueError("`views` with noise or of components are for predictions in their own `coordinates`.")
    else:
        chosen = default_views(predictions if coordinates is None else space.predictions.dim)
    functions, used, bandwidths = [], [], []
    for view in chosen:
        if view.noise not in spaces:
            spaces[view.noise] = space_of(predictions, targets, view.noise, generator)
        found = function_of(view, spaces[view.noise], targets, generator)
        if found is not None:
            functions.append(found[0])
            bandwidths.append(found[1])
            used.append(view)
    if not used:
        raise ValueError("`views` see nothing here: they compare predictions, and all predictions are alike.")
    functions = as_planned(functions, plan, generator)
    signs = draw_signs(predictions.n, n_resamples, generator)
    results = bootstrap_results(functions, targets, bandwidths, signs, plan)
    combined = combine(
        np.array([result.statistic for result in results]),
        np.stack([result.null_distribution for result in results]),
        np.array([view.weight for view in used]),
        float(array_namespace(targets).finfo(targets.dtype).eps),
    )
    seen_views = tuple(
        ViewResult(view.name, view.sees, r.statistic, own, adjusted, r.null_distribution, r.contributions)
        for view, r, own, adjusted in zip(used, results, combined.own, combined.adjusted, strict=True)
    )
    leading = min(seen_views, key=lambda view: view.adjusted_pvalue)
    seen = seen_by(seen_views, used, space) if combined.pvalue <= 0.05 else ()
    return CombinedResult(
        combined.statistic,
        combined.pvalue,
        combined.null,
        _shares(leading.contributions, combined.statistic),
        next((result.bandwidths for result in results if result.bandwidths), {}),
        predictions.n,
        n_resamples,
        coordinates=space.name,
        views=seen_views,
        seen=seen,
        message=message_of(combined.pvalue, predictions.n, seen),
        cannot_see=_blind_spots(predictions, used, space, n_resamples),
    )


def _checked(views: Sequence[View], predictions: Any) -> tuple[View, ...]:
    given, views = views, tuple(views) if isinstance(views, Iterable) else ()
    if not views or not all(isinstance(view, View) for view in views):
        raise TypeError(
            f"`views` must hold `views.View`s, and at least one, but is {given!r}. Some of the default ones are "
            "`[view for view in views.default_views(predictions) if view.name in {'bias', 'spread'}]`."
        )
    names = [view.name for view in views]
    if len(set(names)) < len(names):
        raise ValueError(f"`views` must have different names, but are called {names}.")
    if any(view.noise for view in views) and not hasattr(predictions, "noisy"):
        raise TypeError(f"`views` with noise need predictions that can have it; {predictions!r} cannot.")
    if any(view.coordinates == "component" for view in views) and not isinstance(predictions, GaussianMixture):
        raise TypeError(f"`views` of components are for `GaussianMixture`, not for {predictions!r}.")
    return views


def _shares(contributions: np.ndarray, statistic: float) -> np.ndarray:
    total = float(np.sum(contributions))
    return (
        contributions * (statistic / total)
        if total > 0
        else np.full(len(contributions), statistic / len(contributions))
    )


def _blind_spots(predictions: Any, used: Sequence[View], space: Space, n_resamples: int) -> tuple[str, ...]:
    spots = []
    least = max(1.0 / (n_resamples + 1.0), 2.0 ** (1 - predictions.n))
    if least > 0.05:
        spots.append(
            f"anything at the 5 % level: with n = {predictions.n} and n_resamples = {n_resamples}, no p-value can be "
            f"below {least:.2g}."
        )
    n_left_out = int(np.sum(space.whitening.unfitted)) if any(v.coordinates != "natural" for v in used) else 0
    if n_left_out:
        spots.append(f"{n_left_out} of {predictions.n} predictions, to whose scores no spread could be fitted.")
    noisy = hasattr(predictions, "noised") or any(view.noise for view in used)
    if not isinstance(predictions, Gaussian) and not noisy:
        spots.append("the weights of modes that are far apart, should predictions have several.")
    if not any(view.sees == "dependence" for view in used):
        spots.append(
            "miscalibration that depends on the prediction: predictions do not differ, or no view looks for it."
        )
    return tuple(spots)
