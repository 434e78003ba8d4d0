"""The grid of the power study: predictions with known flaws, our tests, and the tests in use today."""

import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from ..._calibration_test import calibration_test
from ..._kccsd import kccsd_test
from ..._skce import skce_test
from ...predictions import ScoreFunction
from ..flaws import bounded, flawed, modes, skewed
from ..sweep.dataset import Model
from ..sweep.procedures import Test
from ..sweep.sweep import Cell, grid
from . import checks, peers
from .oracle import oracle
from .other_oracles import of_modes, of_skewed

DIMENSIONS, SIZES = (1, 3, 10), (100, 200, 1000)
N_RESAMPLES = 499  # of the paper's tests
N_OURS = 99  # on the result: the default makes as many draws as are cheap
_MOST_FOR_SKCE = {1: 200, 3: 100, 10: 0}  # largest n: it solves a linear system for each pair of predictions


@dataclass(frozen=True)
class Situation:
    """One row of the table: a flaw, in `dim` dimensions. `kind` is the name that `calibration_test` should give it.

    `ideal` is the likelihood-ratio test of this very flaw.
    """

    name: str
    dim: int
    kind: str
    draw: Callable[..., tuple[Any, Any]]
    ideal: Callable[..., float] | None = None

    @property
    def calibrated(self) -> bool:
        return self.kind == "none"

    @property
    def model(self) -> Model:
        return Model(f"{self.name}, d = {self.dim}", self.draw)


def situations() -> list[Situation]:
    """Return calibrated and flawed predictions; the best of the other tests has power about 0.5 to 0.9 at n = 200.

    Errors 8 times as large in 2 % of the rows are more easily seen in many dimensions: they stand beside smaller ones.
    """
    ideals: dict[Any, Callable[..., float]] = {modes: of_modes, bounded: oracle, skewed: of_skewed}
    rows = []
    for d in DIMENSIONS:
        narrow, wide, fewer = {1: (0.85, 1.2, 5), 3: (0.9, 1.1, 5), 10: (0.95, 1.05, 10)}[d]
        hidden, bound = {1: (1.7, 2.0), 3: (1.4, 2.3), 10: (1.2, 2.6)}[d]
        bias_wave, spread_wave = {1: (0.5, 0.45), 3: (0.6, 0.3), 10: (0.6, 0.25)}[d]
        gaussian: list[tuple[str, float, str]] = [
            ("none", 0.0, "none"),
            ("location", 0.2, "bias"),
            ("scale", narrow, "over-confidence"),
            ("scale", wide, "under-confidence"),
            ("shrinkage", 0.9, "dependence"),
            ("location by x", 0.3, "dependence"),
            ("scale by x", 0.8, "dependence"),
            ("tails", fewer, "shape"),
            ("skew", 4.0, "shape"),
            ("outliers", 8.0, "outliers"),
            ("hidden wide", hidden, "over-confidence"),
            ("truncation", bound, "under-confidence"),
            ("bias wave", bias_wave, "dependence"),
            ("spread wave", spread_wave, "dependence"),
        ]
        if d > 1:
            gaussian += [
                ("one location", 0.25, "bias"),
                ("one scale", 0.8, "over-confidence"),
                ("correlation", 0.3, "correlation"),
                ("one pair", {3: 0.2, 10: 0.25}[d], "correlation"),
                ("outliers", {3: 3.0, 10: 2.0}[d], "outliers"),
            ]
        rows += [
            Situation(
                f"{flaw} {size:g}" if flaw != "none" else flaw,
                d,
                kind,
                partial(flawed, dim=d, flaw=flaw, size=size),
                partial(oracle, flaw=flaw, size=size) if flaw != "none" else None,
            )
            for flaw, size, kind in gaussian
        ]
        rows += [
            Situation(
                name,
                d,
                kind,
                partial(draw, dim=d, **options),
                partial(ideals[draw], **options) if kind != "none" else None,
            )
            for name, kind, draw, options in (
                ("modes, none", "none", modes, {}),
                ("modes, weight 0.7", "modes", modes, {"weight": 0.7}),
                ("far modes, none", "none", modes, {"separation": 10.0}),
                (f"far modes, scale {narrow:g}", "over-confidence", modes, {"separation": 10.0, "scale": narrow}),
                ("bounded, none", "none", bounded, {"flaw": "none"}),
                ("bounded, location 0.2", "bias", bounded, {"flaw": "location", "size": 0.2}),
                (f"bounded, scale {narrow:g}", "over-confidence", bounded, {"flaw": "scale", "size": narrow}),
                ("skewed, none", "none", skewed, {"flaw": "none"}),
                ("skewed, location 0.2", "bias", skewed, {"flaw": "location", "size": 0.2}),
                (f"skewed, scale {narrow:g}", "over-confidence", skewed, {"flaw": "scale", "size": narrow}),
            )
        ]
    return rows


def _fitted(predictions: Any, y: Any, rng: Any) -> Any:
    """Result of `calibration_test` from the scores alone."""
    support = getattr(predictions, "support", None)
    blind = ScoreFunction(predictions.score, predictions.n, predictions.dim, support=support)
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", ".*scores that do not point back")  # two modes
        return calibration_test(blind, y, n_resamples=N_OURS, null="signs", rng=rng)


OURS = Test("calibration_test", partial(calibration_test, n_resamples=N_OURS))
FITTED = Test("fitted", _fitted)
PAPER = Test("kccsd_test", partial(kccsd_test, n_resamples=N_RESAMPLES))
SKCE_TEST = Test("skce_test", partial(skce_test, n_resamples=N_RESAMPLES))
OTHERS = [Test("SBC", peers.sbc), Test("TARP", peers.tarp), Test("coverage", peers.coverage)]
SIMPLE = [
    Test("distances", checks.distances),
    Test("Jarque-Bera", checks.jarque_bera),
    Test("Anderson-Darling", checks.anderson_darling),
    Test("Neyman", checks.neyman),
    Test("regression", checks.regression),
]
CORRELATION = Test("largest correlation", checks.largest_correlation)  # for d > 1
SINGLE = [PAPER, *OTHERS, *SIMPLE, CORRELATION]  # each looks for one thing, or is one view
ALL = [OURS, FITTED, PAPER, SKCE_TEST, *OTHERS, *SIMPLE, CORRELATION]
ORACLE = "oracle"  # a test of its own for each row


def null_cells_of(rows: Sequence[Situation], sizes: Sequence[int]) -> list[Cell]:
    """Cells of calibrated predictions, with moments known and fitted."""
    return grid([row.model for row in rows if row.calibrated], [OURS, FITTED], sizes)


def cells_of(rows: Sequence[Situation], sizes: Sequence[int]) -> list[Cell]:
    """Cells of all tests on all rows, without fitted moments; SKCE only where it is in closed form and fast enough."""
    cells = grid([row.model for row in rows], [OURS, PAPER, *OTHERS, *SIMPLE], sizes)
    cells += grid([row.model for row in rows if row.dim > 1], [CORRELATION], sizes)
    for row in rows:
        if row.ideal is not None:
            cells += grid([row.model], [Test(f"{ORACLE}: {row.model.name}", row.ideal)], sizes)
    closed = [row for row in rows if not row.name.startswith(("bounded", "skewed"))]
    return cells + [Cell(row.model, n, SKCE_TEST) for row in closed for n in sizes if n <= _MOST_FOR_SKCE[row.dim]]


def column_of(test: str) -> str:
    """Return the column of the tables that a test's results belong to: all oracles share one."""
    return ORACLE if test.startswith(ORACLE) else test
