"""Numbers, times and labels from arrays of Arrow, which Parquet files are read into."""

from typing import Any

import numpy as np

from .values import MOST_EXACT


def kind_of(arrow_type: Any) -> str:
    """Return the use that values of this type have: "number", "time" or "label"; empty text if they have none."""
    from pyarrow import types

    if types.is_dictionary(arrow_type):
        return kind_of(arrow_type.value_type)
    kinds = {
        "number": (types.is_integer, types.is_floating, types.is_decimal, types.is_null),
        "time": (types.is_date, types.is_timestamp),
        "label": (types.is_string, types.is_large_string, types.is_boolean),
    }
    return next((kind for kind, tests in kinds.items() if any(test(arrow_type) for test in tests)), "")


def as_numbers(values: Any) -> np.ndarray:
    """Numbers as float64, NaN where they are missing."""
    import pyarrow

    values = _plain(values)
    if not pyarrow.types.is_floating(values.type):  # halves cannot be cast by every version
        values = values.cast(pyarrow.float64(), safe=False)
    return np.asarray(values.to_numpy(zero_copy_only=False), dtype=np.float64)


def first_inexact(values: Any) -> tuple[int, int] | None:
    """Return the place and the value of the first integer whose digits would be lost."""
    import pyarrow

    values = _plain(values)
    if not (pyarrow.types.is_integer(values.type) or pyarrow.types.is_decimal(values.type)):
        return None
    for row in np.flatnonzero(np.abs(as_numbers(values)) >= MOST_EXACT).tolist():
        value = values[row].as_py()
        if value == int(value) != int(float(value)):
            return row, int(value)
    return None


def as_times(values: Any) -> np.ndarray:
    """Times as datetime64, NaT where they are missing."""
    import pyarrow
    from pyarrow import compute

    options = compute.CastOptions(pyarrow.timestamp("us"), allow_time_truncate=True)
    return np.asarray(compute.cast(_plain(values), options=options).to_numpy(zero_copy_only=False))


def as_labels(values: Any) -> np.ndarray:
    """Labels as text, None where they are missing; equal ones share their text."""
    if not hasattr(values, "dictionary"):
        values = values.dictionary_encode()
    texts = np.array([*map(_label, values.dictionary.to_pylist()), None], dtype=object)
    labels = texts[values.indices.fill_null(0).to_numpy()]
    labels[values.indices.is_null().to_numpy(zero_copy_only=False)] = None
    return np.asarray(labels)


def _label(value: Any) -> str | None:
    if value is None or value != value:
        return None
    return repr(value).removesuffix(".0") if isinstance(value, float) else str(value)


def _plain(values: Any) -> Any:
    return values.dictionary_decode() if hasattr(values, "dictionary") else values
