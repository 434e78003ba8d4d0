"""The outcome of `scorecal test`, and how it comes about for rows that are judged in batches."""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from .._lib.files import check_writable
from ..coverage import Coverage
from ..diagnosis import ClassDiagnosis, Diagnosis
from ..results import CombinedResult
from ..streams.judge import judged
from ..streams.verdict import Judgement
from .memory import check_draws
from .options import described
from .output import complain
from .read import Input
from .stream import files_of, stream_of
from .table import InputError

_ROWS_AT_ONCE = 2**16


@dataclass(frozen=True, eq=False)
class Outcome:
    """The input and the outcome of the test, diagnosis and coverage."""

    given: Input
    result: CombinedResult
    diagnosis: Diagnosis | ClassDiagnosis
    coverage: Coverage | None = None


def judged_in_batches(chosen: argparse.Namespace) -> Outcome:
    """Judge a table in two passes over its rows."""
    if chosen.state is not None:
        try:
            check_writable(chosen.state)
            chosen.interrupted = "interrupted; run the same command to continue"
        except OSError as error:
            raise InputError(f"--state {error}") from None
    check_draws(SimpleNamespace(n=_ROWS_AT_ONCE, dim=max(1, len(chosen.target))), chosen.n_resamples)
    stream = stream_of(chosen)
    said = [str(stream.dropped)] if stream.dropped.n else []
    for sentence in said:
        complain("scorecal test", sentence)
    names = chosen.target or None
    settings = {"options": described(chosen), "files": found_files(chosen.file)}
    given = (chosen.n_resamples, chosen.alpha, None, chosen.state, chosen.seed, settings)
    found = judged(stream.batches, names, *given)
    return outcome_of(found, said, stream.dropped.n, stream.places(rows_told_of(found)))


def rows_told_of(found: Judgement) -> list[int]:
    """Return the numbers of the rows that the diagnosis names."""
    return [*(each.row for each in found.diagnosis.extremes), *found.diagnosis.outliers]


def outcome_of(found: Judgement, said: Sequence[str], n_dropped: int, places: Mapping[int, str]) -> Outcome:
    """Return the outcome, with what is to be said of the reading, and places of the rows that are told of."""
    n = len(found.sample.rows)
    if n < found.result.n:
        said = [*said, f"Words on what was seen, and regions, are those of {n} rows at random."]
    read = Input(found.sample.predictions, found.sample.y, None, None, {}, n_dropped, tuple(said), "row", places)
    return Outcome(read, found.result, found.diagnosis, found.coverage)


def found_files(path: Path) -> list[list[Any]]:
    """Return names, sizes and times of the files: sums go on only if these are as they were."""
    return [[str(file), file.stat().st_size, file.stat().st_mtime_ns] for file in files_of(path)]
