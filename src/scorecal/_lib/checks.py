"""Checks of arguments."""

import math
from collections.abc import Mapping
from numbers import Real
from typing import Any

import numpy as np
from array_api_compat import is_array_api_obj

from .arrays import Array, array_namespace, check_finite, check_real


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


def check_not_class(name: str, value: Any, kind: str) -> None:
    """Raise if `value` is a class, where one of its instances is meant."""
    if isinstance(value, type):
        raise TypeError(f"`{name}` must be {kind}, not its class {value.__name__}: write `{value.__name__}()`.")


def by_name(name: str, value: Any, known: Mapping[str, Any], kind: type, wanted: str) -> Any:
    """Return the value known by this name, or the given value if it is of this kind; raise if it is neither."""
    if isinstance(value, str) and value in known:
        return known[value]
    check_not_class(name, value, "a value")
    if not isinstance(value, kind):
        error = ValueError if isinstance(value, str) else TypeError
        raise error(f"`{name}` must be one of {', '.join(map(repr, known))}, {wanted}, but is {value!r}.")
    return value


def checked_features(call: str, features: Any, rows: Array, owner: str) -> Array:
    """Return what a function gave for a block of rows if these are finite features (n, q), one row for each."""
    n, shape = rows.shape[0], tuple(getattr(features, "shape", ()))
    same_library = is_array_api_obj(features) and array_namespace(features) is array_namespace(rows)
    if not same_library or len(shape) != 2 or shape[0] != n or not shape[1]:
        kind = f"{type(features).__module__}.{type(features).__name__}".removeprefix("builtins.")
        raise ValueError(
            f"`{call}` of {owner} must return an array (n, q) of the library of the targets, a row for each of the n "
            f"it is asked for (views ask for a block at a time), but with n = {n} returned {kind} of shape {shape}."
        )
    check_real(call, features)
    check_finite(call, features, f"It is that of {owner}.")
    return features
