"""The choices that `null="auto"` and `estimator="auto"` stand for, how many draws are worth their time, and what signs
get wrong on few rows.

Draws from the predictions give the exact null distribution, at the price of one more statistic for each draw; signs
cost little more than the statistic itself. docs/which_null.md has the measured times and levels.
"""

from collections.abc import Sequence
from typing import Any

from ..coordinates.chains import can_be_moved
from ..pairwise import Extreme, Features, RowFunction
from ..predictions import Gaussian, Noised, Pool, Samplable
from ..statistics.random_features import has_random_features
from .clusters import Clusters
from .estimators import Auto, Complete, Estimator, LowRank
from .nulls import Null, RandomSigns, Simulate

# Sizes up to which simulation takes at most some 40 times as long as signs: numbers n d for Gaussians, which need no
# scores, and rows for other predictions.
_MOST_NUMBERS_OF_GAUSSIANS, _MOST_NUMBERS_OF_POOLS, MOST_ROWS = 10**4, 6000, 200
_MOST_NUMBERS = 10**4  # n d of predictions that are no Gaussians: of 100 dimensions or fewer, rows decide
_MOST_ROWS_OF_CHAINS = 100  # they ask for some 10 (densities) to 25 (scores) values for each row of each draw
_MOST_ROWS_OF_PAIRS = 100  # views that compare all pairs of more rows are judged by signs
# Seconds that a pair, and a random feature of a row, take on two cores: without draws, and for each draw
# (`python benchmarks/estimators.py --costs`).
_OF_PAIR, _OF_FEATURE = (5e-9, 1e-11), (2.5e-8, 1e-11)
_CHEAP = 3.0
_MOST_FOR_LARGEST = 5 * 10**6  # numbers that are drawn from the predictions for one view
_SEED = 0  # for Gaussians: tests of the same size share their tables, and p-values do not depend on `rng`
# A p-value of .2 then has an error of .009. Fewer where so many cost more than a quarter of a second.
_ENOUGH_DRAWS = 2000
_MOST_OF_TABLES, _MOST_OF_SIGNS = (2 * 10**6, 10**8), (10**9, 6 * 10**9)  # numbers, and pairs of rows, times draws
# With so many rows signs hold their level whatever the scores; p-values of fewer are raised by this for each missing.
_ENOUGH_ROWS, _PER_MISSING_ROW = 50, 0.15


def chosen_estimator(
    estimator: Estimator, functions: Sequence[RowFunction], n: int, d: int, n_resamples: int
) -> Estimator:
    """Return what `Auto` stands for; any other estimator as it is.

    All pairs are averaged if that is cheap or costs less than random features, and where there are none of these.
    """
    if not isinstance(estimator, Auto):
        return estimator
    complete, low_rank = Complete(), LowRank()
    pairs = [each for each in functions if not isinstance(each, Features | Extreme)]
    cost, other = (
        count * (alone + draw * n_resamples)
        for count, (alone, draw) in (
            (n * (n - 1) / 2, _OF_PAIR),
            (2.0 * n * d * low_rank.n_frequencies, _OF_FEATURE),
        )
    )
    dear = cost > max(_CHEAP, other)
    return low_rank if dear and pairs and all(map(has_random_features, pairs)) else complete


def automatic_null(predictions: Any, estimator: Estimator, n: int, chains: bool = False) -> Null:
    """Return draws from the predictions where there are any, at a price, and rows are few enough; otherwise signs.

    `chains` says that the test can move targets where predictions cannot be sampled.
    """
    if not isinstance(estimator, Complete) or getattr(predictions, "slow_to_sample", False):
        return RandomSigns()
    if can_be_moved(predictions):
        few = n <= _MOST_ROWS_OF_CHAINS and n * predictions.dim <= _MOST_NUMBERS
        return Simulate() if chains and few else RandomSigns()
    if not isinstance(predictions, Samplable) or isinstance(predictions, Noised):
        return RandomSigns()
    if isinstance(predictions, Gaussian):
        return Simulate(_SEED) if n * predictions.dim <= _MOST_NUMBERS_OF_GAUSSIANS else RandomSigns()
    return Simulate() if n <= most_rows(predictions) else RandomSigns()


def most_rows(predictions: Any) -> int:
    """Return up to how many rows draws from predictions that are no Gaussians are worth their time.

    Draws from pools are ranks, and need no scores.
    """
    most = max(MOST_ROWS, _MOST_NUMBERS_OF_POOLS // predictions.dim) if isinstance(predictions, Pool) else MOST_ROWS
    return min(most, 2 * _MOST_NUMBERS // int(predictions.dim))


def can_draw_largest(predictions: Any, n: int, n_resamples: int) -> bool:
    """Return whether so many sets of n targets can be drawn, at a price, to rank the largest target among."""
    if not isinstance(predictions, Samplable) or isinstance(predictions, Noised) or n <= _ENOUGH_ROWS:
        return False
    quick = not getattr(predictions, "slow_to_sample", False)
    return quick and n * getattr(predictions, "dim", 1) * n_resamples <= _MOST_FOR_LARGEST


def raise_of_signs(null: Any, predictions: Any, n: int, clusters: Clusters | None) -> float:
    """Return the factor by which p-values must be raised for random signs to hold their level.

    Scores of skewed predictions have mean zero by values too rare to occur in a few rows, or groups of rows, and signs
    take what is left for a bias. Of calibrated skew-normal predictions, 17 % of data sets of 10 or 20 rows had p-values
    of .05 or less, but 5 % had .008. Gaussian predictions need nothing, but for few blocks of rows.
    """
    of_blocks, n_units = (1.0, n) if clusters is None else (clusters.raised, clusters.n_clusters)
    if not isinstance(null, RandomSigns) or isinstance(predictions, Gaussian):
        return of_blocks
    return max(of_blocks, 1.0 + _PER_MISSING_ROW * max(0, _ENOUGH_ROWS - n_units))


def pairs_by_signs(n: int) -> bool:
    """Return whether views that compare pairs of n rows are judged by signs, where others are by draws."""
    return n > _MOST_ROWS_OF_PAIRS


def draws_per_resample(null: Any, n_resamples: int, n: int, d: int) -> int:
    """Return for how many draws each of the `n_resamples` on a result stands: more than one where draws are cheap.

    Draws are random signs, or tables of normal numbers.
    """
    numbers, pairs = _MOST_OF_SIGNS if isinstance(null, RandomSigns) else _MOST_OF_TABLES
    pairs = _MOST_OF_SIGNS[1] if pairs_by_signs(n) else pairs
    affordable = min(numbers // (n * d * max(1, d // 2)), pairs // n**2)  # correlations are d^2 numbers
    return max(1, min(_ENOUGH_DRAWS, affordable) // (n_resamples + 1))
