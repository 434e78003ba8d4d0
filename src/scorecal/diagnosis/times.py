"""Dates and times among covariates: told from labels, and written in as few digits as tell regions apart."""

from datetime import UTC, date, datetime
from typing import Any

import numpy as np

_UNITS: tuple[Any, ...] = ("D", "m", "s", "ms", "us")


def as_times(name: str, column: np.ndarray) -> np.ndarray | None:
    """The column as datetime64[us], in UTC where it has time zones; None if it holds no dates or times."""
    if column.dtype.kind == "O" and len(column) and all(isinstance(value, date) for value in column):
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
    if value != value:  # as a data frame has it
        return np.datetime64("NaT")
    if isinstance(value, datetime) and value.tzinfo is not None:
        value = value.astimezone(UTC).replace(tzinfo=None)
    return np.datetime64(value, "us")


def spans(times: np.ndarray, cuts: np.ndarray, step: np.timedelta64) -> list[str]:
    """The times up to each cut, then those after each, from first to last; in days, or finer to show so small a step.

    `times` are sorted and different, and there are some after every cut.
    """
    after = times[np.searchsorted(times, cuts, side="right")]
    starts = np.concatenate([np.full(len(cuts), times[0]), after])
    ends = np.concatenate([cuts, np.full(len(cuts), times[-1])])
    for unit in _UNITS:
        names = [
            f"= {start}" if start == end else f"from {start} to {end}"
            for start, end in zip(_text(starts, unit), _text(ends, unit), strict=True)
        ]
        enough = np.timedelta64(1, unit) <= step or np.all(times.astype(f"datetime64[{unit}]") == times)
        if enough and len(set(names)) == len(names):
            break
    return names


def _text(times: np.ndarray, unit: Any) -> list[str]:
    return [text.replace("T", " ") for text in np.datetime_as_string(times, unit=unit).tolist()]
