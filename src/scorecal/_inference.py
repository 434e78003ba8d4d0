"""Results from statistics: one pass of the engine, and the rank of the statistic among its null draws."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
from array_api_compat import is_array_api_obj

from ._lib.arrays import Array, array_namespace, as_float, has_values, to_numpy, without_gradients
from .cautions import cautions_of, rows_of
from .pairwise import Average, Redraw, Redrawn, RowFunction, Statistic
from .parallel.progress import progress
from .predictions import Samplable, drawn_targets
from .resampling import ComputeOptions, null_distributions, u_statistics
from .resampling.automatic import chosen_estimator
from .resampling.estimators import name_of_estimator
from .resampling.laws import Law
from .results import CalibrationResult, calibration_result, check_overflow


def value_of(statistic: Statistic) -> Array:
    """Return the U-statistic alone, a 0-d array that keeps its derivatives."""
    value = u_statistics([statistic.function], statistic.reference).statistic[0]
    if has_values(value):
        check_overflow(as_float(value))
    return value


def _redraw(
    recompute: Callable[[Any], Statistic],
    predictions: Any,
    n: int,
    n_draws: int,
    rng: np.random.Generator,
    average: Average,
) -> Redrawn:
    """Draw n targets from the predictions and recompute the statistic, time and again: (1, n_draws)."""
    found = []
    with progress(n_draws, "draw", delay=2.0) as advance:
        for targets in drawn_targets(predictions, n, n_draws, rng):
            statistic = recompute(targets)
            found.append(average([statistic.function], statistic.reference))
            advance(1)
    return Redrawn(array_namespace(found[0]).stack(found, axis=1), [None])


def infer(
    statistic: Statistic,
    predictions: Any,
    y: Any,
    n_resamples: int,
    rng: np.random.Generator,
    options: ComputeOptions,
) -> CalibrationResult:
    """Return the U-statistic, ranked among draws from its null distribution, with warnings on predictions and `y`."""
    functions, bandwidths = [statistic.function], [statistic.bandwidths]
    n = int(statistic.reference.shape[0])
    redraw = None if statistic.recompute is None else partial(_redraw, statistic.recompute, predictions, n)
    ((result, _),) = infer_all(functions, statistic.reference, bandwidths, n_resamples, rng, options, redraw=redraw)
    rows = rows_of(predictions, y, statistic.errors)
    noticed = cautions_of(rows, result.null, options.clusters, isinstance(predictions, Samplable))
    return replace(result, coordinates=statistic.coordinates, warnings=(*result.warnings, *noticed))


def infer_all(
    functions: Sequence[RowFunction],
    reference: Array,
    bandwidths: Sequence[Mapping[str, Any]],
    n_resamples: int,
    rng: np.random.Generator,
    options: ComputeOptions,
    tile: int | None = None,
    redraw: Redraw | None = None,
) -> list[tuple[CalibrationResult, Law | None]]:
    """Return several U-statistics, computed in one pass, each ranked among draws from its null distribution.

    With each comes that distribution in closed form, where it has one.
    """
    if not has_values(reference):
        raise TypeError(
            "A p-value cannot be computed while JAX is tracing; use the statistic, or call the test outside `jax.jit`."
        )
    used = [
        {name: as_float(value) if is_array_api_obj(value) else float(value) for name, value in names.items()}
        for names in bandwidths
    ]
    n, d = reference.shape
    options = replace(options, estimator=chosen_estimator(options.estimator, functions, n, d, n_resamples))
    with without_gradients(reference):
        totals = null_distributions(functions, reference, n_resamples, rng, options=options, tile=tile, redraw=redraw)
    statistics, draws, contributions = (
        to_numpy(part).astype(np.float64, copy=False) for part in (totals.statistic, totals.null, totals.contributions)
    )
    own = float(array_namespace(reference).finfo(reference.dtype).eps)
    precisions = [max(own, each) for each in totals.precisions or [own] * len(used)]
    results = [
        calibration_result(
            float(statistics[v]),
            draws[v],
            contributions[v],
            names,
            precisions[v],
            totals.null_name,
            options.clusters,
            name_of_estimator(options.estimator),
        )
        for v, names in enumerate(used)
    ]
    return list(zip(results, totals.laws or [None] * len(results), strict=True))
