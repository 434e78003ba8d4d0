"""Protocols of what a statistic averages: a function H of pairs of rows, or features f of rows with H = f_i.f_j."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

import numpy as np

from .._lib.arrays import Array


class PairFunction(Protocol):
    """Symmetric H(i, j) for a block of rows and columns; `floats_per_pair` is the working memory of one pair.

    One that can also be called with stacks of tiles (`pairwise.stacks`) says `takes_stacks = True`.
    """

    @property
    def floats_per_pair(self) -> int: ...

    def __call__(self, rows: Any, cols: Any) -> Array: ...


@dataclass(frozen=True, eq=False)
class Features:
    """Features f as a function of a block of rows, (rows, q), for H(i, j) = f_i.f_j.

    With `largest`, the statistic is the largest of the statistics of the q features, each in units of its mean square.
    Signs do not change a mean square, so the null draws are valid all the same. With `unskewed`, sums are corrected for
    skewness. `units` are known sums of squares and cubes; without them, those of the rows themselves are used.
    """

    function: Callable[[slice], Array]
    largest: bool = False
    unskewed: bool = False
    units: "Units | None" = None


class Units(NamedTuple):
    """Expected sums over rows of f^2 and f^3, (q,) each, for calibrated predictions."""

    squares: Array
    cubes: Array


@dataclass(frozen=True, eq=False)
class Extreme:
    """A statistic that is a function of the largest of some number of each row, (rows,) for a block of rows.

    Signs do not change it. `law` has the p-values of the statistic, if they are known in closed form.
    """

    function: Callable[[slice], Array]
    statistic: Callable[[Array], Array]
    law: Any = None


RowFunction = PairFunction | Features | Extreme
Average = Callable[[Sequence[RowFunction], Array], Array]  # of functions and a reference: statistics (V,)


class Redrawn(NamedTuple):
    """Statistics (V, B) of B drawn data sets, and the units of those that are averages of features, where known."""

    statistics: Array
    units: Sequence[Units | None]


Redraw = Callable[[int, np.random.Generator, Average], Redrawn]


class Statistic(NamedTuple):
    """The function to average, an array that sets backend, device and dtype, the bandwidths and the coordinates.

    `errors` (n, q) are what is known of the error of each row, such as scores, for warnings. `recompute`
    returns the statistic of other targets, for nulls that draw them from the predictions.
    """

    function: PairFunction | Features
    reference: Array
    bandwidths: Mapping[str, Any]
    coordinates: str = "identity"
    errors: Array | None = None
    recompute: Callable[[Any], Any] | None = None
