"""The outcome of both passes: the test, sizes of errors, and coverage."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from .._calibration_test import judged_by_signs, residual_rows
from .._lib.arrays import array_namespace, like
from ..cautions import cautions_of
from ..coverage import BinnedCoverage
from ..diagnosis import Diagnosis
from ..pairwise import Extreme, Features
from ..predictions import Samplable
from ..resampling import ComputeOptions, RandomSigns
from ..resampling.estimators import LowRank
from ..resampling.feature_sums import FeatureSums
from ..resampling.features import u_statistic_of
from ..resampling.laws import Law
from ..resampling.row_statistics import with_cubes_first
from ..results import CalibrationResult, CombinedResult, calibration_result
from ..views import View
from ..views.extremes import by_law
from ..views.frame import ViewFrame
from ..views.judge import Judged, Subject, judged_of
from ..views.kinds import seen_by
from ..views.naming import blind_spots, message_of
from ..views.second_moments import Spread
from .diagnosis import diagnosis_of
from .first import FirstSums
from .rows import KeptRows
from .second import SecondPass, SecondSums

_PRECISION = float(np.finfo(np.float32).eps)  # of signs, whatever the dtype of the rows


@dataclass(frozen=True, eq=False)
class Judgement:
    """Result of `streams.judge`.

    Attributes
    ----------
    result : CombinedResult
        As of `calibration_test` with `estimator="low-rank"` and `null="signs"`, but that `contributions` are empty:
        they would take one more pass, and memory as n.
    diagnosis : Diagnosis
        As of `diagnose`. Sizes over all rows come from all rows, regions from the `sample`; and so do all sizes where
        the test names outliers, which are left out.
    coverage : Coverage or None
        As of `expected_coverage`, for Gaussian predictions: counts in 131,072 steps in place of every level.
    sample : KeptRows
        Rows that regions and the words of `result.seen` come from: all, up to 100,000, otherwise so many at random. Its
        `rows` are their numbers, and `predictions` and `y` what they hold. If there are more, warnings come from the
        first 20,000 rows.
    """

    result: CombinedResult
    diagnosis: Diagnosis
    coverage: BinnedCoverage | None
    sample: KeptRows


def judgement_of(
    first: FirstSums,
    todo: SecondPass,
    sums: SecondSums,
    level: float,
    names: Sequence[str] | None,
    seed: Any,
) -> Judgement:
    """Return the outcome at a level, from the sums of both passes."""
    n, sample = todo.rows.n, first.rows.sample
    frames = todo.frames(sample.predictions, sample.y, 0)
    judged = _judged(todo, sums, frames, n)
    clear = any(view.sees == "outliers" and view.adjusted_pvalue <= level for view in judged.views)
    if clear and len(sample.rows) < n:  # a few outliers of many rows are not in a sample of these
        rows = sums.far.rows.rows
        sample = sample + sums.far.rows.take(np.flatnonzero(~np.isin(rows, sample.rows)))
        frames = todo.frames(sample.predictions, sample.y, 0)
    result = _result(todo, judged, frames, sample, first, sums.traces.spread, level)
    diagnosis = diagnosis_of(first, todo, sums, result, sample, level, names, seed)
    coverage = None if sums.levels is None else sums.levels.coverage
    return Judgement(result, diagnosis, coverage, sample)


def _judged(todo: SecondPass, sums: SecondSums, frames: dict[float, ViewFrame], n: int) -> Judged:
    """Rank the views among their null draws."""
    rng = todo.signs.after(n)
    functions, largest = todo.functions(frames), iter(sums.largest)
    order = with_cubes_first([each for each in functions if isinstance(each, Features)])
    features = iter([sums.features.of(order.index(k)) for k in range(len(order))])
    inferred = []
    for view, function in zip(todo.views, functions, strict=True):
        if isinstance(function, Extreme):
            inferred.append(_of_extreme(view, next(largest), frames[view.noise], n, todo.draws.n))
        else:
            inferred.append(_of_features(todo, view, function, next(features), n))
    inferred = [by_law(result, law, rng) for result, law in inferred]
    reference = frames[0.0].reference
    return judged_of(
        list(todo.views), inferred, todo.draws, float(array_namespace(reference).finfo(reference.dtype).eps)
    )


def _of_features(
    todo: SecondPass, view: View, function: Features, sums: FeatureSums, n: int
) -> tuple[CalibrationResult, Law | None]:
    found = u_statistic_of(function, sums, n, n * (n - 1), _PRECISION)
    wave = todo.waves.get(view.name)
    used = {} if wave is None else {"target": float(wave.scale.width), "distribution": float(wave.scale.bandwidth)}
    result = calibration_result(float(found.observed), np.asarray(found.null), np.zeros(0), used, _PRECISION)
    return replace(result, n=n, n_clusters=n), found.law


def _of_extreme(
    view: View, largest: float, frame: ViewFrame, n: int, n_draws: int
) -> tuple[CalibrationResult, Law | None]:
    kernel: Any = view.target_kernel
    extreme = kernel.extreme(frame, n=n)
    statistic = float(extreme.statistic(like(largest, frame.targets)))
    found = calibration_result(statistic, np.full(n_draws, statistic), np.zeros(0), {}, _PRECISION)
    return replace(found, n=n, n_clusters=n), extreme.law


def _result(
    todo: SecondPass,
    judged: Judged,
    frames: dict[float, ViewFrame],
    sample: KeptRows,
    first: FirstSums,
    spread: Spread,
    level: float,
) -> CombinedResult:
    """Return the outcome of the test, with words and warnings from the rows that were kept."""
    n, forms, combined, frame = todo.rows.n, first.forms, judged.combined, frames[0.0]
    predictions = sample.predictions
    options = ComputeOptions(LowRank(), RandomSigns(), precision="mixed")
    subject = Subject(predictions, None, frames, todo.draws.n_resamples, automatic=False)
    ask = partial(judged_by_signs, subject, judged.used, options)
    seen = seen_by(judged, frame, ask, level, in_ranks=forms is not None, spread=spread)
    near = sample if len(sample.rows) == n else first.rows.head
    rows = residual_rows(near.predictions, near.y, todo.frames(near.predictions, near.y, 0)[0.0], judged.used)
    noticed = cautions_of(rows, judged.null, None, isinstance(predictions, Samplable), todo.draws.raised)
    by_formula = combined.pvalue < judged.results[0].least_pvalue
    return CombinedResult(
        combined.statistic,
        combined.pvalue,
        combined.null,
        np.zeros(0),
        next((result.bandwidths for result in judged.results if result.bandwidths), {}),
        n,
        todo.draws.n_resamples,
        coordinates=frame.coordinates if forms is None else f"normal scores, {frame.coordinates}",
        null=judged.null,
        estimator="low-rank",
        pvalue_error=combined.pvalue_error,
        n_draws=todo.draws.n,
        n_clusters=n,
        least_pvalue=0.0 if by_formula else judged.results[0].least_pvalue,
        warnings=noticed if forms is None else (*forms.cautions, *noticed),
        views=judged.views,
        seen=seen,
        level=level,
        message=message_of(judged, n, seen, level),
        cannot_see=(
            *(() if forms is None else forms.cannot_see),
            *blind_spots(predictions, judged.used, frame, judged.draws, judged.null),
        ),
    )
