"""Times among covariates, written in as few digits as tell regions apart."""

from typing import Any

import numpy as np

_UNITS: tuple[Any, ...] = ("D", "m", "s", "ms", "us")


def spans(times: np.ndarray, cuts: np.ndarray, step: np.timedelta64) -> list[str]:
    """The times up to each cut, then those after each, from first to last; in days, or finer to show so small a step.

    `times` are sorted and different, and there are some after every cut.
    """
    after = times[np.searchsorted(times, cuts, side="right")]
    starts = np.concatenate([np.full(len(cuts), times[0]), after])
    return _named(times, starts, np.concatenate([cuts, np.full(len(cuts), times[-1])]), step)


def spans_between(times: np.ndarray, cuts: np.ndarray, step: np.timedelta64) -> list[str]:
    """The times up to the first cut, those after it and up to the next, and so on; otherwise as `spans`."""
    after = times[np.searchsorted(times, cuts, side="right")]
    return _named(times, np.concatenate([times[:1], after]), np.concatenate([cuts, times[-1:]]), step)


def _named(times: np.ndarray, starts: np.ndarray, ends: np.ndarray, step: np.timedelta64) -> list[str]:
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
