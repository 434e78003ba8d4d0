"""Some rows of predictions that are arrays."""

from dataclasses import fields
from typing import Any

from .gaussian import Gaussian
from .mixture import GaussianMixture
from .noisy import Noisy
from .protocol import Predictions


def part_of(predictions: Predictions, rows: slice) -> Predictions | None:
    """Return the predictions of some rows; None for those that are more than arrays, which answer for all rows."""
    if not _are_arrays(predictions):
        return None
    made = object.__new__(type(predictions))  # what it holds was checked when it came
    for each in fields(predictions):  # type: ignore[arg-type]
        value: Any = getattr(predictions, each.name, None)
        if isinstance(value, Predictions):
            value = part_of(value, rows)
        elif hasattr(value, "shape"):
            value = value[rows, ...]
        object.__setattr__(made, each.name, value)
    return made


def _are_arrays(predictions: Any) -> bool:
    if type(predictions) is Noisy:
        return _are_arrays(predictions.convolved)
    return type(predictions) in (Gaussian, GaussianMixture)
