"""Columns of numbers from CSV and Parquet files; errors name the place in the file."""

import csv
import math
from array import array
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np


class InputError(ValueError):
    """The reason, in one line, why the input cannot be used."""


@dataclass(frozen=True, eq=False)
class Table:
    """Columns by name, and where each row is in the file: "line" or "row", and its number."""

    path: Path
    columns: Mapping[str, np.ndarray]
    unit: str
    numbers: np.ndarray

    def __getitem__(self, name: str) -> np.ndarray:
        return self.columns[name]

    @property
    def n(self) -> int:
        return len(self.numbers)

    def place(self, row: int, name: str) -> str:
        """Where a value stands in the file, for a message."""
        return f"{self.path}, {self.unit} {self.numbers[row]}, column {name!r}"

    def check(self, name: str, bad: np.ndarray, what: str) -> None:
        """Raise for the first row of the column that is bad."""
        if np.any(bad):
            row = int(np.argmax(bad))
            raise InputError(f"{self.place(row, name)}: {what}, but is {self[name][row]:g}.")


def read_table(path: Path, numbers: Sequence[str], labels: Sequence[str] = ()) -> Table:
    """Read the named columns of a file with a header; columns in `labels` may hold text."""
    if path.suffix.lower() in (".parquet", ".pq"):
        return _read_parquet(path, numbers, labels)
    return _read_csv(path, numbers, labels)


def _read_csv(path: Path, numbers: Sequence[str], labels: Sequence[str]) -> Table:
    """Read the named columns of a CSV file, numbers or labels; other columns are never held in memory."""
    found: dict[str, Any] = {name: array("d") for name in numbers}
    texts: dict[str, list[str]] = {name: [] for name in labels}
    lines = array("q")
    try:
        with open(path, newline="", encoding="utf-8-sig") as file:
            first = file.readline()
            if not first.strip():
                raise InputError(f"{path}: the file is empty; the first line must hold the names of the columns.")
            delimiter = max(",;\t", key=lambda mark: len(next(csv.reader([first], delimiter=mark))))
            reader = csv.reader(chain([first], file), delimiter=delimiter)
            header = [name.strip() for name in next(reader)]
            places = {name: _place(path, header, name) for name in (*numbers, *labels)}
            line = reader.line_num + 1
            for row in reader:
                if row:
                    if len(row) != len(header):
                        raise InputError(
                            f"{path}, line {line}: {len(row)} values, where the header has {len(header)} names."
                        )
                    for name in numbers:
                        found[name].append(_number(row[places[name]], f"{path}, line {line}, column {name!r}"))
                    for name in labels:
                        texts[name].append(row[places[name]])
                    lines.append(line)
                line = reader.line_num + 1
    except UnicodeDecodeError:
        raise InputError(f"{path}: not a text file in UTF-8.") from None
    except csv.Error as error:
        raise InputError(f"{path}, line {line}: {error}; likely cause: a quote that is not closed.") from None
    if not lines:
        raise InputError(f"{path}: there are no rows below the header.")
    columns = {name: _as_labels(values) for name, values in texts.items()}
    return Table(
        path, columns | {name: np.frombuffer(values) for name, values in found.items()}, "line", np.array(lines)
    )


def _place(path: Path, header: Sequence[str], name: str) -> int:
    if header.count(name) != 1:
        there = "more than one column" if name in header else "no column"
        raise InputError(f"{path}: there is {there} {name!r}; the columns are {', '.join(map(repr, header))}.")
    return header.index(name)


def _number(text: str, place: str) -> float:
    try:
        value = float(text if "_" not in text else "")
    except ValueError:
        what = "the value is missing; drop the row or fill it" if not text.strip() else f"{text!r} is not a number"
        raise InputError(f"{place}: {what}.") from None
    if not math.isfinite(value):
        raise InputError(f"{place}: the value is {text.strip()}; drop or fill such rows first.")
    return value


def _as_labels(texts: Sequence[str]) -> np.ndarray:
    """The texts as numbers if all of them are finite numbers, otherwise as they are."""
    try:
        values = np.array([float(text) for text in texts])
    except ValueError:
        return np.array(texts, dtype=object)
    return values if np.all(np.isfinite(values)) else np.array(texts, dtype=object)


def _read_parquet(path: Path, numbers: Sequence[str], labels: Sequence[str]) -> Table:
    try:
        from pyarrow import ArrowInvalid, parquet
    except ImportError:
        raise ImportError('Parquet files need pyarrow: pip install "scorecal[cli]".') from None
    wanted = list(dict.fromkeys((*numbers, *labels)))
    try:
        header = parquet.read_schema(path).names
        for name in wanted:
            _place(path, header, name)
        table = parquet.read_table(path, columns=wanted)
    except ArrowInvalid as error:
        raise InputError(f"{path}: not a Parquet file ({error}).") from None
    if table.num_rows == 0:
        raise InputError(f"{path}: there are no rows.")
    columns = {name: np.asarray(table[name].to_numpy()) for name in wanted}
    for name in wanted:
        is_number = columns[name].dtype.kind in "fiu"
        if not is_number and name in numbers:
            raise InputError(f"{path}, column {name!r}: holds {table[name].type}, not numbers.")
        columns[name] = columns[name].astype(np.float64 if is_number else object)
    found = Table(path, columns, "row", np.arange(1, table.num_rows + 1))
    for name in wanted:
        if found[name].dtype.kind == "f":
            found.check(name, ~np.isfinite(found[name]), "the value must be a finite number")
    return found
