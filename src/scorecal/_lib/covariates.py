"""Covariates of the rows, such as times and labels, as columns by name."""

from collections.abc import Mapping
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from numbers import Real
from typing import Any

import numpy as np


def as_covariates(given: Any, n: int) -> dict[str, np.ndarray]:
    """Return columns (n,) by name, of a mapping, a data frame or an array: numbers, datetime64[us] or texts.

    Durations are numbers of microseconds.
    """
    if not isinstance(given, Mapping) and not hasattr(given, "columns"):
        table = np.asanyarray(given)  # with its mask, if it has one
        table = table[:, None] if table.ndim == 1 else table
        if table.ndim != 2:
            raise ValueError(
                f"`covariates` must be a mapping, a data frame or an array (n, q), but has {table.ndim} axes."
            )
        given = {f"x_{k + 1}": column for k, column in enumerate(table.T)}
    columns = {str(name): given[name] for name in given}
    if len(columns) < len(list(given)):
        raise ValueError(f"`covariates` must have different names, but are called {[*map(str, given)]}.")
    for name, column in columns.items():
        if isinstance(column, np.ma.MaskedArray):
            raise TypeError(f"`covariates` must not be masked, but {name!r} is; drop or fill the masked rows first.")
    columns = {name: _as_numbers(np.asarray(column)) for name, column in columns.items()}
    for name, column in columns.items():
        if column.shape != (n,):
            raise ValueError(
                f"`covariates` must have a value for each of the {n} predictions, but {name!r} has {column.shape}."
            )
        if column.dtype.kind == "f" and not np.all(np.isfinite(column)):
            raise ValueError(
                f"`covariates` must be finite, but {name!r} is not, first at row {np.argmin(np.isfinite(column))}."
            )
    return {name: _numbers_times_or_labels(name, column) for name, column in columns.items()}


def is_label(column: np.ndarray) -> bool:
    """Return whether values have no order that matters: texts, and numbers of which there are two."""
    return column.dtype.kind not in "fiuM" or (column.dtype.kind != "M" and len(np.unique(column)) <= 2)


def _as_numbers(column: np.ndarray) -> np.ndarray:
    """Return durations, and numbers that are held as objects, as numbers; None and NaN among them are NaN."""
    if column.dtype.kind == "O" and column.ndim == 1 and all(isinstance(value, timedelta) for value in column):
        column = column.astype("timedelta64[us]")
    if column.dtype.kind == "m":
        return np.where(np.isnat(column), np.nan, column / np.timedelta64(1, "us"))
    if column.dtype.kind != "O" or column.ndim != 1:
        return column
    missing = [value is None or (isinstance(value, float) and value != value) for value in column]
    numbers = [isinstance(value, Real | Decimal) and not isinstance(value, bool) for value in column]
    if all(missing) or not all(known or none for known, none in zip(numbers, missing, strict=True)):
        return column
    return np.array([np.nan if none else float(value) for value, none in zip(column, missing, strict=True)])


def _numbers_times_or_labels(name: str, column: np.ndarray) -> np.ndarray:
    if column.dtype.kind in "fiu":
        return column
    times = as_times(name, column)
    return np.array([str(value) for value in column], object) if times is None else times


def as_times(name: str, column: np.ndarray) -> np.ndarray | None:
    """The column as datetime64[us], in UTC where it has time zones; None if it holds no dates or times."""
    moments = [value for value in column if value is not None] if column.dtype.kind == "O" else []
    if moments and all(isinstance(value, date) for value in moments):
        times = np.array([_moment(value) for value in column], dtype="datetime64[us]")
    elif column.dtype.kind == "M":
        times = column
    else:
        return None
    if np.any(np.isnat(times)):
        raise ValueError(
            f"`covariates` must be finite, but {name!r} is not, first at row {np.argmax(np.isnat(times))}."
        )
    years = times.astype("datetime64[Y]")
    if np.min(years) < np.datetime64("0001") or np.max(years) > np.datetime64("9999"):
        raise ValueError(
            f"`covariates` must lie in the years 1 to 9999, but {name!r} has {np.min(years)} to {np.max(years)}."
        )
    return times.astype("datetime64[us]")


def _moment(value: Any) -> np.datetime64:
    """The date or time without its zone."""
    if value is None or value != value:  # the latter as a data frame has it
        return np.datetime64("NaT")
    if isinstance(value, datetime) and value.tzinfo is not None:
        value = value.astimezone(UTC).replace(tzinfo=None)
    return np.datetime64(value, "us")
