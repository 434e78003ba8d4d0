"""Observed classes, in whatever form they are given, as integers from 0."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from .._lib.arrays import has_values, to_numpy

_SHOWN = 8  # labels in a message


def as_labels(labels: Any, n_classes: int) -> tuple[Any, ...]:
    """Return K different labels as a tuple of Python values."""
    if isinstance(labels, str):
        raise TypeError(f"`labels` must be a sequence of {n_classes} labels, one for each class, but is {labels!r}.")
    found = tuple(to_numpy(labels).tolist() if hasattr(labels, "__array__") else labels)
    if len(found) != n_classes:
        raise ValueError(
            f"`labels` must have a label for each of the {n_classes} columns of `probabilities`, but has {len(found)}."
        )
    try:
        n_different = len(set(found))
    except TypeError:
        raise TypeError(f"`labels` must be text or numbers, but are {_some(found)}.") from None
    if n_different < n_classes or any(_is_missing(label) for label in found):
        raise ValueError(f"`labels` must be different and none of them missing, but are {_some(found)}.")
    return found


def class_numbers(y: Any, n: int, n_classes: int, labels: tuple[Any, ...] | None) -> np.ndarray:
    """Return n observed classes as integers from 0 to K - 1: `y` holds these, labels, or rows of zeros and a one."""
    if not has_values(y):
        raise TypeError("`y` must hold classes with known values, but has none while JAX is tracing.")
    if isinstance(y, np.ma.MaskedArray):
        raise TypeError("`y` is a masked array; drop or fill the masked rows first.")
    given = np.asarray(to_numpy(y)) if not isinstance(y, list | tuple) else _of_list(y)
    if given.shape == (n, n_classes) and given.dtype.kind in "biuf":
        return _of_one_hot(given)
    if given.shape != (n,):
        causes = " Likely cause: a table with one column; give the column, `y[:, 0]`." if given.shape == (n, 1) else ""
        raise ValueError(
            f"`y` must hold one class for each of the {n} predictions, but has shape {given.shape}.{causes}"
        )
    return _of_numbers(given, n_classes) if labels is None else _of_labels(given, labels)


def _of_list(y: Sequence[Any]) -> np.ndarray:
    """As an array in which text and numbers stay what they are."""
    if any(isinstance(value, str) for value in y):
        found = np.empty(len(y), dtype=object)
        found[:] = y
        return found
    return np.asarray(y)


def _of_one_hot(rows: np.ndarray) -> np.ndarray:
    right = np.all((rows == 0) | (rows == 1), axis=1) & (np.sum(rows, axis=1) == 1)
    if not np.all(right):
        row = int(np.argmin(right))
        raise ValueError(
            f"`y` must hold classes, or rows with a single one among zeros, but row {row} is {rows[row].tolist()}. "
            "Likely cause: probabilities in place of observed classes."
        )
    return np.asarray(np.argmax(rows, axis=1))


def _of_numbers(given: np.ndarray, n_classes: int) -> np.ndarray:
    wanted = f"`y` must hold classes as integers from 0 to {n_classes - 1}"
    if given.dtype.kind == "O" and not any(isinstance(value, str) or _is_missing(value) for value in given):
        given = np.asarray(given.tolist())
    if given.dtype.kind == "f" and np.all(given == np.round(given)):  # as torch and data frames hold them
        given = given.astype(np.int64)
    if given.dtype.kind == "b" and n_classes == 2:
        given = given.astype(np.int64)
    if given.dtype.kind not in "iu":
        missing = [row for row, value in enumerate(given.tolist()) if _is_missing(value)]
        if missing:
            raise ValueError(f"{wanted}, but {len(missing)} are missing, the first in row {missing[0]}. Drop them.")
        names = given.dtype.kind in "OUST"
        cure = " Name the classes: `Categorical(p, labels=[...])`, in the order of the columns." if names else ""
        raise TypeError(f"{wanted}, but has dtype {given.dtype}, such as {given.tolist()[0]!r}.{cure}")
    if given.min() < 0 or given.max() >= n_classes:
        one_based = given.min() == 1 and given.max() == n_classes
        cause = " Likely cause: classes that are counted from 1." if one_based else ""
        raise ValueError(
            f"`y` must hold classes from 0 to {n_classes - 1}, but goes from {given.min()} to {given.max()}.{cause}"
        )
    return np.asarray(given.astype(np.int64))


def _of_labels(given: np.ndarray, labels: tuple[Any, ...]) -> np.ndarray:
    places = {label: k for k, label in enumerate(labels)}
    found = np.array([places.get(value, -1) if value.__hash__ else -1 for value in given.tolist()])
    if np.any(found < 0):
        row = int(np.argmax(found < 0))
        value = given.tolist()[row]
        cause = "spelling, spaces, or a class that the model has never seen"
        if _is_missing(value):
            cause = "a missing value; drop the row"
        elif isinstance(value, bytes):
            cause = "text as bytes; decode it"
        elif str(value) in map(str, labels):
            cause = "text in place of numbers, or numbers in place of text; make both the same"
        elif given.dtype.kind in "iu" and not any(isinstance(label, int) for label in labels):
            cause = "classes by their numbers, for which leave `labels` out"
        raise ValueError(
            f"`y` must hold labels among {_some(labels)}, but {int(np.sum(found < 0))} of {len(found)} are not, first "
            f"row {row}, {value!r}. Likely cause: {cause}."
        )
    return found


def _is_missing(value: Any) -> bool:
    try:
        return value is None or bool(value != value)
    except (TypeError, ValueError):
        return True


def _some(labels: Sequence[Any]) -> str:
    shown = ", ".join(map(repr, labels[:_SHOWN]))
    return f"{shown} and {len(labels) - _SHOWN} more" if len(labels) > _SHOWN else shown
