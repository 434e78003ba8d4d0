"""Cuts of numbers and times at their quantiles, and words for what lies on either side of each."""

import math

import numpy as np

from .times import spans

_N_BINS = 20
_SHARES = np.arange(1, _N_BINS) / _N_BINS
_MOST_DIGITS = 15  # on either side of the point; otherwise numbers are written with a power of ten


def cuts_of(values: np.ndarray) -> tuple[np.ndarray, list[str]]:
    """Cuts of numbers or times, and names: of the rows up to each cut, then of those above each."""
    if values.dtype.kind == "M":
        return _cuts_of_times(values)
    quarters = 0.25 * values.astype(float)  # whose differences do not overflow
    cuts = np.unique(np.quantile(quarters, _SHARES)) / 0.25
    finest = math.log10(max(np.ptp(quarters) / (2.5 * _N_BINS), np.finfo(float).smallest_subnormal))
    largest = math.log10(np.max(np.abs(values.astype(float))))
    plain = range(max(0, math.ceil(-finest)), _MOST_DIGITS + 1 if largest <= _MOST_DIGITS else 0)
    powers = range(min(_MOST_DIGITS, math.ceil(largest - finest)), _MOST_DIGITS + 1)
    styles = [*(f".{digits}f" for digits in plain), *(f".{digits}e" for digits in powers)]
    told_apart = np.unique([np.min(values), *cuts, np.max(values)])  # one large value must not round others to 0
    enough = (style for style in styles if len({f"{value:{style}}" for value in told_apart}) == len(told_apart))
    style = next(enough, styles[0])
    return cuts, [f"{sign} {cut:{style}}" for sign in ("<=", ">") for cut in cuts]


def _cuts_of_times(values: np.ndarray) -> tuple[np.ndarray, list[str]]:
    times = np.unique(values)
    cuts = np.unique(np.quantile(values.astype(np.int64), _SHARES, method="lower")).astype(values.dtype)
    cuts = cuts[cuts < times[-1]]
    return cuts, spans(times, cuts, (times[-1] - times[0]) // (10 * _N_BINS))
