"""Rows that can be judged: with scores or, where predictions have none, by normal scores."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from ..coordinates.normal_scores import are_coarse, as_numbers, needs_normal_scores, normal_scores_by
from ..predictions import HasCdf
from ..resampling.jumping import generator_in
from .rows import can_be_kept

_APART = 2**20  # random numbers for each row, where it is not one for each of its dimensions


@dataclass(frozen=True, eq=False)
class FormNotes:
    """Cautions and blind spots of predictions that are judged by their normal scores."""

    coarse: bool
    cannot_see: Sequence[str]
    cautions: Sequence[str]

    def __add__(self, other: FormNotes) -> FormNotes:
        return FormNotes(self.coarse or other.coarse, self.cannot_see, self.cautions)


class Piece(NamedTuple):
    """Some rows: predictions with scores, targets, the number of the first row, and notes on what was given."""

    predictions: Any
    y: Any
    first: int
    notes: FormNotes | None


def piece_of(form: Any, given: Any, first: int, noise: Mapping[str, Any]) -> Piece:
    """Return rows from row number `first` on, with random numbers by row number from a generator in this state."""
    if not needs_normal_scores(form):
        return Piece(form, given, first, None)
    source = generator_in(noise)
    source.advance(first * (form.dim if isinstance(form, HasCdf) else _APART))
    predictions, y = normal_scores_by(form, given, np.random.Generator(source))
    if not can_be_kept(predictions):
        raise TypeError(f"`read` must not return samples in several dimensions, as {form!r}: judge them in memory.")
    cautions = form.cautions(as_numbers(given, form.n, form.dim)) if hasattr(form, "cautions") else ()
    return Piece(
        predictions, y, first, FormNotes(are_coarse(form, given), list(getattr(form, "cannot_see", ())), list(cautions))
    )
