"""Estimators: which pairs of rows a statistic averages, and whether in full or by features of finite rank."""

import math
from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable

import numpy as np

from .._lib.checks import by_name, check_count
from ..pairwise import Features, PairFunction
from ..statistics.random_features import low_rank
from .clusters import Clusters
from .nulls import Null, RandomSigns, StudentT
from .pairing import Pairing

__all__ = ["Auto", "Block", "Complete", "Estimator", "Incomplete", "Linear", "LowRank", "Pairing", "as_estimator"]


@runtime_checkable
class Estimator(Protocol):
    """A choice of pairs. To make one of your own, inherit from this class and define `pairing`.

    Examples
    --------
    Pairs of neighbours inside blocks of ten rows:

    >>> import scorecal as sc
    >>> class Neighbours(sc.estimators.Estimator):
    ...     def pairing(self, n):
    ...         return sc.estimators.Pairing(n, reach=1, size=min(n, 10))
    >>> predictions, y = sc.experiments.mgm(1000, 0.5, rng=0)
    >>> sc.kccsd_test(predictions, y, estimator=Neighbours(), rng=0).rejects()
    True
    """

    def pairing(self, n: int) -> Pairing:
        """Return the pairs of n rows that are averaged."""
        ...

    def apply(self, function: PairFunction | Features, rng: np.random.Generator) -> PairFunction | Features:
        """Return the function to average in place of the given one; by default, the given one."""
        return function

    def null(self) -> Null:
        """Return the null distribution used when none is given; by default, random signs."""
        return RandomSigns()


@dataclass(frozen=True)
class Complete(Estimator):
    """All pairs, and the wild bootstrap: cost n^2, and the most power."""

    def pairing(self, n: int) -> Pairing:
        return Pairing(n, n, n)


@dataclass(frozen=True)
class Auto(Complete):
    """All pairs while these take at most some three seconds on two cores, and beyond that `LowRank`, if it is cheaper.

    That is up to 20,000 rows with 999 draws, or 500 d rows in d dimensions if these are more. Kernels without random
    features, such as operator-valued ones, always take all pairs. The `estimator` of a result says what was used.
    """


@dataclass(frozen=True)
class Incomplete(Estimator):
    """Each row with the next few rows only, and the wild bootstrap: cost n times their number.

    Parameters
    ----------
    pairs_per_point : int
        Number of following rows that each row is paired with, at least 1.
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
        Number of rows in a block, at least 2; the root of n by default. The last block also holds the remaining rows.
    """

    size: int | None = None

    def __post_init__(self) -> None:
        check_count("size", self.size, 2, optional=True)

    def pairing(self, n: int) -> Pairing:
        return Pairing(n, n, min(max(self.size or math.isqrt(n), 2), n))


@dataclass(frozen=True)
class Linear(Estimator):
    """Rows two by two, compared with Student's t: the lowest cost, n, and no bootstrap.

    P-values are ranks among `n_resamples` quantiles of Student's t. `calibration_test`, which combines several
    statistics, uses random signs here too.
    """

    def pairing(self, n: int) -> Pairing:
        return Pairing(n, n, 2)

    def null(self) -> Null:
        return StudentT()


@dataclass(frozen=True)
class LowRank(Estimator):
    """All pairs, with random frequencies for radial kernels, and the wild bootstrap: cost n times their number.

    Predictions that are compared by distances without a finite embedding, such as MMD, are first embedded by their
    distances to some of them.

    Parameters
    ----------
    n_frequencies : int
        Number of random frequencies, each with 2 d features, and half the number of predictions that others are
        compared with; few of them reduce power, but the test keeps its level.
    """

    n_frequencies: int = 50

    def __post_init__(self) -> None:
        check_count("n_frequencies", self.n_frequencies)

    def pairing(self, n: int) -> Pairing:
        return Pairing(n, n, n)

    def apply(self, function: PairFunction | Features, rng: np.random.Generator) -> PairFunction | Features:
        return function if isinstance(function, Features) else low_rank(function, self.n_frequencies, rng)


_BY_NAME: dict[str, Estimator] = {
    "auto": Auto(),
    "complete": Complete(),
    "incomplete": Incomplete(),
    "block": Block(),
    "linear": Linear(),
    "low-rank": LowRank(),
}


def name_of_estimator(estimator: Estimator) -> str:
    """Return the name of an estimator on a result: that of its class, if it is not one of ours."""
    return next((name for name, known in _BY_NAME.items() if type(known) is type(estimator)), type(estimator).__name__)


def as_estimator(estimator: Any) -> Estimator:
    """Return the estimator with this name, or the value itself if it is an estimator."""
    wanted = "a value of `estimators`, or inherit from `estimators.Estimator` and define `pairing(n)`"
    return by_name("estimator", estimator, _BY_NAME, Estimator, wanted)  # type: ignore[no-any-return]


def pairing_of(estimator: Estimator, n: int, clusters: Clusters | None = None) -> Pairing:
    """Return the pairs of n rows that the estimator averages, checked; without those that depend on each other."""
    pairing: Any = estimator.pairing(n)
    if not isinstance(pairing, Pairing):
        raise TypeError(
            "`estimator` must define `pairing(n)`, which returns `estimators.Pairing(n, reach, size)`, but that of "
            f"{estimator!r} returned a {type(pairing).__name__}."
        )
    if pairing.n != n:
        raise ValueError(f"`estimator` must pair all {n} rows, but {estimator!r} pairs {pairing.n} rows.")
    if pairing.n_pairs < 1:
        raise ValueError(f"`estimator` must average at least one pair of rows, but {estimator!r} has none.")
    return pairing if clusters is None else pairing.among(clusters)
