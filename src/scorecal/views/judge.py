"""The views of one data set, ranked among null draws that they share."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from math import ceil
from typing import Any

import numpy as np

from .._inference import infer_all
from .._lib.arrays import array_namespace
from ..coordinates import Coordinates
from ..resampling import ComputeOptions, RandomSigns
from ..resampling.automatic import can_draw_largest, draws_per_resample, most_rows, pairs_by_signs, raise_of_signs
from ..resampling.estimators import Complete, LowRank
from ..resampling.laws import Law
from ..resampling.nulls import Simulate
from ..results import CalibrationResult, ViewResult
from .combine import Combined, Draws, combine
from .evaluate import Averaged, evaluate
from .extremes import EvidenceLaw, Largest, by_law
from .frame import ViewFrame
from .redraw import ViewRedraw, stacks
from .view import View, for_signs

_N_SIGNS_FOR_WORDS = 199


@dataclass(frozen=True, eq=False)
class Subject:
    """Predictions and targets in the frames of the views, by noise, and how the views are averaged."""

    predictions: Any
    coordinates: Coordinates | None
    frames: Mapping[float, ViewFrame]
    n_resamples: int
    automatic: bool  # the null is `null="auto"`: as many draws as are cheap, and signs where draws are dear

    @property
    def draws_largest(self) -> bool:
        """Whether the largest target, which signs do not judge, is judged by draws: one number for each data set."""
        frame = self.frames[0.0]
        independent = frame.clusters is None and self.automatic
        return independent and can_draw_largest(self.predictions, frame.reference.shape[0], self.n_resamples)

    def for_signs(self, views: Iterable[View]) -> tuple[View, ...]:
        """Return the views as random signs can judge them."""
        return for_signs(views, self.predictions, self.coordinates is None)


@dataclass(frozen=True, eq=False)
class Judged:
    """The views that were used, the outcome of each alone, of all of them combined, and adjusted for all."""

    used: list[View]
    results: list[CalibrationResult]
    combined: Combined
    views: tuple[ViewResult, ...]
    draws: Draws

    @property
    def null(self) -> str:
        return self.results[0].null


def judge(
    subject: Subject,
    views: Sequence[View],
    options: ComputeOptions,
    rng: np.random.Generator,
    *,
    for_words: bool = False,
) -> Judged:
    """Evaluate the views and rank them among null draws.

    What is `for_words` has its size in standard errors of the data, whatever its p-value.
    """
    n, d = subject.frames[0.0].reference.shape
    shared: dict[Any, Any] = {}
    parts = []
    for own_options, own_views in _by_null(subject, views, options):
        low_rank = isinstance(own_options.estimator, LowRank) and not isinstance(own_options.null, Simulate)
        found = [
            (view, evaluate(view, subject.frames[view.noise], rng, shared, low_rank=low_rank)) for view in own_views
        ]
        parts.append((own_options, [(view, each) for view, each in found if each is not None]))
    used = [view for _, found in parts for view, _ in found]
    if not used:
        raise ValueError(
            "`views` see nothing here. Likely causes: they all compare predictions, and `differs(frame)` is False, as "
            "where all predictions are alike; or they all need null draws from the predictions (`Outlying`, `Largest`)."
        )
    raised = raise_of_signs(options.null, subject.predictions, n, options.clusters)
    first = [view for view, _ in parts[0][1]]
    cheap = not isinstance(options.null, Simulate) or _redraw(subject, first, options).tabulated is not None
    per_resample = draws_per_resample(options.null, subject.n_resamples, n, d) if subject.automatic and cheap else 1
    draws = Draws(subject.n_resamples, max(per_resample, ceil(raised)), raised)
    draws = Draws(subject.n_resamples) if len(parts) > 1 and not isinstance(options.null, Simulate) else draws
    draws = Draws(_N_SIGNS_FOR_WORDS) if for_words else draws
    inferred = [each for own, found in parts if found for each in _inferred(subject, found, own, draws.n, rng)]
    results, laws = [result for result, _ in inferred], [law for _, law in inferred]
    combined = combine(
        np.array([result.statistic for result in results]),
        np.stack([result.null_distribution for result in results]),
        laws,
        np.array([view.weight for view in used]),
        draws,
        float(array_namespace(subject.frames[0.0].reference).finfo(subject.frames[0.0].reference.dtype).eps),
        results[0].least_pvalue,
        np.array([isinstance(law, EvidenceLaw) for law in laws]),
    )
    own_null = (replace(draws, raised=1.0).kept(result.null_distribution) for result in results)
    of_views = tuple(
        ViewResult(
            view.name, view.sees, r.statistic, own, adjusted, kept, r.contributions, about=view.about, null=r.null
        )
        for view, r, own, adjusted, kept in zip(used, results, combined.own, combined.adjusted, own_null, strict=True)
    )
    return Judged(used, results, combined, of_views, draws)


def _by_null(
    subject: Subject, views: Sequence[View], options: ComputeOptions
) -> list[tuple[ComputeOptions, Sequence[View]]]:
    """Return the views by the null that judges them; of the views of one null, draws are the same.

    Draws of different nulls are independent, whatever the statistics are. The probability that one of two p-values is
    small is at most the sum a + b, however they depend on each other, and a + b - a b by independent draws: with
    a + b = .05 the level is wrong by at most .0006.
    """
    if not isinstance(options.null, Simulate):
        signed = subject.for_signs(views)
        largest = [view for view in views if isinstance(view.target_kernel, Largest)]
        if not largest or any(isinstance(view.target_kernel, Largest) for view in signed) or not subject.draws_largest:
            return [(options, signed)]
        return [(options, signed), (replace(options, null=Simulate()), largest)]
    n = subject.frames[0.0].reference.shape[0]
    if not subject.automatic or not pairs_by_signs(n):
        return [(options, views)]
    by_signs = replace(options, null=RandomSigns())
    drawn = [view for view in views if stacks(view) and not view.noise]
    if not drawn or (n > most_rows(subject.predictions) and _redraw(subject, drawn, options).tabulated is None):
        return [(by_signs, subject.for_signs(views))]
    others = [view for view in views if view not in drawn]
    return [(options, drawn), (by_signs, subject.for_signs(others))]


def _redraw(subject: Subject, views: Sequence[View], options: ComputeOptions) -> ViewRedraw:
    all_pairs = isinstance(options.estimator, Complete)
    return ViewRedraw(views, subject.frames, subject.predictions, subject.coordinates, all_pairs)


def _inferred(
    subject: Subject,
    found: Sequence[tuple[View, Averaged]],
    options: ComputeOptions,
    n_draws: int,
    rng: np.random.Generator,
) -> list[tuple[CalibrationResult, Law | None]]:
    """Rank the views of one null among its draws."""
    functions, bandwidths = zip(*(each for _, each in found), strict=True)
    redraw = _redraw(subject, [view for view, _ in found], options)
    reference = subject.frames[0.0].reference
    inferred = infer_all(functions, reference, bandwidths, n_draws, rng, options, redraw=redraw)
    return inferred if isinstance(options.null, Simulate) else [by_law(result, law, rng) for result, law in inferred]
