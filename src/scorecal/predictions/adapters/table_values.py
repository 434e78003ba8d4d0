"""Columns of tables of any library: as arrays, as texts to join by, as numbers."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np


def as_columns(name: str, table: Any, needed: Sequence[str] = ()) -> dict[str, np.ndarray]:
    """Return the columns of a table of pandas, polars or pyarrow, or of a mapping, as arrays in memory."""
    names = table.keys() if isinstance(table, Mapping) else getattr(table, "column_names", None)
    names = getattr(table, "columns", None) if names is None else names
    if names is None:
        raise TypeError(f"`{name}` must be a table, such as a data frame, but is a {type(table).__name__}.")
    columns = {str(each): np.asarray(table[each]) for each in names}
    for each in needed:
        if each not in columns:
            raise ValueError(f"`{name}` must have a column {each!r}, but has {', '.join(columns)}.")
    lengths = {each: len(column) for each, column in columns.items()}
    if len(set(lengths.values())) > 1:
        raise ValueError(f"`{name}` must have columns of one length, but has {lengths}.")
    if not any(lengths.values()):
        raise ValueError(f"`{name}` has no rows.")
    return columns


def texts(column: np.ndarray) -> list[str | None]:
    """Return values as text in one form: 1.0 as 1, midnights as dates; None where one is missing."""
    if column.dtype.kind == "M":
        days = column.astype("datetime64[D]")
        plain = days if np.all((days == column) | np.isnat(column)) else column.astype("datetime64[s]")
        return [None if text == "NaT" else text for text in plain.astype(str).tolist()]
    known: dict[Any, str | None] = {}
    return [known[value] if value in known else known.setdefault(value, _text(value)) for value in column.tolist()]


def as_numbers(column: np.ndarray, table: str, name: str, rows: np.ndarray | None = None) -> np.ndarray:
    """Return a column as numbers; raise for the first that is none.

    `rows` are the places in the table of values that must not be missing; without them, missing values become NaN.
    """
    try:
        numbers = column.astype(np.float64)
        missing = np.isnan(numbers)
    except (TypeError, ValueError):
        numbers = np.array([_number(value) for value in column.tolist()])
        missing = np.array([is_missing(value) for value in column.tolist()])
    bad = ~np.isfinite(numbers) & (True if rows is not None else ~missing)
    if np.any(bad):
        k = int(np.argmax(bad))
        row = k if rows is None else rows[k]
        found = "missing" if missing[k] else repr(column.tolist()[k])
        raise ValueError(f"`{table}`: the column {name!r} must hold finite numbers, but that of row {row} is {found}.")
    return np.asarray(numbers)


def is_missing(value: Any) -> bool:
    """Return whether a value stands for one that is not there, in any library."""
    return value is None or str(value) in ("", "NA", "<NA>", "NaT") or bool(value != value)


def _text(value: Any) -> str | None:
    if is_missing(value):
        return None
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return str(value).strip().removesuffix(" 00:00:00")


def _number(value: Any) -> float:
    try:
        return float(value)
    except (TypeError, ValueError):
        return float("nan")
