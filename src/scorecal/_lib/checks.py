"""Checks of arguments."""

import math
from numbers import Real
from typing import Any

import numpy as np


def as_generator(rng: Any) -> np.random.Generator:
    """Return a random generator for a seed, a generator or None."""
    try:
        return np.random.default_rng(rng)
    except (TypeError, ValueError) as error:
        raise type(error)(f"`rng` must be a seed, a `numpy.random.Generator` or None, but is {rng!r}.") from None


def check_count(name: str, value: Any, least: int = 1, *, optional: bool = False, also: str = "") -> None:
    """Raise unless `value` is an integer of at least `least`, or None if `optional`."""
    if value is None and optional:
        return
    if isinstance(value, bool) or not isinstance(value, (int, np.integer)) or value < least:
        wanted = "a positive integer" if least == 1 else f"an integer of at least {least}"
        also = " or None" if optional else also
        raise ValueError(f"`{name}` must be {wanted}{also}, but is {value!r}.")


def check_positive(name: str, value: Any) -> None:
    """Raise unless `value` is a positive number that is finite, also when squared."""
    if not (isinstance(value, Real) and float(value) > 0 and 0 < float(value) * float(value) < math.inf):
        raise ValueError(f"`{name}` must be positive and finite, also when squared, but is {value!r}.")


def check_share(name: str, value: Any) -> float:
    """Return `value` as a float; raise unless it lies strictly between 0 and 1."""
    if isinstance(value, bool) or not isinstance(value, Real) or not 0 < float(value) < 1:
        raise ValueError(f"`{name}` must lie between 0 and 1, but is {value!r}.")
    return float(value)
