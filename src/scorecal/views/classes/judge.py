"""The test of predictions of classes: views, null draws, one p-value."""

from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from ..._inference import infer_all
from ..._lib.arrays import to_numpy
from ..._lib.checks import as_generator, check_count
from ..._lib.covariates import as_covariates
from ...cautions import cautions_of, rows_of
from ...pairwise import Average, Features, Redrawn
from ...predictions import Categorical
from ...resampling import RandomSigns, as_options, for_rows
from ...resampling.automatic import raise_of_signs
from ...resampling.estimators import Complete
from ...resampling.features import statistic_of_sums
from ...resampling.nulls import Simulate
from ...results import CombinedResult, ViewResult
from ..combine import Draws, combine, shares_of
from ..extremes import by_law
from .choose import ClassView, class_views
from .unlikely import Unlikely
from .words import Found, blind_spots, message_of, of_few_rows, of_impossible, seen_by

_MOST_ROWS = 20_000  # of more, draws from the predictions take many seconds
_NUMBERS_AT_ONCE = 2**20
_ENOUGH_DRAWS, _CHEAP = 2000, 4 * 10**6  # and rows times draws that take a fraction of a second


def classes_test(
    predictions: Categorical,
    y: Any,
    *,
    level: float,
    n_resamples: int,
    null: Any,
    groups: Any,
    horizon: int | None,
    covariates: Any,
    precision: str,
    rng: Any,
    refused: Mapping[str, tuple[Any, Any]],
) -> CombinedResult:
    """Return the outcome of `calibration_test` for predictions of classes, in words at this level.

    `refused` are arguments that are not for classes, each with its value and the default that it must have.
    """
    check_count("n_resamples", n_resamples)
    for name, (value, default) in refused.items():
        if value is not default and not (isinstance(value, str) and value == default):
            raise TypeError(
                f"`{name}` is not for classes, whose views and pairs are their own, but is {value!r}: leave it out."
            )
    p, observed = checked_classes(predictions, y)
    n = len(p)
    options = as_options(Complete(), null, None, None, precision)
    if options.null == "auto" and groups is None and horizon is None:
        options = replace(options, null=Simulate() if n <= _MOST_ROWS else RandomSigns())
    automatic = options.null == "auto"
    options = for_rows(options, predictions, groups, horizon, n)
    clusters, options = options.clusters, replace(options, null=options.null or RandomSigns())
    if automatic and clusters is not None and clusters.n_clusters == n <= _MOST_ROWS:
        # One step ahead, errors have mean zero and the claimed variance given all before them, and so have draws.
        options = replace(options, null=Simulate(), clusters=None)
    columns = {} if covariates is None else as_covariates(covariates, n)
    by_signs = not isinstance(options.null, Simulate)
    views = class_views(p, observed, columns, clusters, predictions.ordinal, by_signs)
    generator = as_generator(rng)
    raised = raise_of_signs(options.null, predictions, n, clusters)
    parts = max(1, min(_ENOUGH_DRAWS, _CHEAP // n) // (n_resamples + 1))
    draws = Draws(n_resamples, max(parts, int(np.ceil(raised))), raised)
    functions = [_function(view, observed) for view in views]
    redraw = partial(_redraw, views, predictions)
    inferred = infer_all(functions, p, [{} for _ in views], draws.n, generator, options, redraw=redraw)
    if by_signs or clusters is not None:  # draws do not have the law of predictions that learn from surprises
        inferred = [by_law(result, law, generator) for result, law in inferred]
    results, laws = [result for result, _ in inferred], [law for _, law in inferred]
    combined = combine(
        np.array([result.statistic for result in results]),
        np.stack([result.null_distribution for result in results]),
        laws,
        np.array([view.weight for view in views]),
        draws,
        float(np.finfo(np.float64).eps),
        results[0].least_pvalue,
    )
    of_views = tuple(
        ViewResult(
            view.name,
            view.sees,
            result.statistic,
            float(own),
            float(adjusted),
            replace(draws, raised=1.0).kept(result.null_distribution),
            result.contributions,
            about=view.about,
            null=result.null,
        )
        for view, result, own, adjusted in zip(views, results, combined.own, combined.adjusted, strict=True)
    )
    found = Found(predictions.names, p, observed, views, combined, level)
    seen = seen_by(found)
    rows = rows_of(predictions, y, predictions.residuals(y))
    noticed = cautions_of(rows, results[0].null, clusters, clusters is None, draws.raised)
    return CombinedResult(
        combined.statistic,
        combined.pvalue,
        combined.null,
        shares_of(of_views, combined.statistic),
        {},
        n,
        n_resamples,
        null=results[0].null,
        pvalue_error=combined.pvalue_error,
        n_draws=draws.n,
        n_clusters=results[0].n_clusters,
        least_pvalue=results[0].least_pvalue,
        warnings=(*results[0].warnings, *of_few_rows(found), *of_impossible(found), *noticed),
        views=of_views,
        seen=seen,
        level=level,
        message=message_of(found, seen),
        cannot_see=blind_spots(found, n_resamples, columns, clusters),
    )


def checked_classes(predictions: Categorical, y: Any) -> tuple[np.ndarray, np.ndarray]:
    """Return probabilities (n, K), of at least two classes and rows that add up to 1, and observed classes (n,)."""
    if predictions.n_classes < 2:
        raise ValueError(
            "`predictions` must have at least 2 classes, but have one. Likely cause: the probability of the second of "
            "two classes alone, which is given with shape (n,)."
        )
    observed = predictions.class_numbers(y)
    if predictions.n < 2:
        raise ValueError(f"`y` must hold at least 2 targets, but has {predictions.n}.")
    p = to_numpy(predictions.probabilities).astype(np.float64)
    return p / np.sum(p, axis=1, keepdims=True), observed


def _function(view: ClassView, observed: np.ndarray) -> Any:
    """Return the function that the engine averages for a view."""
    if isinstance(view.features, Unlikely):
        return view.features.extreme(observed)
    return Features(partial(view.features.of_rows, observed), view.largest, unskewed=True)


def _redraw(
    views: tuple[ClassView, ...], predictions: Categorical, n_draws: int, rng: np.random.Generator, average: Average
) -> Redrawn:
    """Statistics (V, n_draws) of classes drawn from the predictions, and the expected squares and cubes of features."""
    n = predictions.n
    units = [None if isinstance(view.features, Unlikely) else view.features.units for view in views]
    size = max(1, _NUMBERS_AT_ONCE // n)
    parts = []
    for start in range(0, n_draws, size):
        drawn = predictions.sample(min(size, n_draws - start), rng)
        parts.append(np.stack([_statistics(view, unit, drawn) for view, unit in zip(views, units, strict=True)]))
    return Redrawn(np.concatenate(parts, axis=1), units)


def _statistics(view: ClassView, units: Any, drawn: np.ndarray) -> np.ndarray:
    if isinstance(view.features, Unlikely):
        return view.features.of_draws(drawn)
    return np.asarray(statistic_of_sums(view.largest, view.features.sums(drawn), units, drawn.shape[1]))
