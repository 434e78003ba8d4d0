"""Rejection rates of the power study, at the level of our test and at that of one of many checks."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from ..sweep.rates import LEVEL, rejection_rates
from ..sweep.store import Key
from .grid import OURS, SINGLE, Situation, cells_of, column_of, null_cells_of

STRICT = 0.01  # who runs many checks must run each at a smaller level
Rates = Mapping[float, Mapping[tuple[str, int, str], tuple[int, int]]]


def rates_of(pvalues: Mapping[Key, float]) -> Rates:
    """Return rejections and repetitions by level, and then by (model, n, column of the table)."""
    named = {(model, n, repetition, column_of(test)): p for (model, n, repetition, test), p in pvalues.items()}
    return {level: rejection_rates(named, level) for level in (LEVEL, STRICT)}


def share(rates: Rates, row: Situation, n: int, column: str, level: float = LEVEL) -> float | None:
    """Return the share of data sets rejected; None where it was not run."""
    rejections, repetitions = rates[level].get((row.model.name, n, column), (0, 0))
    return rejections / repetitions if repetitions else None


def not_run(rates: Rates, rows: Sequence[Situation], sizes: Sequence[int]) -> tuple[dict[float, int], int]:
    """Return the number of cells without results at each level, and that of all cells."""
    cells = {(c.model.name, c.n, column_of(c.test.name)) for c in cells_of(rows, sizes) + null_cells_of(rows, sizes)}
    return {level: len(cells - found.keys()) for level, found in rates.items()}, len(cells)


@dataclass(frozen=True)
class Comparison:
    """Our share of rejections at level .05, and the largest of the single checks, at level .01 each."""

    ours: float
    best: float
    name: str
    error: float  # standard error of the difference, as if the two were of different data sets

    @property
    def falls_short(self) -> bool:
        return self.ours < self.best - 2.0 * self.error


def against_single_checks(rates: Rates, row: Situation, n: int) -> Comparison | None:
    """Compare our test with the best single check; None where nothing was run at level .01."""
    ours = share(rates, row, n, OURS.name)
    found = {test.name: share(rates, row, n, test.name, STRICT) for test in SINGLE}
    known = {name: rate for name, rate in found.items() if rate is not None}
    if ours is None or not known:
        return None
    name = max(known, key=known.__getitem__)
    best = known[name]
    repetitions = rates[LEVEL][row.model.name, n, OURS.name][1], rates[STRICT][row.model.name, n, name][1]
    error = (ours * (1.0 - ours) / repetitions[0] + best * (1.0 - best) / repetitions[1]) ** 0.5
    return Comparison(ours, best, name, error)
