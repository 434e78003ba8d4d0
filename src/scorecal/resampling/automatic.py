"""The choice that `null="auto"` stands for, and how many draws are worth their time.

Draws from the predictions give the exact null distribution, at the price of one more statistic for each draw; signs
cost little more than the statistic itself. docs/which_null.md has the measured times and levels.
"""

from typing import Any

from ..coordinates.chains import can_be_moved
from ..predictions import Gaussian, Noised, Samplable
from .estimators import Complete, Estimator
from .nulls import Null, RandomSigns, Simulate

# Rows up to which simulation takes at most some 50 times as long as signs, for Gaussians and for other predictions.
_MOST_ROWS_OF_GAUSSIANS, _MOST_ROWS = 500, 200
_MOST_ROWS_OF_CHAINS = 100  # they ask for some 10 (densities) to 25 (scores) values for each row of each draw
_SEED = 0  # for Gaussians: tests of the same size share their tables, and p-values do not depend on `rng`
# Draws are made while they cost less than about a quarter of a second: at most this many numbers, and pairs of rows.
_NUMBERS, _PAIRS, _MOST_PARTS = 10**7, 5 * 10**7, 20


def automatic_null(predictions: Any, estimator: Estimator, n: int, chains: bool = False) -> Null:
    """Return draws from the predictions where there are any, at a price, and rows are few enough; otherwise signs.

    `chains` says that the test can move targets where predictions cannot be sampled.
    """
    if not isinstance(estimator, Complete) or getattr(predictions, "slow_to_sample", False):
        return RandomSigns()
    if can_be_moved(predictions):
        return Simulate() if chains and n <= _MOST_ROWS_OF_CHAINS else RandomSigns()
    if not isinstance(predictions, Samplable) or isinstance(predictions, Noised):
        return RandomSigns()
    if isinstance(predictions, Gaussian):
        return Simulate(_SEED) if n <= _MOST_ROWS_OF_GAUSSIANS else RandomSigns()
    return Simulate() if n <= _MOST_ROWS else RandomSigns()


def draws_per_resample(null: Any, n_resamples: int, n: int, d: int) -> int:
    """Return for how many draws each of the `n_resamples` on a result stands: more than one where draws are cheap."""
    if null == Simulate():
        return 1
    affordable = min(_NUMBERS // (n * d * max(1, d // 2)), _PAIRS // n**2)  # correlations are d^2 numbers
    return max(1, min(_MOST_PARTS, affordable // (n_resamples + 1)))
