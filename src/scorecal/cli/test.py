"""`scorecal test`: test the predictions in a file."""

import argparse
import json
import math
import os
import stat
import warnings
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, cast

import numpy as np

from .._calibration_test import calibration_test_at
from .._lib.files import check_writable, write_whole
from ..coordinates.normal_scores import in_normal_scores
from ..coverage import expected_coverage
from ..diagnosis import ClassDiagnosis, Diagnosis, class_words, diagnose, words
from ..predictions import Categorical, Gaussian
from ..report import report_html
from ..results import CombinedResult
from ..streams.files import FileError
from .as_json import as_json
from .files import source_of
from .hub import read_hub
from .in_batches import Outcome, judged_in_batches
from .memory import check_draws
from .options import MOST_DRAWS
from .order import horizon_of, rows_in_words
from .output import complain, say
from .read import Input, read
from .stream import is_streamed
from .table import InputError
from .test_options import add_test_options
from .tolerance import tolerance_of
from .words import in_options

AnyDiagnosis = Diagnosis | ClassDiagnosis


def add_test(commands: Any) -> None:
    """Add the command `test` to the parser."""
    add_test_options(commands, _test)


def _test(chosen: argparse.Namespace) -> int:
    check_verdict(chosen, chosen.n_resamples)
    with words_of_options(chosen.file):
        found = judged_in_batches(chosen) if is_streamed(chosen) else _in_memory(chosen)
        return told(chosen, found)


def check_verdict(chosen: argparse.Namespace, n_resamples: int) -> None:
    """Raise, before the work, if the report cannot be written, or the level not be reached."""
    if chosen.report is not None:
        _check_report(chosen.report, chosen.file)
    if 1.0 / (n_resamples + 1) > chosen.alpha:
        least = 1.0 / chosen.alpha - 1.0  # may be infinite
        advice = f"give --n-resamples {math.ceil(least)} or more" if least <= MOST_DRAWS else "no number is enough"
        raise InputError(f"--alpha {chosen.alpha:g} cannot be reached with {n_resamples} bootstrap draws: {advice}.")


def told(chosen: argparse.Namespace, found: Outcome) -> int:
    """Print the verdict, write the report, and return the exit status."""
    noticed = tuple(in_options(sentence, chosen.file) for sentence in found.result.warnings)
    result = replace(found.result, warnings=noticed)
    diagnosis: Any = replace(found.diagnosis, result=result)
    unheard = _tell(chosen, result, diagnosis, found.given)
    if chosen.report is not None:
        # After the verdict is out: a picture that fails must not take it along.
        write_whole(chosen.report, _report(chosen, replace(found, result=result, diagnosis=diagnosis)))
    if unheard is not None:
        raise unheard
    tolerance: Any = tolerance_of(chosen)
    too_far = tolerance is not None and tolerance.verdict(diagnosis) is not True
    return int(too_far or (chosen.fail_on_rejection and result.rejects(chosen.alpha)))


def _in_memory(chosen: argparse.Namespace) -> Outcome:
    """Read the whole file, and judge it."""
    given = read(chosen) if chosen.hub is None else read_hub(chosen)
    predictions, y = given.predictions, given.y
    for sentence in given.said:
        complain("scorecal test", sentence)
    check_draws(predictions, chosen.n_resamples)
    shared: dict[str, Any] = {
        "groups": given.groups,
        "horizon": horizon_of(chosen),
        "n_resamples": chosen.n_resamples,
        "rng": chosen.seed,
    }
    covariates = _with_times(given)
    result = calibration_test_at(chosen.alpha, predictions, y, null=chosen.null, covariates=covariates, **shared)
    diagnosis = diagnose(
        predictions,
        y,
        covariates=covariates or None,
        names=None if given.is_of_classes else chosen.target or None,
        result=result,
        confidence_level=1.0 - chosen.alpha,
        **shared,
    )
    return Outcome(given, result, diagnosis)


def _with_times(given: Input) -> dict[str, np.ndarray]:
    """Return the columns of --by, and the times unless they are among these."""
    by = dict(given.by or {})
    alone = {name: times for name, times in given.time.items() if not any(map(partial(_equal, times), by.values()))}
    return alone | by


def _equal(times: np.ndarray, column: np.ndarray) -> bool:
    return times.dtype.kind == column.dtype.kind and np.array_equal(times, column)


@contextmanager
def words_of_options(file: Path) -> Iterator[None]:
    """Turn errors that the file causes in the library into ones that name the file, its arrays and the options.

    Warnings are printed in these words too.
    """
    try:
        with warnings.catch_warnings():
            warnings.showwarning = partial(_show_warning, file, set())
            yield
    except (InputError, OSError):
        raise
    except FileError as error:  # which names its own file
        raise InputError(str(error)) from None
    except (MemoryError, TypeError, ValueError) as error:
        message = in_options(str(error), file) or "memory ran out."
        # What a file holds is finite: something became too large on the way.
        if isinstance(error, np.linalg.LinAlgError) or " must be finite" in message:
            reason = message.split(";")[0].rstrip(".")
            message = f"its numbers are too large, too small or too unequal to compute with; rescale them ({reason})."
        raise InputError(f"{source_of(file)}: {message}") from None


def _check_report(report: Path, file: Path) -> None:
    """Raise, before the work, if the report would replace its own input, or cannot be written."""
    with suppress(OSError):  # whatever is wrong with these paths is told below, or when the input is read
        old, given = os.stat(report), os.stat(0 if str(file) == "-" else file)
        if os.path.samestat(old, given) and stat.S_ISREG(old.st_mode):  # and not a terminal for both
            raise InputError(f"--report {report} is the input itself, which it would replace.")
    try:
        check_writable(report)
    except OSError as error:
        raise InputError(f"--report {error}") from None


def _show_warning(file: Path, shown: set[str], message: Warning | str, category: type[Warning], *_: Any) -> None:
    """Print a warning once, unless it is one of NumPy's, on the way to an error that says more."""
    text = in_options(str(message), file)
    if text not in shown and not issubclass(category, RuntimeWarning):
        complain("scorecal test", text)
    shown.add(text)


def _tell(chosen: argparse.Namespace, result: CombinedResult, diagnosis: AnyDiagnosis, given: Input) -> OSError | None:
    """Print the verdict. Return, and do not raise, an error: the report may still be written."""
    if chosen.json:
        text = json.dumps(as_json(result, diagnosis, chosen, given), indent=2, allow_nan=False)
        text = text.replace("\x7f", "\\u007f")  # the one control character that JSON lets pass
    else:
        text = _in_words(chosen, result, diagnosis, given)
    try:
        say(text)
    except OSError as error:
        return error
    return None


def _in_words(chosen: argparse.Namespace, result: CombinedResult, diagnosis: AnyDiagnosis, given: Input) -> str:
    """Return the verdict, what the test saw, and the diagnosis, each once."""
    verdict = "rejected" if result.rejects(chosen.alpha) else "not rejected"
    rows, tolerance = rows_in_words(chosen, given.groups), cast(Any, tolerance_of(chosen))
    within = [] if tolerance is None else [tolerance.sentence(diagnosis)]
    if isinstance(diagnosis, ClassDiagnosis):
        sentences, tables = class_words.below_the_verdict(diagnosis), class_words.tables_of(diagnosis)
    else:
        sentences, tables = words.below_the_verdict(diagnosis), words.tables_of(diagnosis, given.place)
    first = [f"Calibration is {verdict} at level {chosen.alpha:g}.", *within, *given.said, *([rows] if rows else [])]
    parts = [
        "\n".join(first),
        "\n".join([words.seen_at(result, chosen.alpha), *sentences]),
        "\n".join(f"Warning: {sentence}" for sentence in result.warnings),
        result.table().text(),
        "\n".join(f"Cannot see here: {what}" for what in result.cannot_see),
        result.null_sentence,
        *tables,
    ]
    return "\n\n".join(part for part in parts if part)


def _report(chosen: argparse.Namespace, found: Outcome) -> str:
    given, predictions, y = found.given, cast(Any, None), cast(Any, None)
    if not isinstance(given.predictions, Categorical):
        predictions, y = in_normal_scores(given.predictions, given.y, np.random.default_rng(chosen.seed))
    rows = rows_in_words(chosen, given.groups)
    how_read = {"observed": chosen.hub} if chosen.hub else {}
    how_read |= ({"as read": " ".join(given.said)} if given.said else {}) | ({"rows": rows} if rows else {})
    coverage = found.coverage
    if coverage is None and isinstance(predictions, Gaussian):
        coverage = expected_coverage(predictions, y)
    return report_html(
        found.result,
        found.diagnosis,
        predictions=predictions,
        y=y,
        coverage=coverage,
        title=f"Calibration of {Path(source_of(chosen.file)).name}",
        alpha=chosen.alpha,
        tolerance=tolerance_of(chosen),
        place=given.place,
        settings={"file": chosen.file, **how_read, "estimator": found.result.estimator, "seed": chosen.seed},
    )
