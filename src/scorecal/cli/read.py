"""Predictions and targets from the file and the columns that options of the command line name."""

import argparse
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from ..predictions import Gaussian, Predictions
from .columns import columns_of
from .order import in_time_order
from .read_csv import read_csv
from .read_npz import read_npz
from .read_parquet import read_parquet
from .table import InputError, Table, shown, without_missing

_OF_COLUMNS = ("mean", "std", "covariance", "target", "by", "group", "time", "drop_missing")


@dataclass(frozen=True, eq=False)
class Input:
    """Predictions, targets, columns of `--by`, labels of `--group` and times, all in the order of `--time`.

    With them: how many rows were dropped, what to say about the reading, and where each row is in the file.
    """

    predictions: Predictions
    y: np.ndarray
    by: Mapping[str, np.ndarray] | None
    groups: np.ndarray | None
    time: Mapping[str, np.ndarray]
    n_dropped: int
    said: tuple[str, ...]
    unit: str  # "line" or "row"
    places: np.ndarray

    def place(self, row: int) -> str:
        """Return where a row is in the file, such as "line 7"."""
        return f"{self.unit} {self.places[row]}"


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
    given = [option for option in ("group", "time", "horizon") if getattr(chosen, option)]
    if chosen.null == "simulate" and given:
        raise InputError(
            f"--null simulate is for independent rows: leave it out, or --{' and --'.join(given)}. Rows that depend on "
            "each other share random signs."
        )
    d = _dimension(chosen)
    wanted = columns_of(chosen)
    said: list[str] = []
    if chosen.file.suffix.lower() in (".parquet", ".pq"):
        table = read_parquet(chosen.file, wanted)
    else:
        table, said = read_csv(chosen.file, wanted)
    for name, values in table.columns:
        if values.dtype.kind == "f":
            table.check(name, values, np.isinf(values), "the value must be a finite number")
    table, dropped = without_missing(table, chosen.drop_missing)
    if dropped.n:
        said.append(str(dropped))
    table = in_time_order(table)
    mean, y = (np.stack([table.numbers[name] for name in names], axis=1) for names in (chosen.mean, chosen.target))
    groups = next(iter(table.group.values()), None)
    by = _shown_by(table) or None
    predictions = _gaussian(table, mean, chosen, d)
    return Input(predictions, y, by, groups, table.time, dropped.n, tuple(said), table.unit, table.places)


def _shown_by(table: Table) -> Mapping[str, np.ndarray]:
    """Columns of `--by` under the names that are shown, with UTC in those of times that are in it."""
    names = {name: f"{name} (UTC)" if name in table.in_utc else name for name in table.by}
    for name, meant in names.items():
        if name != meant and meant in table.by:
            raise InputError(
                f"{table.source}: --by {shown(name)}: its times would be shown as {shown(meant)}, which is another "
                "column of --by; rename one of them."
            )
    return {names[name]: values for name, values in table.by.items()}


def _dimension(chosen: argparse.Namespace) -> int:
    """Number of targets of a row, if the options name columns for all that is needed."""
    d = len(chosen.target)
    if not chosen.mean and not d:
        raise InputError(
            "--mean, --target and one of --std and --covariance are needed, to say which columns they are."
        )
    if not d or len(chosen.mean) != d:
        raise InputError(
            f"--mean and --target must name as many columns each, one for each dimension, but name {len(chosen.mean)} "
            f"and {d}."
        )
    if bool(chosen.std) == bool(chosen.covariance):
        raise InputError("one of --std and --covariance is needed, and not both.")
    if chosen.std and len(chosen.std) != d:
        raise InputError(f"--std must name {d} columns, one for each of --mean, but names {len(chosen.std)}.")
    if chosen.covariance and len(chosen.covariance) not in (d * d, d * (d + 1) // 2):
        raise InputError(
            f"--covariance must name {d * (d + 1) // 2} columns, the upper triangle row by row, or {d * d}, but names "
            f"{len(chosen.covariance)}."
        )
    return d


def _gaussian(table: Table, mean: np.ndarray, chosen: argparse.Namespace, d: int) -> Gaussian:
    if chosen.covariance:
        return Gaussian(mean, covariance=_covariance(table, chosen.covariance, d))
    for name in chosen.std:
        sd = table.numbers[name]
        table.check(name, sd, sd <= 0, "a standard deviation must be positive")
        beyond = (sd < 1e-150) | (sd > 1e150)
        table.check(name, sd, beyond, "a standard deviation must have a square that can be computed")
    return Gaussian(mean, np.stack([table.numbers[name] for name in chosen.std], axis=1))


def _covariance(table: Table, names: list[str], d: int) -> np.ndarray:
    covariance = np.empty((table.n, d, d))
    whole = len(names) == d * d
    places = [(k, m) for k in range(d) for m in range(0 if whole else k, d)]
    for (k, m), name in zip(places, names, strict=True):
        covariance[:, k, m] = table.numbers[name]
        if not whole:
            covariance[:, m, k] = table.numbers[name]
    smallest = np.linalg.eigvalsh(0.5 * (covariance + np.swapaxes(covariance, 1, 2)))[:, 0]
    if np.any(smallest <= 0):
        row = int(np.argmax(smallest <= 0))
        raise InputError(f"{table.place(row, names[0])}: the covariance of this row is not positive definite.")
    return covariance
