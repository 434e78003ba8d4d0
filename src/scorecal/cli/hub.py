"""Tables of modelling hubs: model output in one file, what was observed in another."""

import argparse
import re
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from ..predictions.adapters.hubverse import observed_tasks, predictions_of
from ..predictions.adapters.long_table import OUTPUTS, Tasks
from .classes import check_classes, check_tolerances
from .columns import Columns, uses_of
from .forms import columns_of_forms
from .options import HUB_OUTPUTS
from .order import in_time_order
from .read import Input, check_null, read_table, shown_by
from .table import InputError, Table, shown, without_missing
from .values import Decimals, as_labels, as_values, known_texts
from .words import in_options

_OBSERVED = "observation"  # name of the column, by the standard of the Hubverse
_CLASSES = "pmf"  # the output type


def read_hub(chosen: argparse.Namespace) -> Input:
    """Read model output and what was observed, and join them."""
    _check(chosen)
    check_null(chosen)
    (observed,) = chosen.target or [_OBSERVED]
    output, said = read_table(chosen.file, Columns(["value"], (), rest_as_labels=True))
    for name in OUTPUTS[:2]:
        if name not in output.by:
            raise InputError(
                f"{output.source}: --hub needs the columns {', '.join(map(shown, OUTPUTS))}, but the file has "
                f"{', '.join(map(shown, [*output.by, *output.numbers]))}."
            )
    kinds = {chosen.output_type} if chosen.output_type else set(output.by["output_type"]) & {*HUB_OUTPUTS}
    of_classes = kinds == {_CLASSES}
    (check_tolerances if of_classes else check_classes)(chosen)
    truth, more = read_table(chosen.hub, Columns([] if of_classes else [observed], (), rest_as_labels=True))
    with warnings.catch_warnings(record=True) as noticed:
        warnings.simplefilter("always")
        try:
            tasks = observed_tasks(
                {**output.by, **output.numbers},
                {**truth.by, **truth.numbers},
                output_type=chosen.output_type,
                observed=observed,
            )
        except ValueError as error:
            raise InputError(_in_places(str(error), output, truth, chosen.file)) from None
    found, dropped = without_missing(_table_of(tasks, output, chosen), chosen.drop_missing)
    found = in_time_order(found)
    tasks = tasks.take(found.numbers["task"].astype(int))
    predictions: Any = predictions_of(tasks)
    said += [*more, *(_in_places(str(each.message), output, truth, chosen.file) for each in noticed)]
    said += [str(dropped)] if dropped.n else []
    by, groups = shown_by(found) or None, next(iter(found.group.values()), None)
    return Input(predictions, tasks.observed, by, groups, found.time, dropped.n, tuple(said), found.unit, found.places)


def _check(chosen: argparse.Namespace) -> None:
    """Raise unless the options fit tables of a hub."""
    other = next((option for option, names in columns_of_forms(chosen).items() if names), "--count" * chosen.count)
    if other:
        raise InputError(f"--hub and {other} say in two ways what is predicted: leave one of them out.")
    if len(chosen.target) > 1:
        raise InputError(f"--hub is for one target: --target must name one column, but names {len(chosen.target)}.")
    for file in (chosen.file, chosen.hub):
        if file.suffix.lower() == ".npz":
            raise InputError(f"{file}: --hub needs tables, CSV or Parquet files.")
    if str(chosen.hub) == "-":
        raise InputError("--hub must be a file: standard input can be FILE alone.")


def _table_of(tasks: Tasks, output: Table, chosen: argparse.Namespace) -> Table:
    """Return the columns of tasks that options name, one row for each task, and its first line."""
    parts: dict[str, dict[str, np.ndarray]] = {"by": {}, "group": {}, "time": {}}
    in_utc = set()
    for use in uses_of(output.source, list(tasks.columns), Columns((), (), chosen.by, chosen.group, chosen.time)):
        texts: Sequence[str] = ["" if text is None else text for text in tasks.columns[use.name]]
        if use.as_label:
            values = as_labels([text or None for text in texts])
        elif use.role == "group":
            values = as_labels(known_texts(texts))
        else:
            values, has_zones, _ = as_values(texts, Decimals(may_be_commas=False))
            in_utc |= {use.name} if has_zones else set()
        parts[use.role][use.name] = values
    numbers = {"task": np.arange(len(tasks.rows), dtype=np.float64)}
    places = output.places[tasks.rows]
    return Table(output.source, numbers, unit=output.unit, places=places, in_utc=frozenset(in_utc), **parts)


def _in_places(message: str, output: Table, truth: Table, file: Path) -> str:
    """Put a message on the two tables into the words of the command line, with places in the files for rows."""
    table = truth if message.startswith("`observations`") else output

    def place(found: re.Match[str]) -> str:
        rows = [str(table.places[int(row)]) for row in found.groups() if row]
        return f"{table.unit}{'s' if len(rows) > 1 else ''} {' and '.join(rows)}"

    placed = re.sub(r"\brow (\d+)|\brows (\d+) and (\d+)", place, message)
    return f"{table.source}: {in_options(placed, file)}"
