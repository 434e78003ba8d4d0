"""Rows that are kept of a stream, as predictions and targets, for what is no sum over all rows."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, fields
from functools import lru_cache
from typing import Any

import numpy as np

from .._lib.arrays import Array, array_namespace, device_of
from ..kernels.bandwidth import MAX_PAIRS, pair_indices
from ..predictions import Gaussian, GaussianMixture, Scores, as_rows
from ..views.sample import chosen_of, may_be_chosen

_KINDS = {kind.__name__: kind for kind in (Gaussian, GaussianMixture, Scores)}
_SHARED = ("base_points",)  # by all rows
_HEAD = 20_000  # rows
_CENTRAL = 1024  # rows whose median is the centre of features, as in `linalg.centre`


@dataclass(frozen=True, eq=False)
class KeptRows:
    """Some of the rows: their numbers among all, rising, the arrays of their predictions, and their targets."""

    rows: np.ndarray  # (k,)
    kind: str
    arrays: Mapping[str, Array]
    y: Array  # (k, d)

    @property
    def predictions(self) -> Any:
        """Predictions of these rows."""
        return _KINDS[self.kind](**self.arrays)

    @property
    def width(self) -> int:
        """How many numbers each row has."""
        parts = [self.y, *(each for name, each in self.arrays.items() if name not in _SHARED)]
        return sum(math.prod(each.shape[1:]) for each in parts)

    def take(self, places: np.ndarray) -> KeptRows:
        """Return some of these."""
        arrays = {name: each if name in _SHARED else _at(each, places) for name, each in self.arrays.items()}
        return KeptRows(self.rows[places], self.kind, arrays, _at(self.y, places))

    def __add__(self, other: KeptRows) -> KeptRows:
        if (self.kind, self.arrays.keys()) != (other.kind, other.arrays.keys()):
            raise TypeError(
                f"`read` must return predictions of one kind, but some are {self.kind} of {', '.join(self.arrays)} and "
                f"others {other.kind} of {', '.join(other.arrays)}."
            )
        both = {
            name: each if name in _SHARED else _joined(each, other.arrays[name]) for name, each in self.arrays.items()
        }
        joined = KeptRows(np.concatenate([self.rows, other.rows]), self.kind, both, _joined(self.y, other.y))
        return joined.take(np.argsort(joined.rows, kind="stable"))


@dataclass(frozen=True, eq=False)
class RowsOfStream:
    """A random sample of rows, those that bandwidths and centres may come from, which n tells, and the first ones."""

    sample: KeptRows
    anchors: KeptRows
    head: KeptRows  # in which neighbours may be seen to depend on each other

    def __add__(self, other: RowsOfStream) -> RowsOfStream:
        sample = self.sample + other.sample
        chosen = chosen_of(sample.rows, sample.width)
        return RowsOfStream(sample.take(chosen), self.anchors + other.anchors, self.head + other.head)


def rows_of_piece(predictions: Any, y: Any, first: int, n: int, anchors: np.ndarray) -> RowsOfStream:
    """Return the rows to keep of a batch, from row number `first` on of n."""
    every = every_row(predictions, y, first)
    sample = every.take(np.flatnonzero(may_be_chosen(every.rows, n, every.width)))
    closed = type(predictions) is Gaussian  # whose bandwidths are those of the sample
    start, stop = (0, 0) if closed else np.searchsorted(anchors, (first, first + predictions.n))
    head = np.arange(min(max(_HEAD - first, 0), len(every.rows)))
    return RowsOfStream(
        sample.take(chosen_of(sample.rows, every.width)), every.take(anchors[start:stop] - first), every.take(head)
    )


def every_row(predictions: Any, y: Any, first: int) -> KeptRows:
    """Return all rows of a batch, from row number `first` on."""
    rows = np.arange(first, first + predictions.n)
    return KeptRows(rows, type(predictions).__name__, _arrays_of(predictions), as_rows(y, predictions))


def taken(predictions: Any, rows: Any) -> Any:
    """Return the predictions of some rows."""
    arrays = {name: each if name in _SHARED else each[rows, ...] for name, each in _arrays_of(predictions).items()}
    return type(predictions)(**arrays)


def can_be_kept(predictions: Any) -> bool:
    """Return whether predictions are arrays with a row for each of them."""
    return type(predictions) in _KINDS.values()


@lru_cache(maxsize=2)
def anchors_of(n: int) -> np.ndarray:
    """Return the numbers of rows, of n, that bandwidths and centres come from in a test of all of them."""
    return np.unique(np.concatenate([*pair_indices(n, MAX_PAIRS), central_rows(n)]))


def central_rows(n: int) -> np.ndarray:
    """Return the numbers of the rows whose median is the centre of features."""
    return np.arange(0, n, max(1, n // _CENTRAL))


def _arrays_of(predictions: Any) -> dict[str, Array]:
    held = {each.name: getattr(predictions, each.name, None) for each in fields(predictions)}
    return {name: each for name, each in held.items() if hasattr(each, "shape")}


def _at(array: Array, places: np.ndarray) -> Array:
    xp = array_namespace(array)
    return xp.take(array, xp.asarray(places, device=device_of(array)), axis=0)


def _joined(first: Array, second: Array) -> Array:
    if first.shape[1:] != second.shape[1:]:
        raise ValueError(
            f"`read` must return arrays of one shape but for their rows, but gave {tuple(first.shape)} and "
            f"{tuple(second.shape)}."
        )
    return array_namespace(first, second).concat([first, second], axis=0)
