"""Cuts of numbers and times at their quantiles, and words for what lies on either side of each, or between them."""

import math
from itertools import pairwise

import numpy as np

from .times import spans, spans_between

_N_BINS, _QUARTERS = 20, 4
_MOST_DIGITS = 15  # on either side of the point; otherwise numbers are written with a power of ten


def cuts_of(values: np.ndarray) -> tuple[np.ndarray, list[str]]:
    """Cuts of numbers or times, and names: of the rows up to each cut, then of those above each."""
    if values.dtype.kind == "M":
        times, cuts = _cuts_of_times(values, _N_BINS)
        return cuts, spans(times, cuts, _step(times))
    cuts, shown = _cuts_of_numbers(values, _N_BINS)
    return cuts, [f"{sign} {cut}" for sign in ("<=", ">") for cut in shown]


def quarters_of(name: str, values: np.ndarray) -> tuple[np.ndarray, list[str]]:
    """Cuts of numbers or times into quarters, or fewer parts where many are equal, and the names of these."""
    if values.dtype.kind == "M":
        times, cuts = _cuts_of_times(values, _QUARTERS)
        return cuts, [f"{name} {span}" for span in spans_between(times, cuts, _step(times))]
    cuts, shown = _cuts_of_numbers(values, _QUARTERS)
    kept = cuts < np.max(values)
    cuts, shown = cuts[kept], [cut for cut, inside in zip(shown, kept, strict=True) if inside]
    between = [f"{low} < {name} <= {high}" for low, high in pairwise(shown)]
    return cuts, [f"{name} <= {shown[0]}", *between, f"{name} > {shown[-1]}"] if shown else [name]


def _cuts_of_numbers(values: np.ndarray, n_bins: int) -> tuple[np.ndarray, list[str]]:
    """Cuts of numbers, and how to write them, in as few digits as tell them apart."""
    quarters = 0.25 * values.astype(float)  # whose differences do not overflow
    cuts = np.unique(np.quantile(quarters, np.arange(1, n_bins) / n_bins)) / 0.25
    whole = bool(np.all(values == np.floor(values)))
    cuts = np.unique(np.floor(cuts)) if whole else cuts
    finest = math.log10(max(np.ptp(quarters) / (2.5 * _N_BINS), np.finfo(float).smallest_subnormal))
    largest = math.log10(np.max(np.abs(values.astype(float))))
    plain = range(0 if whole else max(0, math.ceil(-finest)), _MOST_DIGITS + 1 if largest <= _MOST_DIGITS else 0)
    powers = range(min(_MOST_DIGITS, math.ceil(largest - finest)), _MOST_DIGITS + 1)
    styles = [*(f".{digits}f" for digits in plain), *(f".{digits}e" for digits in powers)]
    told_apart = np.unique([np.min(values), *cuts, np.max(values)])  # one large value must not round others to 0
    enough = (style for style in styles if len({f"{value:{style}}" for value in told_apart}) == len(told_apart))
    style = next(enough, styles[0])
    return cuts, [f"{cut:{style}}" for cut in cuts]


def _cuts_of_times(values: np.ndarray, n_bins: int) -> tuple[np.ndarray, np.ndarray]:
    """The different times, and cuts of them."""
    times, shares = np.unique(values), np.arange(1, n_bins) / n_bins
    cuts = np.unique(np.quantile(values.astype(np.int64), shares, method="lower")).astype(values.dtype)
    return times, cuts[cuts < times[-1]]


def _step(times: np.ndarray) -> np.timedelta64:
    step: np.timedelta64 = (times[-1] - times[0]) // (10 * _N_BINS)
    return step
