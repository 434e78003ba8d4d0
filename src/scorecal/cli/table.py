"""Columns of a file with the place of each row, for messages; rows with missing values."""

from collections.abc import Container, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

_LONGEST_SHOWN = 60
_ROLES = ("numbers", "by", "group", "time", "labels")


class InputError(ValueError):
    """The reason, in one line, why the input cannot be used."""


def shown(text: str) -> str:
    """The text in quotes, shortened if it is very long."""
    return repr(text) if len(text) <= _LONGEST_SHOWN else f"{text[: _LONGEST_SHOWN - 3]!r}..."


@dataclass(frozen=True, eq=False)
class Table:
    """Columns by name, and where each row is in the file: "line" or "row", and its number.

    `numbers` are float64, NaN where missing. `by` and `time` are float64 likewise, datetime64 with NaT, or labels with
    None, and `group` and `labels`, observed classes, are labels; of all but the first two there is one column at most.
    """

    source: str
    numbers: Mapping[str, np.ndarray]
    by: Mapping[str, np.ndarray]
    unit: str
    places: np.ndarray
    in_utc: frozenset[str] = frozenset()  # names of times in `by` that had a time zone
    group: Mapping[str, np.ndarray] = field(default_factory=dict)
    time: Mapping[str, np.ndarray] = field(default_factory=dict)
    labels: Mapping[str, np.ndarray] = field(default_factory=dict)

    @property
    def n(self) -> int:
        return len(self.places)

    @property
    def columns(self) -> list[tuple[str, np.ndarray]]:
        """All columns with their names; one of several uses comes as often."""
        return [pair for role in _ROLES for pair in getattr(self, role).items()]

    def take(self, rows: np.ndarray) -> "Table":
        """Return the table of these rows, from a mask or in the order of their numbers."""
        parts: dict[str, Any] = {
            role: {name: part[rows] for name, part in getattr(self, role).items()} for role in _ROLES
        }
        return replace(self, places=self.places[rows], **parts)

    def followed_by(self, other: "Table") -> "Table":
        """Return the rows of both tables of numbers, of one file."""
        numbers = {name: np.concatenate([part, other.numbers[name]]) for name, part in self.numbers.items()}
        return replace(self, numbers=numbers, places=np.concatenate([self.places, other.places]))

    def place(self, row: int, name: str) -> str:
        """Return the place of a value in the file, for a message."""
        return f"{self.source}, {self.unit} {self.places[row]}, column {shown(name)}"

    def check(self, name: str, column: np.ndarray, bad: np.ndarray, what: str) -> None:
        """Raise for the first row of a column of numbers that is bad."""
        if np.any(bad):
            row = int(np.argmax(bad))
            raise InputError(f"{self.place(row, name)}: {what}, but is {column[row]:g}.")


@dataclass(frozen=True)
class Dropped:
    """Number of rows left out, and of all rows; and of missing values in each column that has any."""

    n: int
    of: int
    missing: Mapping[str, int]

    def __str__(self) -> str:
        counts = ", ".join(f"{shown(name)}: {count}" for name, count in self.missing.items())
        return f"{self.n} of {self.of} rows were left out, for missing values ({counts})."


def without_missing(
    table: Table, drop: bool, may_miss: Container[str] = (), *, may_be_empty: bool = False
) -> tuple[Table, Dropped]:
    """The rows without missing values, but for columns that `may_miss` some; raise unless they may be dropped."""
    missing: dict[str, np.ndarray] = {}
    for name, column in table.columns:
        if name not in may_miss and np.any(rows := _missing(column)):
            missing[name] = missing.get(name, False) | rows
    if not missing:
        return table, Dropped(0, table.n, {})
    first = min(missing, key=lambda name: int(np.argmax(missing[name])))
    gone = np.any(list(missing.values()), axis=0)
    n = int(np.sum(gone))
    if not drop:
        roles = {"by": "--by", "group": "--group", "labels": "--target"}
        options = [option for role, option in roles.items() if first in getattr(table, role)]
        others = "" if n == 1 else f", and {n} of {table.n} rows have such values"
        label = next((f" If it is a label, add :label to the name in {each}." for each in options), "")
        raise InputError(
            f"{table.place(int(np.argmax(missing[first])), first)}: the value is missing{others}. Fill in what is "
            f"missing, or leave such rows out with --drop-missing.{label}"
        )
    if n == table.n and not may_be_empty:
        raise InputError(f"{table.source}: every row has a missing value, the first in column {shown(first)}.")
    return table.take(~gone), Dropped(n, table.n, {name: int(np.sum(rows)) for name, rows in missing.items()})


def _missing(column: np.ndarray) -> np.ndarray:
    if column.dtype.kind == "O":
        return np.array([value is None for value in column], dtype=bool)
    return np.asarray(np.isnat(column) if column.dtype.kind == "M" else np.isnan(column))
