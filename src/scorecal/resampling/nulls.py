"""Null distributions of statistics, as values that the engine calls."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, Protocol, runtime_checkable

import numpy as np

from .._lib.arrays import Array, to_numpy
from .pairing import Pairing
from .signs import Signs

__all__ = ["Null", "RandomSigns", "Signs", "StudentT", "UStatistics"]


@dataclass(frozen=True, eq=False)
class UStatistics:
    """For each of V functions: the U-statistic, its null draws, and the contribution of each of the n rows."""

    statistic: Array  # (V,)
    null: Array | None  # (V, B)
    contributions: Array  # (V, n); each row sums to its statistic


Averages = Callable[[Signs | None], UStatistics]  # one pass over rows and pairs, with signs or without


@runtime_checkable
class Null(Protocol):
    """A method that gives the null distribution of several statistics of the same rows.

    `distribution` calls `averages(signs)` for each pass over rows and pairs, and returns its statistics with B =
    `n_resamples` null draws each. All random numbers come from `rng`.
    """

    def distribution(
        self, averages: Averages, pairing: Pairing, n_resamples: int, rng: np.random.Generator
    ) -> UStatistics: ...


@dataclass(frozen=True)
class RandomSigns:
    """The wild bootstrap, e_i e_j H_ij with random signs e: exact for symmetric features, close to it for many rows."""

    def draw(self, n: int, n_resamples: int, rng: np.random.Generator) -> Signs:
        """Draw fair signs from the bits of `rng.bytes`: a tenth of a second for 5 x 10^8 of them."""
        return Signs(np.frombuffer(bytearray(rng.bytes(-(-n * n_resamples // 8))), dtype=np.uint8), n_resamples)

    def distribution(
        self, averages: Averages, pairing: Pairing, n_resamples: int, rng: np.random.Generator
    ) -> UStatistics:
        return averages(self.draw(pairing.n, n_resamples, rng))


@dataclass(frozen=True)
class StudentT:
    """Student's t, for blocks of rows that are independent and identically distributed: quantiles in place of draws.

    It is the distribution of the mean over blocks, in units of its standard error.
    """

    def distribution(
        self, averages: Averages, pairing: Pairing, n_resamples: int, rng: np.random.Generator
    ) -> UStatistics:
        from scipy.stats import t

        if pairing.n_blocks < 2:
            least = "give at least 4 targets" if pairing.n < 4 else "use `estimator='linear'` or `'block'`"
            raise ValueError(
                f"Student's t needs at least two blocks of rows, but the {pairing.n} rows of `y` are in one: {least}."
            )
        totals = averages(None)
        contributions = to_numpy(totals.contributions).astype(np.float64)
        block = pairing.block_of(np.arange(pairing.n))
        sizes = np.bincount(block)
        expected = np.sum(contributions, axis=1, keepdims=True) * sizes * (sizes - 1) / (2 * pairing.n_pairs)
        gaps = np.stack([np.bincount(block, row) for row in contributions]) - expected
        errors = np.sqrt(np.sum(gaps**2, axis=1) * pairing.n_blocks / (pairing.n_blocks - 1))
        quantiles = t.ppf((np.arange(n_resamples) + 0.5) / n_resamples, pairing.n_blocks - 1)
        return replace(totals, null=errors[:, None] * quantiles)


_BY_NAME: dict[str, Null] = {"signs": RandomSigns()}


def as_null(null: Any) -> Null | None:
    """Return the null with this name, or the value itself; None stands for the null of the estimator."""
    if null is None:
        return None
    if isinstance(null, str) and null in _BY_NAME:
        return _BY_NAME[null]
    if isinstance(null, type) or not isinstance(null, Null):
        raise TypeError(
            f"`null` must be {' or '.join(map(repr, _BY_NAME))}, a value of `nulls` such as `RandomSigns()`, or have a "
            f"method `distribution(averages, pairing, n_resamples, rng)`, but is {null!r}."
        )
    return null
