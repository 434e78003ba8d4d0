"""Columns of numbers from CSV and Parquet files; what is wrong with them is told with its place."""

from __future__ import annotations

import csv
import math
from array import array
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

__all__ = ["InputError", "Table", "read_table"]


class InputError(ValueError):
    """A file that cannot be used, in one line."""


class Table:
    """Columns by name: numbers, and labels for those that are asked for as such."""

    def __init__(self, path: Path, columns: dict[str, np.ndarray], first_line: int) -> None:
        self.path, self.columns, self._first_line = path, columns, first_line

    def __getitem__(self, name: str) -> np.ndarray:
        return self.columns[name]

    @property
    def n(self) -> int:
        return len(next(iter(self.columns.values())))

    def place(self, row: int, name: str) -> str:
        """In words, for a message."""
        return f"{self.path}, {'line' if self._first_line > 1 else 'row'} {row + self._first_line}, column {name!r}"

    def check(self, name: str, bad: np.ndarray, what: str) -> None:
        if np.any(bad):
            row = int(np.argmax(bad))
            raise InputError(f"{self.place(row, name)}: {what}, but is {self[name][row]:g}.")


def read_table(path: Path, numbers: Sequence[str], labels: Sequence[str] = ()) -> Table:
    """The given columns of a file with a header; `labels` may hold text."""
    if path.suffix.lower() in (".parquet", ".pq"):
        return _read_parquet(path, numbers, labels)
    return _read_csv(path, numbers, labels)


def _read_csv(path: Path, numbers: Sequence[str], labels: Sequence[str]) -> Table:
    """Line by line: no more is held than the numbers asked for."""
    with open(path, newline="", encoding="utf-8-sig") as file:
        lines = _decoded(file, path)
        header_line = next(lines, "")
        if not header_line.strip():
            raise InputError(f"{path}: the file is empty; the first line must hold the names of the columns.")
        delimiter = max(",;\t", key=header_line.count)
        header = [name.strip() for name in next(csv.reader([header_line], delimiter=delimiter))]
        places = {name: _place(path, header, name) for name in (*numbers, *labels)}
        found = {name: array("d") for name in numbers}
        texts: dict[str, list[str]] = {name: [] for name in labels}
        reader = csv.reader(lines, delimiter=delimiter)
        for row in reader:
            if not row:
                continue
            line = reader.line_num + 1
            if len(row) != len(header):
                raise InputError(f"{path}, line {line}: {len(row)} values, where the header has {len(header)} names.")
            for name in numbers:
                found[name].append(_number(row[places[name]], f"{path}, line {line}, column {name!r}"))
            for name in labels:
                texts[name].append(row[places[name]])
    columns: dict[str, np.ndarray] = {name: np.frombuffer(values) for name, values in found.items() if len(values)}
    if numbers and not columns:
        raise InputError(f"{path}: there are no rows below the header.")
    return Table(path, columns | {name: _as_labels(values) for name, values in texts.items()}, 2)


def _decoded(file: Any, path: Path) -> Iterator[str]:
    try:
        yield from file
    except UnicodeDecodeError as error:
        raise InputError(f"{path}: not a text file in UTF-8 ({error.reason} at byte {error.start}).") from None


def _place(path: Path, header: Sequence[str], name: str) -> int:
    if header.count(name) != 1:
        there = "more than one column" if name in header else "no column"
        raise InputError(f"{path}: there is {there} {name!r}; the columns are {', '.join(map(repr, header))}.")
    return header.index(name)


def _number(text: str, place: str) -> float:
    try:
        value = float(text)
    except ValueError:
        what = "the value is missing" if not text.strip() else f"{text!r} is not a number"
        raise InputError(f"{place}: {what}.") from None
    if not math.isfinite(value):
        raise InputError(f"{place}: the value is {text.strip()}; drop or fill such rows first.")
    return value


def _as_labels(texts: Sequence[str]) -> np.ndarray:
    """Numbers where all of them are."""
    try:
        values = np.array([float(text) for text in texts])
    except ValueError:
        return np.array(texts)
    return values if np.all(np.isfinite(values)) else np.array(texts)


def _read_parquet(path: Path, numbers: Sequence[str], labels: Sequence[str]) -> Table:
    try:
        from pyarrow import ArrowInvalid, parquet
    except ImportError:
        raise ImportError('Parquet files need pyarrow: pip install "scorecal[cli]".') from None
    try:
        header = parquet.read_schema(path).names
        for name in (*numbers, *labels):
            _place(path, header, name)
        table = parquet.read_table(path, columns=[*numbers, *labels])
    except ArrowInvalid as error:
        raise InputError(f"{path}: not a Parquet file ({error}).") from None
    if table.num_rows == 0:
        raise InputError(f"{path}: there are no rows.")
    columns = {}
    for name in numbers:
        values = np.asarray(table[name].to_numpy())
        if values.dtype.kind not in "fiu":
            raise InputError(f"{path}, column {name!r}: holds {table[name].type}, not numbers.")
        columns[name] = values.astype(np.float64)
    found = Table(path, columns | {name: np.asarray(table[name].to_numpy()).astype(str) for name in labels}, 1)
    for name in numbers:
        found.check(name, ~np.isfinite(found[name]), "the value must be a finite number")
    return found
