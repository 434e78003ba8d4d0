"""Sums and products of pair functions."""

import threading
from dataclasses import dataclass, field
from functools import reduce
from operator import add, mul
from typing import Any

from .._lib.arrays import Array
from .protocol import PairFunction
from .stacks import takes_stacks


@dataclass(frozen=True, eq=False)
class _Combination:
    functions: tuple[PairFunction, ...]

    @property
    def floats_per_pair(self) -> int:
        return 2 + max(function.floats_per_pair for function in self.functions)

    @property
    def takes_stacks(self) -> bool:
        return all(map(takes_stacks, self.functions))


class SumOfPairs(_Combination):
    """The sum of pair functions."""

    def __call__(self, rows: Any, cols: Any) -> Array:
        return reduce(add, (function(rows, cols) for function in self.functions))


class ProductOfPairs(_Combination):
    """The product of pair functions."""

    def __call__(self, rows: Any, cols: Any) -> Array:
        return reduce(mul, (function(rows, cols) for function in self.functions))


@dataclass(frozen=True, eq=False)
class Remembered:
    """A factor of several pair functions that keeps its last block, since all are evaluated on one tile at a time."""

    function: PairFunction
    _last: threading.local = field(default_factory=threading.local, init=False)

    @property
    def floats_per_pair(self) -> int:
        return 1 + self.function.floats_per_pair

    @property
    def takes_stacks(self) -> bool:
        return takes_stacks(self.function)

    def __reduce__(self) -> tuple[Any, ...]:
        return Remembered, (self.function,)

    def __call__(self, rows: slice, cols: slice) -> Array:
        tile = (rows.start, rows.stop, cols.start, cols.stop)
        if getattr(self._last, "tile", None) != tile:
            self._last.block = self.function(rows, cols)
            self._last.tile = tile
        return self._last.block
