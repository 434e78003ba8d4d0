"""The second pass: sums of features with signs, and of what sizes of errors and coverage need."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial, reduce
from math import ceil
from operator import add
from typing import Any

import numpy as np
from array_api_compat import is_numpy_array

from .._lib.arrays import array_namespace, as_float, ignore_overflow, to_numpy
from .._lib.cores import cpu_count
from ..coverage import LevelCounts, level_counts
from ..diagnosis.extremes import FarSums, far_sums
from ..diagnosis.residuals import residuals_of
from ..diagnosis.sums import Family, InfluenceSums, influence_sums
from ..pairwise import Extreme, Features
from ..parallel.threads import in_threads
from ..resampling import RandomSigns
from ..resampling.automatic import raise_of_signs
from ..resampling.feature_sums import FeatureSums
from ..resampling.jumping import JumpingSigns, jumping_signs
from ..resampling.row_statistics import sums_of_features
from ..resampling.tiles import blocks_of
from ..views import View, default_views
from ..views.combine import Draws
from ..views.context import FrameContext
from ..views.evaluate import FrameParts, evaluate
from ..views.extremes import Largest
from ..views.frame import ViewFrame, frame_of
from ..views.second_moments import TraceSums, trace_sums
from ..views.view import for_signs
from .first import FirstPass, FirstSums, framed, noises_of
from .forms import Piece
from .rows import KeptRows, every_row
from .waves import WaveView, wave_view

_TILE = 2048  # rows whose features are in memory at once, in each thread


@dataclass(frozen=True, eq=False)
class FarRows:
    """The rows that are farthest from their predictions, with these."""

    sums: FarSums
    rows: KeptRows

    def __add__(self, other: FarRows) -> FarRows:
        sums, rows = self.sums + other.sums, self.rows + other.rows
        return FarRows(sums, rows.take(np.flatnonzero(np.isin(rows.rows, sums.rows))))


@dataclass(frozen=True, eq=False)
class SecondSums:
    """Sums of features of each view, the largest of what views look for, and sums for sizes, far rows and coverage."""

    features: FeatureSums
    largest: Sequence[float]
    influences: InfluenceSums
    far: FarRows
    traces: TraceSums
    levels: LevelCounts | None

    def __add__(self, other: SecondSums) -> SecondSums:
        return SecondSums(
            self.features + other.features,
            [max(pair) for pair in zip(self.largest, other.largest, strict=True)],
            self.influences + other.influences,
            self.far + other.far,
            self.traces + other.traces,
            None if self.levels is None or other.levels is None else self.levels + other.levels,
        )


@dataclass(frozen=True, eq=False)
class SecondPass:
    """The task of the second pass: all that views know of the other rows, and the signs of every row."""

    rows: FirstPass
    contexts: dict[float, FrameContext]  # by noise
    views: tuple[View, ...]
    waves: dict[str, WaveView]  # by name, of views that compare pairs
    signs: JumpingSigns
    draws: Draws
    family: Family
    closed: bool

    def frames(self, predictions: Any, y: Any, first: int) -> dict[float, ViewFrame]:
        """Return the frames of a batch, which know of all other rows what views need."""
        return {noise: framed(predictions, y, noise, first, context) for noise, context in self.contexts.items()}

    def functions(self, frames: dict[float, ViewFrame]) -> list[Features | Extreme]:
        """Return what each view adds up, or takes the largest of."""
        shared: dict[Any, Any] = {}
        found: list[Any] = []
        for view in self.views:
            frame = frames[view.noise]
            wave = self.waves.get(view.name)
            if wave is None:
                evaluated: Any = evaluate(view, frame, _NO_DRAWS, shared)
                found.append(evaluated[0])
            else:
                found.append(wave.features(frame, shared.setdefault(view.noise, FrameParts(frame))))
        return found


_NO_DRAWS: Any = None  # whatever is drawn at random is the same for all batches, and known before


def second_pass(rows: FirstPass, first: FirstSums, n_resamples: int, rng: np.random.Generator) -> SecondPass:
    """Return what the second pass needs, with the random numbers that a test in memory would draw."""
    n, predictions = rows.n, first.rows.sample.predictions
    known = first.rows.anchors if len(first.rows.anchors.rows) else first.rows.sample
    two = first.rows.sample.take(np.arange(2))
    rounding = frame_of(two.predictions, two.y, 0.0).rounding
    noises = zip(noises_of(predictions), first.frames, strict=True)
    contexts = {noise: FrameContext(sums, rounding) for noise, sums in noises}
    frames = {noise: framed(known.predictions, known.y, noise, 0, context) for noise, context in contexts.items()}
    views: list[View] = []
    waves: dict[str, WaveView] = {}
    shared: dict[Any, Any] = {}
    for view in for_signs(default_views(predictions), predictions, own_coordinates=True):
        pairs = not view.finite_rank and not isinstance(view.target_kernel, Largest)
        if pairs:
            waves[view.name] = wave_view(view, frames[view.noise], known, n, rng)
        if pairs or evaluate(view, frames[view.noise], rng, shared) is not None:
            views.append(view)
    waves = {name: wave.with_frequencies(predictions.dim, rng) for name, wave in waves.items()}
    raised = raise_of_signs(RandomSigns(), predictions, n, None)
    draws = Draws(n_resamples, max(1, ceil(raised)), raised)
    signs = jumping_signs(rng, draws.n)
    return SecondPass(rows, contexts, tuple(views), waves, signs, draws, Family(first.residuals), first.closed)


def second_sums(todo: SecondPass, task: tuple[int, Any]) -> SecondSums:
    """Return the sums over a part."""
    number, part = task
    return reduce(add, in_threads(partial(_of_piece, todo), todo.rows.pieces(part, number), cpu_count()))


@ignore_overflow
def _of_piece(todo: SecondPass, piece: Piece) -> SecondSums:
    predictions, y, first = piece.predictions, piece.y, piece.first
    frames = todo.frames(predictions, y, first)
    functions, reference = todo.functions(frames), frames[0.0].reference
    n = reference.shape[0]
    blocks = blocks_of(n, _TILE if is_numpy_array(reference) else n)
    features = [each for each in functions if isinstance(each, Features)]
    sums = sums_of_features(features, todo.signs.rows(first, first + n), reference, "mixed", blocks)
    largest = [
        max(as_float(array_namespace(reference).max(each.function(rows))) for rows in blocks)
        for each in functions
        if isinstance(each, Extreme)
    ]
    found = residuals_of(predictions, y, np.random.default_rng(0))
    return SecondSums(
        replace(sums, **{name: _host(getattr(sums, name)) for name in _ARRAYS}),
        largest,
        influence_sums(todo.family, found, first),
        _far_rows(predictions, y, far_sums(predictions, found, first), first),
        trace_sums(frames[0.0]),
        level_counts(predictions, y) if todo.closed else None,
    )


def _far_rows(predictions: Any, y: Any, sums: FarSums, first: int) -> FarRows:
    rows = every_row(predictions, y, first)
    return FarRows(sums, rows.take(np.sort(sums.rows) - first))


_ARRAYS = ("plain", "squares", "cubes", "signed", "signed_cubes")


def _host(array: Any) -> Any:
    """Copy sums from a GPU, which the process that adds them may not have."""
    return None if array is None else to_numpy(array)
