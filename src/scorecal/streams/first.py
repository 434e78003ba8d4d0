"""The first pass: what has to be known of all rows before any of them can be judged."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial, reduce
from operator import add
from typing import Any

import numpy as np

from .._lib.arrays import ignore_overflow
from .._lib.cores import cpu_count
from ..coordinates.location_spread import location_and_spread
from ..diagnosis.sums import ResidualSums, residual_sums
from ..parallel.threads import in_threads
from ..predictions import Gaussian
from ..views import default_views
from ..views.context import FrameContext, FrameSums, context_sums
from ..views.frame import ViewFrame, frame_of
from .batches import Batches
from .forms import FormNotes, Piece, piece_of
from .rows import RowsOfStream, anchors_of, rows_of_piece


@dataclass(frozen=True, eq=False)
class FirstSums:
    """Sums over predictions, over residuals, and rows that are kept."""

    frames: Sequence[FrameSums]  # by noise
    residuals: ResidualSums
    rows: RowsOfStream
    closed: bool  # whether all predictions are Gaussians, whose regions have a closed form
    forms: FormNotes | None = None  # of predictions that are judged by their normal scores

    def __add__(self, other: FirstSums) -> FirstSums:
        return FirstSums(
            [one + two for one, two in zip(self.frames, other.frames, strict=True)],
            self.residuals + other.residuals,
            self.rows + other.rows,
            self.closed and other.closed,
            None if self.forms is None or other.forms is None else self.forms + other.forms,
        )


@dataclass(frozen=True, eq=False)
class FirstPass:
    """The task of the first pass: batches, the start of each part, and the random numbers of normal scores."""

    batches: Batches
    starts: np.ndarray  # (parts + 1,)
    noise: Mapping[str, Any]  # state of their generator

    @property
    def n(self) -> int:
        return int(self.starts[-1])

    def pieces(self, part: Any, number: int) -> Iterator[Piece]:
        """Yield the rows of a part, some at a time; raise if it has other rows than expected."""
        first, stop = (int(end) for end in self.starts[number : number + 2])
        at = first
        for form, given in self.batches.pieces(part):
            yield piece_of(form, given, at, self.noise)
            at += form.n
        if at != stop:
            raise ValueError(
                f"`sizes` must say how many rows each part has, but part {number} has {at - first}, and not "
                f"{stop - first}."
            )


def first_sums(todo: FirstPass, task: tuple[int, Any]) -> FirstSums:
    """Return the sums over a part."""
    number, part = task
    work = partial(_of_piece, todo.n, anchors_of(todo.n))
    return reduce(add, in_threads(work, todo.pieces(part, number), cpu_count()))


@ignore_overflow
def _of_piece(n: int, anchors: np.ndarray, piece: Piece) -> FirstSums:
    predictions, y, first = piece.predictions, piece.y, piece.first
    sums = []
    for noise in noises_of(predictions):
        frame = framed(predictions, y, noise, first)
        targets = frame.targets[0, ...]
        found = context_sums(frame.predictions, targets, location_and_spread(frame.predictions, targets), first)
        sums.append(replace(found, sample=found.sample.of_many(n)))
    return FirstSums(
        sums,
        residual_sums(predictions, y, first),
        rows_of_piece(predictions, y, first, n, anchors),
        isinstance(predictions, Gaussian),
        piece.notes,
    )


def noises_of(predictions: Any) -> list[float]:
    """Return the levels of noise of the views of such predictions; 0 for none comes first."""
    return sorted({view.noise for view in default_views(predictions)} | {0.0})


def framed(predictions: Any, y: Any, noise: float, first: int, context: FrameContext | None = None) -> ViewFrame:
    """Return the frame of a batch whose first row has the number `first`, and what is known of all rows."""
    frame = frame_of(predictions, y, noise, first=first)
    if context is not None:
        vars(frame)["context"] = context
    return frame
