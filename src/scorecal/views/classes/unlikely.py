"""The target that its own prediction holds for the least likely."""

from dataclasses import dataclass
from functools import partial

import numpy as np

from ...pairwise import Extreme
from ..extremes import EvidenceLaw

_LEAST = 1e-300
_ROUNDING = 1e-12  # relative: probabilities closer than this are taken for equal


@dataclass(frozen=True, eq=False)
class Unlikely:
    """The smallest p-value of a single row, the probability of classes no likelier than the observed one.

    The statistic is minus the log10 of the expected number of rows with p-values as small, which is no less than the
    probability that there is one, whether rows are independent or not. Of ordered rows it is n times the p-value:
    predictions that learn from surprises are the most certain just before one, so that the expected number, which
    knows all predictions, would make every surprise look rare.
    """

    tails: np.ndarray  # (n, K): p-value of a row, for each class
    sorted_tails: np.ndarray
    expected: np.ndarray  # numbers of rows with p-values up to each of the sorted ones

    @property
    def constant(self) -> bool:
        """Whether no class is unlikely, so that the statistic is always 0."""
        return bool(self.expected[0] >= 1.0)

    def extreme(self, observed: np.ndarray) -> Extreme:
        """Return the statistic of observed classes (n,)."""
        return Extreme(partial(self._sizes, observed), self.of_largest, EvidenceLaw())

    def of_draws(self, drawn: np.ndarray) -> np.ndarray:
        """Return the statistics of m data sets of classes (m, n)."""
        return self.of_largest(-np.min(self.tails[np.arange(drawn.shape[1]), drawn], axis=1))

    def of_largest(self, largest: np.ndarray) -> np.ndarray:
        """Return the statistic for the largest negative p-value of a row."""
        last = np.searchsorted(self.sorted_tails, -np.asarray(largest), side="right") - 1
        return np.asarray(-np.log10(np.clip(self.expected[np.maximum(last, 0)], _LEAST, 1.0)))

    def _sizes(self, observed: np.ndarray, rows: slice) -> np.ndarray:
        return -np.take_along_axis(self.tails[rows], observed[rows, None], axis=1)[:, 0]


def unlikely(probabilities: np.ndarray, ordered: bool) -> Unlikely:
    """Return the statistic for probabilities (n, K)."""
    order = np.argsort(probabilities, axis=1)
    ascending = np.take_along_axis(probabilities, order, axis=1)
    up_to = np.cumsum(ascending, axis=1)
    step = np.diff(ascending, axis=1) > _ROUNDING * ascending[:, 1:]  # ties share the largest
    last = np.concatenate([step, np.ones((len(step), 1), bool)], axis=1)
    up_to = np.minimum.accumulate(np.where(last, up_to, np.inf)[:, ::-1], axis=1)[:, ::-1]
    tails = np.empty_like(probabilities)
    np.put_along_axis(tails, order, np.minimum(up_to, 1.0), axis=1)
    flat = np.argsort(tails, axis=None)
    values, expected = tails.ravel()[flat], np.cumsum(probabilities.ravel()[flat])
    ends = np.flatnonzero(np.append(np.diff(values) > 0, True))
    numbers = len(probabilities) * values[ends] if ordered else expected[ends]
    return Unlikely(tails, values[ends], numbers)
