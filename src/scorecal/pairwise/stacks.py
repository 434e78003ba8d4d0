"""Stacks of tiles: many small blocks of rows of one size, whose blocks of pairs are computed in one call.

A function that `takes_stacks` may be called with two stacks in place of two slices, and pairs tile with tile.
"""

from typing import Any, NamedTuple

from .._lib.arrays import Array, array_namespace


class Stack(NamedTuple):
    """Successive tiles of `edge` rows each, from row `start` to row `stop`."""

    start: int
    stop: int
    edge: int

    def shifted(self, gap: int) -> "Stack":
        """Return the stack of the tiles that are `gap` tiles further on."""
        return Stack(self.start + gap * self.edge, self.stop + gap * self.edge, self.edge)


Rows = slice | Stack


def rows_of(array: Array, rows: Rows) -> Array:
    """Return rows of an array (n, ...): (rows, ...) or, of a stack, (tiles, edge, ...)."""
    some = array[rows.start : rows.stop, ...]
    if isinstance(rows, slice):
        return some
    return array_namespace(array).reshape(some, (-1, rows.edge, *array.shape[1:]))


def takes_stacks(function: Any) -> bool:
    """Return whether a pair function may be called with stacks."""
    return bool(getattr(function, "takes_stacks", False))
