"""Null distributions of statistics, as values that the engine calls."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol, runtime_checkable

import numpy as np

from .._lib.arrays import Array, to_numpy
from .._lib.checks import by_name
from .laws import Law
from .pairing import Pairing
from .signs import Signs, pack_signs

__all__ = ["Null", "RandomSigns", "Signs", "Simulate", "StudentT", "UStatistics", "pack_signs"]


@dataclass(frozen=True, eq=False)
class UStatistics:
    """V statistics of the same n rows, with their null draws and the contributions of the rows.

    Attributes
    ----------
    statistic : array, shape (V,)
        The statistics: one for most tests, one for each view in `calibration_test`.
    null : array, shape (V, B), or None
        B draws of each statistic under the null hypothesis; None where there were no signs.
    contributions : array, shape (V, n)
        Share of each row in each statistic; the shares of a statistic sum to it.
    laws : sequence, of length V
        Null distributions in closed form (`resampling.laws.Law`); None where there is none.
    precisions : sequence of float, of length V
        Machine epsilon of the draws; none where draws are not products with signs.
    null_name : str
        Name of the null distribution, for the result; `distribution_of` sets it.
    """

    statistic: Array
    null: Array | None
    contributions: Array
    laws: Sequence[Law | None] = ()
    precisions: Sequence[float] = ()
    null_name: str = ""


@dataclass(frozen=True, eq=False)
class Averages:
    """One pass over rows and pairs, with signs or without: what a null is given to call."""

    average: Callable[[Signs | None], UStatistics]
    redraw: Callable[[int, np.random.Generator], UStatistics] | None = None

    def __call__(self, signs: Signs | None) -> UStatistics:
        return self.average(signs)

    def redrawn(self, n_resamples: int, rng: np.random.Generator) -> UStatistics:
        """Return the statistics, with those of B data sets whose targets are draws from the predictions as `null`."""
        if self.redraw is None:
            raise TypeError(
                '`null="simulate"`, like all nulls that draw targets from the predictions, is for independent rows: '
                "leave `groups` and `horizon` out."
            )
        return self.redraw(n_resamples, rng)


@runtime_checkable
class Null(Protocol):
    """The protocol of null distributions: any object with the method `distribution` can be given as `null`.

    Examples
    --------
    As many signs +1 as -1 in each draw, up to one, so that a bias does not widen the null distribution:

    >>> import numpy as np, scorecal as sc
    >>> class BalancedSigns:
    ...     def distribution(self, averages, pairing, n_resamples, rng):
    ...         signs = np.tile(np.resize([[1], [-1]], (pairing.n_clusters, 1)), n_resamples)
    ...         return averages(sc.nulls.pack_signs(rng.permuted(signs, axis=0)))
    >>> predictions, y = sc.experiments.mgm(200, 0.5, rng=0)
    >>> sc.kccsd_test(predictions, y, null=BalancedSigns(), rng=0).rejects()
    True
    """

    def distribution(
        self, averages: Averages, pairing: Pairing, n_resamples: int, rng: np.random.Generator
    ) -> UStatistics:
        """Return the statistics with `n_resamples` null draws of each.

        Parameters
        ----------
        averages : callable
            `averages(signs)` makes one pass over rows and pairs and returns `UStatistics` whose null draws are the
            averages of e_i e_j H_ij, one for each column of the signs e; `averages(None)` leaves `null` None, to be set
            by `dataclasses.replace`. It takes `Signs` only, as `pack_signs` makes them, no other multipliers.
            `averages.redrawn(n_resamples, rng)` returns `UStatistics` whose null draws are the statistics of targets
            drawn from the predictions.
        pairing : Pairing
            The pairs that are averaged; `pairing.n` is the number of rows, and `pairing.n_clusters` that of signs in a
            draw: as many, or one for each group or block of rows, if the test has `groups` or `horizon`.
        n_resamples : int
            Number of draws B.
        rng : numpy.random.Generator
            Source of all random numbers.
        """
        ...


@dataclass(frozen=True)
class RandomSigns:
    """The wild bootstrap, e_i e_j H_ij with random signs e: exact for symmetric features, close to it for many rows."""

    def draw(self, n: int, n_resamples: int, rng: np.random.Generator) -> Signs:
        """Draw fair signs from the bits of `rng.bytes`: a tenth of a second for 5 x 10^8 of them."""
        return Signs(np.frombuffer(bytearray(rng.bytes(-(-n * n_resamples // 8))), dtype=np.uint8), n_resamples)

    def distribution(
        self, averages: Averages, pairing: Pairing, n_resamples: int, rng: np.random.Generator
    ) -> UStatistics:
        return averages(self.draw(pairing.n_clusters, n_resamples, rng))


@dataclass(frozen=True)
class Simulate:
    """Targets drawn from the predictions, with the whole statistic recomputed: exact for any n and any statistic.

    It needs predictions that can be sampled, and rows that are independent given all predictions. In
    `calibration_test`, scores or densities that can be asked anywhere will do: Markov chains move the targets.

    Parameters
    ----------
    seed : int, optional
        Seed of the draws, the same whatever the `rng` of a test; by default, draws come from that `rng`.
    """

    seed: int | None = None

    def distribution(
        self, averages: Averages, pairing: Pairing, n_resamples: int, rng: np.random.Generator
    ) -> UStatistics:
        rng = rng if self.seed is None else np.random.default_rng(self.seed)
        return averages.redrawn(n_resamples, rng)


@dataclass(frozen=True)
class StudentT:
    """Student's t, for blocks of rows that are independent and identically distributed: quantiles in place of draws.

    It is the distribution of the mean over blocks, in units of its standard error. It needs one statistic that averages
    pairs inside at least two blocks, hence the estimator `Linear` or `Block`. It is refused by `calibration_test`, with
    the estimator `LowRank`, and for kernels of finite rank between targets where predictions are not compared.
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


def distribution_of(
    null: Null, averages: Averages, pairing: Pairing, n_statistics: int, n_resamples: int, rng: np.random.Generator
) -> UStatistics:
    """Return what the null gives, checked."""
    name = name_of(null)
    totals = null.distribution(averages, pairing, n_resamples, rng)
    if not isinstance(totals, UStatistics):
        raise TypeError(
            "`null` must return what `averages(signs)` returned, or `dataclasses.replace(averages(None), null=draws)`, "
            f"but {null!r} returned a {type(totals).__name__}."
        )
    draws = to_numpy(totals.null)
    if draws.shape != (n_statistics, n_resamples) or draws.dtype.kind not in "fiu":
        found = None if totals.null is None else f"shape {draws.shape} of {draws.dtype}"
        raise ValueError(
            f"`null` must return {n_resamples} draws for each statistic, numbers of shape "
            f"{(n_statistics, n_resamples)}, but {null!r} gave {found}."
        )
    shapes = [tuple(getattr(part, "shape", ())) for part in (totals.statistic, totals.contributions)]
    if shapes != [(n_statistics,), (n_statistics, pairing.n)]:
        raise ValueError(
            f"`null` must return the statistics and contributions of `averages`, of shapes {(n_statistics,)} and "
            f"{(n_statistics, pairing.n)}, but {null!r} gave {shapes[0]} and {shapes[1]}."
        )
    bad = np.sum(~np.isfinite(draws))
    if bad and np.all(np.isfinite(to_numpy(totals.statistic))):
        raise ValueError(
            f"`null` must return finite draws, but {bad} of the {draws.size} of {null!r} are not; the statistic is. "
            "Likely causes: NaN in draws of your own, or statistics near the largest number of their dtype."
        )
    return replace(totals, null_name=name)


_BY_NAME: dict[str, Null] = {"signs": RandomSigns(), "simulate": Simulate(), "student-t": StudentT()}


def name_of(null: Null) -> str:
    """Return the name of a null on a result: that of its class, if it is not one of ours."""
    return next((name for name, known in _BY_NAME.items() if type(known) is type(null)), type(null).__name__)


def as_null(null: Any) -> Any:
    """Return the null with this name, or the value itself; None is the estimator's, and "auto" is left as it is."""
    wanted = "a value of `nulls`, or have a method `distribution(averages, pairing, n_resamples, rng)`"
    return None if null is None else by_name("null", null, {"auto": "auto", **_BY_NAME}, Null, wanted)
