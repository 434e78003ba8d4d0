"""Which pairs of rows a statistic averages: all, or so few that its cost grows as n; or all, of finite rank."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable

import numpy as np

from .._lib.checks import check_count
from ..pairwise import Features, PairFunction
from ..statistics.random_features import low_rank
from .nulls import Null, RandomSigns, StudentT
from .pairing import Pairing

__all__ = ["Block", "Complete", "Estimator", "Incomplete", "Linear", "LowRank", "Pairing", "as_estimator"]


@runtime_checkable
class Estimator(Protocol):
    """A choice of pairs. To make one of your own, inherit from this class and define `pairing`."""

    def pairing(self, n: int) -> Pairing:
        """The pairs of n rows that are averaged."""
        ...

    def apply(self, function: PairFunction | Features, rng: np.random.Generator) -> PairFunction | Features:
        """What is averaged in place of the function: by default, the function itself."""
        return function

    def null(self) -> Null:
        """The null distribution where none is given: by default, random signs."""
        return RandomSigns()


@dataclass(frozen=True)
class Complete(Estimator):
    """All pairs: cost n^2, and the most power. The null distribution is that of the wild bootstrap."""

    def pairing(self, n: int) -> Pairing:
        return Pairing(n, n, n)


@dataclass(frozen=True)
class Incomplete(Estimator):
    """Each row with the next ones only, and the wild bootstrap: cost n times their number.

    Parameters
    ----------
    pairs_per_point : int
        How many come next, at least 1.
    """

    pairs_per_point: int = 100

    def __post_init__(self) -> None:
        check_count("pairs_per_point", self.pairs_per_point)

    def pairing(self, n: int) -> Pairing:
        return Pairing(n, min(self.pairs_per_point, n), n)


@dataclass(frozen=True)
class Block(Estimator):
    """All pairs inside blocks of rows, and the wild bootstrap: cost n times the size of a block.

    Parameters
    ----------
    size : int, optional
        Number of rows in a block, at least 2; the root of n by default. The last block also takes what is left over.
    """

    size: int | None = None

    def __post_init__(self) -> None:
        check_count("size", self.size, 2, optional=True)

    def pairing(self, n: int) -> Pairing:
        return Pairing(n, n, min(max(self.size or math.isqrt(n), 2), n))


@dataclass(frozen=True)
class Linear(Estimator):
    """Rows two by two, the least that there is to compute. Their mean is compared with Student's t: no bootstrap.

    p-values are ranks among `n_resamples` quantiles of it. In `calibration_test`, which combines several statistics,
    signs are used here too.
    """

    def pairing(self, n: int) -> Pairing:
        return Pairing(n, n, 2)

    def null(self) -> Null:
        return StudentT()


@dataclass(frozen=True)
class LowRank(Estimator):
    """All pairs, with random frequencies for Gaussian kernels, and the wild bootstrap: cost n times their number.

    Parameters
    ----------
    n_frequencies : int
        Each has 2 d features; few of them lose power, never the level.
    """

    n_frequencies: int = 50

    def __post_init__(self) -> None:
        check_count("n_frequencies", self.n_frequencies)

    def pairing(self, n: int) -> Pairing:
        return Pairing(n, n, n)

    def apply(self, function: PairFunction | Features, rng: np.random.Generator) -> PairFunction | Features:
        return function if isinstance(function, Features) else low_rank(function, self.n_frequencies, rng)


_BY_NAME: dict[str, Estimator] = {
    "complete": Complete(),
    "incomplete": Incomplete(),
    "block": Block(),
    "linear": Linear(),
    "low-rank": LowRank(),
}


def as_estimator(estimator: Any) -> Estimator:
    """Return the estimator of this name, or the value itself."""
    if isinstance(estimator, str) and estimator in _BY_NAME:
        return _BY_NAME[estimator]
    if isinstance(estimator, type) or not isinstance(estimator, Estimator):
        raise ValueError(
            f"`estimator` must be one of {', '.join(map(repr, _BY_NAME))}, or `Incomplete(pairs_per_point)`, "
            f"`Block(size)` or `LowRank(n_frequencies)` of `estimators`, but is {estimator!r}."
        )
    return estimator
