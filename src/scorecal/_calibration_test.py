"""The recommended test: several views of the same data, one bootstrap, one p-value."""

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from ._lib.arrays import array_namespace, has_values, ignore_overflow, like
from ._lib.checks import as_generator, check_count
from ._lib.covariates import as_covariates
from .cautions import Rows, cautions_of, rows_of
from .coordinates import Coordinates
from .coordinates.chains import can_be_moved
from .coordinates.normal_scores import as_numbers, in_normal_scores
from .parallel.workers import Map
from .predictions import AnyPredictions, Categorical, Samplable, on_host
from .resampling import ComputeOptions, Null, RandomSigns, as_options, for_rows
from .resampling.estimators import Estimator
from .results import CombinedResult
from .views import View, default_views
from .views.classes import classes_test
from .views.combine import USUAL_LEVEL, shares_of
from .views.covariates import covariate_views, functions_of, serial_views
from .views.frame import ViewFrame, frame_of
from .views.judge import Judged, Subject, judge
from .views.kinds import seen_by
from .views.naming import blind_spots, message_of
from .views.near_modes import NearModes
from .views.redraw import DrawsError
from .views.view import as_views

_SEED_OF_WORDS = 0


def calibration_test(
    predictions: AnyPredictions | Categorical,
    y: Any,
    *,
    views: Sequence[View] | None = None,
    coordinates: Coordinates | None = None,
    n_resamples: int = 999,
    estimator: str | Estimator = "auto",
    null: str | Null | None = "auto",
    groups: Any = None,
    horizon: int | None = None,
    covariates: Any = None,
    memory: float | None = None,
    workers: int | Map | None = None,
    precision: str = "mixed",
    rng: Any = None,
) -> CombinedResult:
    r"""Test whether predictions are calibrated, from their scores alone, and say what is wrong with them.

    The null hypothesis is that every target is a draw from its own prediction: given the prediction P, Y ~ P. Several
    views look at the same data, each for one kind of miscalibration: bias, wrong spread, wrong correlation, wrong
    shape, and what depends on the prediction. They are combined into one p-value.

    Parameters
    ----------
    predictions : Predictions or Categorical
        n predictive distributions on R^d, as for `kccsd_test`, or on classes, which have views of their own: `views`,
        `coordinates` and `estimator` are not for them.
    y : array_like, shape (n, d)
        The n observed targets; (n,) for d = 1 and for classes.
    views : sequence of View, optional
        The views to use; `views.default_views(predictions)` by default.
    coordinates : callable, optional
        As for `kccsd_test`, applied before targets are whitened; for example, for `Scores` on a bounded support.
    n_resamples : int
        Number of null draws B on the result; the smallest p-value is 1 / (B + 1). With `null="auto"`, more are made
        where they are cheap; p-values are then rounded up to multiples of 1 / (B + 1).
    estimator : {"auto", "complete", "incomplete", "block", "linear", "low-rank"} or a value of `estimators`
        Which pairs of rows are averaged by the views that compare pairs: with "auto", all of up to 20,000 rows or so,
        and beyond by random features, "low-rank"; `estimator` of the result says which. Other views average all pairs
        at no extra cost.
    null : {"auto", "signs", "simulate"}, a value of `nulls`, or an object with the method of `nulls.Null`
        How the null distribution of all views is found, whatever the estimator: from random signs, or, exact for any
        number of rows, from targets drawn from the predictions. "auto" draws where predictions can be drawn from and
        rows are few: n d up to 10,000 for Gaussians, 200 rows for others, and 100 for those that have scores only; of
        more than 100 rows, views that compare pairs are judged by signs. With `groups` or `horizon`, with another
        estimator than "complete", and for posteriors of sbi and flows it means signs. Classes are drawn up to
        20,000 rows, with `horizon=1` as well. P-values by signs of fewer than 50 rows are raised, but for Gaussians,
        since signs of few rows mistake skewness for bias. `nulls.StudentT` is refused, since it is for one statistic.
    groups, horizon
        As for `kccsd_test`. With `horizon`, 1 included, what views know of the locations and spreads of the predictions
        comes from rows up to their own, of the same group: in a random walk, say, later ones depend on its error. Two
        views then look at whether errors follow those of the row observed last.
    covariates : mapping, data frame or array of shape (n, q), optional
        What else is known of each row when its prediction is made: numbers, dates or labels. For each of them two views
        look for a bias and a wrong spread that follow it, such as a drift over time; they are part of the p-value.
    memory, workers, precision
        As for `kccsd_test`, for the views that compare pairs; the others are computed in this process.
    rng : seed or numpy.random.Generator, optional
        Source of base points, signs and draws. Noise that views add to targets has a seed of its own, and with
        `null="auto"` so have draws of Gaussians.

    Returns
    -------
    CombinedResult
        With `pvalue`, `message`, `seen`, `views` (each with its own `pvalue` and `adjusted_pvalue`), `cannot_see`, and
        the attributes of `CalibrationResult`.

    Notes
    -----
    Each target is first brought to units of its own prediction, :math:`z = \Sigma_i^{-1/2} (y_i - m_i)`, with the
    score :math:`\Sigma_i^{1/2} s_i` (`coordinates.whiten`). The map depends on the prediction only, so the test is as
    valid as without it. A test function :math:`\phi` then gives the feature :math:`f_i = s \cdot \phi(z) +
    \mathrm{div} \phi(z)`, of mean zero if the predictions are calibrated; a view is the U-statistic of
    :math:`k(P_i, P_j) f_i \cdot f_j`, which for a constant k needs no pairs, and is then corrected for the skewness of
    f [1]. Random signs or drawn targets, the same for all views that they judge, give its null distribution. P-values
    of the views come from a law of their statistic, or are ranks among all draws, and the observed data are ranked
    among the draws by the smallest of them.

    Scores do not see the weights of modes that are far apart, unless noise is added, which mixtures and posteriors of
    diffusion models allow; `cannot_see` says where this is not so.

    Rows must be independent, but for `groups` and `horizon`. Time and memory grow as n; while all pairs are cheap, the
    time of one view as n^2.

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
    'Calibration is not rejected (p = 0.393, n = 300).'

    Calibrated predictions for 30 patients, ten rows each, with errors that rows of a patient have in common:

    >>> patient = np.repeat(np.arange(30), 10)
    >>> y = mean + np.sqrt(0.5) * (rng.normal(size=(30, 2))[patient] + rng.normal(size=(300, 2)))
    >>> sc.calibration_test(sc.Gaussian(mean, 1.0), y, rng=0).rejects()
    True
    >>> sc.calibration_test(sc.Gaussian(mean, 1.0), y, groups=patient, rng=0).rejects()
    False

    Classes, with probabilities that are too extreme:

    >>> logits = rng.normal(size=(300, 5))
    >>> y = sc.Categorical(np.exp(logits) / np.exp(logits).sum(axis=1, keepdims=True)).sample(1, rng)[0]
    >>> sure = sc.Categorical(np.exp(2 * logits) / np.exp(2 * logits).sum(axis=1, keepdims=True))
    >>> sc.calibration_test(sure, y, rng=0).seen
    ('over-confidence',)
    """
    return calibration_test_at(
        USUAL_LEVEL,
        predictions,
        y,
        views=views,
        coordinates=coordinates,
        n_resamples=n_resamples,
        estimator=estimator,
        null=null,
        groups=groups,
        horizon=horizon,
        covariates=covariates,
        memory=memory,
        workers=workers,
        precision=precision,
        rng=rng,
    )


@ignore_overflow
def calibration_test_at(
    level: float,
    predictions: AnyPredictions | Categorical,
    y: Any,
    *,
    views: Sequence[View] | None = None,
    coordinates: Coordinates | None = None,
    n_resamples: int = 999,
    estimator: str | Estimator = "auto",
    null: str | Null | None = "auto",
    groups: Any = None,
    horizon: int | None = None,
    covariates: Any = None,
    memory: float | None = None,
    workers: int | Map | None = None,
    precision: str = "mixed",
    rng: Any = None,
) -> CombinedResult:
    """Return the outcome of `calibration_test`, with what is seen at this level."""
    given, given_y = predictions, y
    if views is None and coordinates is None:  # those of a user may need arrays of JAX
        predictions, y = on_host(predictions, y)
    if isinstance(predictions, Categorical):
        as_options(estimator, null, memory, workers, precision)
        pairs = "auto" if isinstance(estimator, str) and estimator == "complete" else estimator
        refused = {"views": (views, None), "coordinates": (coordinates, None), "estimator": (pairs, "auto")}
        shared = {"groups": groups, "horizon": horizon, "covariates": covariates, "precision": precision, "rng": rng}
        return classes_test(predictions, y, level=level, n_resamples=n_resamples, null=null, refused=refused, **shared)
    check_count("n_resamples", n_resamples)
    options, generator = as_options(estimator, null, memory, workers, precision), as_generator(rng)
    form = predictions
    predictions, y = in_normal_scores(form, y, generator)
    frame = frame_of(predictions, y, 0.0, coordinates)
    n = frame.reference.shape[0]
    options = for_rows(options, predictions, groups, horizon, n, chains=True)
    options = replace(options, null=options.null or RandomSigns())  # for all views, whatever the estimator of pairs
    frame = replace(frame, clusters=options.clusters)
    if not has_values(frame.reference):
        raise TypeError("A p-value cannot be computed while JAX is tracing; call the test outside `jax.jit`.")
    columns = {} if covariates is None else as_covariates(covariates, n)
    functions = {name: like(functions_of(column, options.clusters), frame.targets) for name, column in columns.items()}
    frame = replace(frame, covariates=functions)
    if views is None:
        chosen = default_views(predictions if coordinates is None else frame.predictions.dim)
        chosen += serial_views(frame.predictions.dim) if frame.ordered else ()
    else:
        chosen = as_views(views, predictions, own_coordinates=coordinates is None)
    chosen += covariate_views(columns, frame.predictions.dim, chosen)
    frames = {0.0: frame}
    for noise in (view.noise for view in chosen):
        if noise not in frames:
            frames[noise] = replace(frame_of(predictions, y, noise), clusters=options.clusters, covariates=functions)
    subject = Subject(predictions, coordinates, frames, n_resamples, null == "auto")
    failed: DrawsError | None = None
    try:
        judged = judge(subject, chosen, options, generator)
    except DrawsError as error:
        if null != "auto":
            raise (error.__cause__ or error) from None
        failed, options, subject = error, replace(options, null=RandomSigns()), replace(subject, automatic=False)
        judged = judge(subject, chosen, options, generator)
    combined, results = judged.combined, judged.results
    seen = seen_by(
        judged, frame, partial(_judged_by_signs, subject, judged.used, options), level, in_ranks=form is not predictions
    )
    can_draw = failed is None and (can_be_moved(predictions) or isinstance(predictions, Samplable))
    rows = _rows(predictions, y, frame, judged.used)
    by_formula = combined.pvalue < results[0].least_pvalue  # outliers need no signs, of which there may be too few
    noticed = cautions_of(rows, judged.null, options.clusters, can_draw, judged.draws.raised)
    if hasattr(given, "cautions"):
        noticed = (*given.cautions(as_numbers(given_y, n, form.dim)), *noticed)
    if failed is not None:
        why = f"Random signs were used, because targets drawn from the predictions could not be judged: {failed}"
        noticed = (why, *noticed)
    return CombinedResult(
        combined.statistic,
        combined.pvalue,
        combined.null,
        shares_of(judged.views, combined.statistic),
        next((result.bandwidths for result in results if result.bandwidths), {}),
        n,
        n_resamples,
        coordinates=frame.coordinates if form is predictions else f"normal scores, {frame.coordinates}",
        null=judged.null,
        estimator=next((each.estimator for each in results if each.bandwidths), "complete"),
        pvalue_error=combined.pvalue_error,
        n_draws=judged.draws.n,
        n_clusters=results[0].n_clusters,
        least_pvalue=0.0 if by_formula else results[0].least_pvalue,
        warnings=(*results[0].warnings, *noticed),
        views=judged.views,
        seen=seen,
        level=level,
        message=message_of(judged, n, seen, level),
        cannot_see=(
            *getattr(given, "cannot_see", ()),
            *blind_spots(predictions, judged.used, frame, judged.draws, judged.null),
        ),
    )


def _judged_by_signs(
    subject: Subject, used: Sequence[View], options: ComputeOptions, frame: ViewFrame
) -> Judged | None:
    """Return what views, as far as signs can judge them, see of other targets; signs have the width of these.

    Views that compare pairs, add noise or ask the model twice more are left out, since they would be asked many times.
    """
    quick = [v for v in used if v.sees != "any" and not v.noise and not isinstance(v.target_kernel, NearModes)]
    views = subject.for_signs(quick)
    if not views:
        return None
    other = replace(subject, frames={0.0: frame})
    same_signs = np.random.default_rng(_SEED_OF_WORDS)  # so that what is left by two kinds can be compared
    return judge(other, views, replace(options, null=RandomSigns()), same_signs, for_words=True)


def _rows(predictions: Any, y: Any, frame: ViewFrame, used: Sequence[View]) -> Rows:
    """Return targets and whitened residuals, or scores if no view whitens, averaged over draws of noise."""
    xp = array_namespace(frame.reference)
    if all(view.coordinates == "natural" for view in used):
        return rows_of(predictions, y, xp.mean(frame.scores, axis=0))
    residuals = frame.residuals
    return rows_of(predictions, y, residuals, (frame.whitening.location, frame.whitening.sd))
