"""Predictions and targets from the file and the columns that options of the command line name."""

import argparse
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from ..predictions import AnyPredictions, Categorical
from .classes import classes_of
from .columns import Columns, columns_of
from .forms import check_forms, members, numbers_of, predictions_of
from .order import in_time_order
from .read_csv import read_csv
from .read_npz import read_npz
from .read_parquet import read_parquet
from .table import InputError, Table, shown, without_missing

_OF_PREDICTIONS = ("mean", "std", "covariance", "quantiles", "samples", "count", "variance", "classes", "ordinal")
_OF_COLUMNS = (*_OF_PREDICTIONS, "target", "by", "group", "time", "drop_missing", "tolerate_error")


@dataclass(frozen=True, eq=False)
class Input:
    """Predictions, targets, columns of `--by`, labels of `--group` and times, all in the order of `--time`.

    With them: how many rows were dropped, what to say about the reading, and where each row is in the file.
    """

    predictions: AnyPredictions | Categorical
    y: np.ndarray
    by: Mapping[str, np.ndarray] | None
    groups: np.ndarray | None
    time: Mapping[str, np.ndarray]
    n_dropped: int
    said: tuple[str, ...]
    unit: str  # "line" or "row"
    places: np.ndarray | Mapping[int, str]  # numbers of all rows; or, of some rows, where they are

    @property
    def is_of_classes(self) -> bool:
        return isinstance(self.predictions, Categorical)

    def place(self, row: int) -> str:
        """Return where a row is in the file, such as "line 7"."""
        return self.places[row] if isinstance(self.places, Mapping) else f"{self.unit} {self.places[row]}"


def read(chosen: argparse.Namespace) -> Input:
    """Read the file as the options say."""
    if chosen.file.suffix.lower() == ".npz":
        given = [option for option in _OF_COLUMNS if getattr(chosen, option)]
        if given:
            options = ", ".join(f"--{option.replace('_', '-')}" for option in given)
            raise InputError(f"{chosen.file}: an NPZ file has arrays, not columns; leave out {options}.")
        if chosen.null == "simulate":
            raise InputError(
                f"{chosen.file}: --null simulate draws targets from the predictions, which scores in an NPZ file do "
                "not allow; leave it out, for random signs."
            )
        scores, y = read_npz(chosen.file)
        return Input(scores, y, None, None, {}, 0, (), "row", np.arange(scores.n))
    check_null(chosen)
    check_forms(chosen)
    table, said = read_table(chosen.file, columns_of(chosen))
    for name, values in table.columns:
        if values.dtype.kind == "f":
            table.check(name, values, np.isinf(values), "the value must be a finite number")
    table, dropped = without_missing(table, chosen.drop_missing, may_miss=members(chosen.samples))
    if dropped.n:
        said.append(str(dropped))
    table = in_time_order(table)
    groups = next(iter(table.group.values()), None)
    by = shown_by(table) or None
    predictions: AnyPredictions | Categorical
    if chosen.classes:
        predictions, y, of_classes = classes_of(table, chosen)
        said += of_classes
    else:
        predictions, y = predictions_of(table, chosen), numbers_of(table, chosen.target)
    return Input(predictions, y, by, groups, table.time, dropped.n, tuple(said), table.unit, table.places)


def read_table(path: Path, wanted: Columns) -> tuple[Table, list[str]]:
    """Read columns of a CSV or Parquet file, and say what should be known about how it was read."""
    if path.suffix.lower() in (".parquet", ".pq"):
        return read_parquet(path, wanted), []
    return read_csv(path, wanted)


def check_null(chosen: argparse.Namespace) -> None:
    """Raise if rows depend on each other by the options, and the null distribution needs independent ones."""
    given = [option for option in ("group", "time", "horizon") if getattr(chosen, option)]
    if chosen.null == "simulate" and given:
        raise InputError(
            f"--null simulate is for independent rows: leave it out, or --{' and --'.join(given)}. Rows that depend on "
            "each other share random signs."
        )


def shown_by(table: Table) -> Mapping[str, np.ndarray]:
    """Columns of `--by` under the names that are shown, with UTC in those of times that are in it."""
    names = {name: f"{name} (UTC)" if name in table.in_utc else name for name in table.by}
    for name, meant in names.items():
        if name != meant and meant in table.by:
            raise InputError(
                f"{table.source}: --by {shown(name)}: its times would be shown as {shown(meant)}, which is another "
                "column of --by; rename one of them."
            )
    return {names[name]: values for name, values in table.by.items()}
