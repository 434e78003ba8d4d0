"""The power study: rejection rates over a grid of flaws, for our tests and for those that users have today."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from .._calibration_test import calibration_test
from .._kccsd import kccsd_test
from .._skce import skce_test
from ..predictions import ScoreFunction
from . import peers
from .dataset import Model
from .flaws import bounded, flawed, modes, skewed
from .rates import rejection_rates
from .store import Key
from .sweep import Cell, grid, sweep
from .tests import Test

__all__ = ["SIZES", "Situation", "power_study", "situations"]

DIMENSIONS, SIZES = (1, 3, 10), (100, 200, 1000)
N_RESAMPLES = 499
_MOST_FOR_SKCE = {1: 200, 3: 100, 10: 0}  # n: it solves a linear system for each pair of predictions


@dataclass(frozen=True)
class Situation:
    """One row of the table: a flaw in one dimension. `kind` is what `calibration_test` should call it."""

    name: str
    dim: int
    kind: str
    draw: Callable[..., tuple[Any, Any]]

    @property
    def calibrated(self) -> bool:
        return self.kind == "none"

    @property
    def model(self) -> Model:
        return Model(f"{self.name}, d = {self.dim}", self.draw)


def situations() -> list[Situation]:
    """The grid. Sizes are such that the best of the other tests rejects in about half to nine tenths at n = 200."""
    rows = []
    for d in DIMENSIONS:
        narrow, wide, fewer = {1: (0.85, 1.2, 5), 3: (0.9, 1.1, 5), 10: (0.95, 1.05, 10)}[d]
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
        ]
        if d > 1:
            gaussian += [
                ("one location", 0.25, "bias"),
                ("one scale", 0.8, "over-confidence"),
                ("correlation", 0.3, "correlation"),
            ]
        rows += [
            Situation(
                f"{flaw} {size:g}" if flaw != "none" else flaw, d, kind, partial(flawed, dim=d, flaw=flaw, size=size)
            )
            for flaw, size, kind in gaussian
        ]
        rows += [
            Situation(name, d, kind, partial(draw, dim=d, **options))
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
    """The same test, told nothing of the predictions but their scores."""
    support = getattr(predictions, "support", None)
    blind = ScoreFunction(predictions.score, predictions.n, predictions.dim, support=support)
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", ".*scores that do not point back")  # two modes
        return calibration_test(blind, y, n_resamples=N_RESAMPLES, rng=rng)


OURS = Test("calibration_test", partial(calibration_test, n_resamples=N_RESAMPLES))
FITTED = Test("fitted", _fitted)
PAPER = Test("kccsd_test", partial(kccsd_test, n_resamples=N_RESAMPLES))
SKCE_TEST = Test("skce_test", partial(skce_test, n_resamples=N_RESAMPLES))
OTHERS = [Test("SBC", peers.sbc), Test("TARP", peers.tarp), Test("coverage", peers.coverage)]
ALL = [OURS, FITTED, PAPER, SKCE_TEST, *OTHERS]


def null_cells_of(rows: Sequence[Situation], sizes: Sequence[int]) -> list[Cell]:
    """Calibrated predictions, with moments known and fitted; of far modes, scores do not tell the moments."""
    calibrated = [row for row in rows if row.calibrated]
    near = [row.model for row in calibrated if not row.name.startswith("far modes")]
    return grid([row.model for row in calibrated], [OURS], sizes) + grid(near, [FITTED], sizes)


def cells_of(rows: Sequence[Situation], sizes: Sequence[int]) -> list[Cell]:
    """Every test on every row; SKCE where it has a closed form and does not take too long."""
    cells = grid([row.model for row in rows], [OURS, PAPER, *OTHERS], sizes)
    closed = [row for row in rows if not row.name.startswith(("bounded", "skewed"))]
    return cells + [Cell(row.model, n, SKCE_TEST) for row in closed for n in sizes if n <= _MOST_FOR_SKCE[row.dim]]


def power_study(
    folder: Path, *, repeats: int = 400, null_repeats: int = 2000, workers: int = -1, sizes: Sequence[int] = SIZES
) -> list[str]:
    """Run what is missing, write the tables, and say in lines what was done.

    On calibrated predictions `calibration_test` is run on `null_repeats` data sets, also with whitening fitted.
    """
    folder.mkdir(parents=True, exist_ok=True)
    rows, path = situations(), folder / "power.sqlite"
    found = sweep(
        null_cells_of(rows, sizes), null_repeats, path, n_resamples=N_RESAMPLES, workers=workers, what="level"
    )
    found |= sweep(cells_of(rows, sizes), repeats, path, n_resamples=N_RESAMPLES, workers=workers, what="power")
    (folder / "power.csv").write_text(as_csv(found, sizes))
    (folder / "power.md").write_text(as_markdown(found, sizes))
    return [f"{len(found)} tests: {folder / 'power.md'}, .csv, .sqlite", shortfalls(found, sizes)]


def shortfalls(pvalues: dict[Key, float], sizes: Sequence[int]) -> str:
    """Where `calibration_test` rejects calibrated predictions too often, or falls behind the best of the others."""
    rates = rejection_rates(pvalues)
    lines = []
    for row, n in ((row, n) for row in situations() for n in sizes):
        for test in (OURS, FITTED):
            rejections, repeats = rates.get((row.model.name, n, test.name), (0, 1))
            if row.calibrated and rejections > 0.065 * repeats:
                lines.append(f"{row.model.name}, n = {n}: {test.name} rejects {rejections} of {repeats}")
        if row.kind == "modes" and n >= 200:
            rejections, repeats = rates[row.model.name, n, OURS.name]
            if rejections < 0.8 * repeats:
                lines.append(f"{row.model.name}, n = {n}: {rejections} of {repeats}")
        if not row.calibrated and row.kind != "modes":
            ours, best = (
                max(rejections / repeats for rejections, repeats in (rates[row.model.name, n, t.name] for t in tests))
                for tests in ([OURS], OTHERS)
            )
            error = (best * (1.0 - best) / rates[row.model.name, n, OURS.name][1]) ** 0.5
            if ours < best - 0.05 - 2.0 * error:
                lines.append(f"{row.model.name}, n = {n}: {ours:.3f}, the best of the others {best:.3f}")
    return "\n".join(lines) or "Level and power are as they should be in every cell."


def as_csv(pvalues: dict[Key, float], sizes: Sequence[int]) -> str:
    rates = rejection_rates(pvalues)
    lines = ["flaw,d,n,test,rejections,repetitions"]
    for row, n, test in ((row, n, test) for row in situations() for n in sizes for test in ALL):
        if (row.model.name, n, test.name) in rates:
            rejections, repetitions = rates[row.model.name, n, test.name]
            lines.append(f'"{row.name}",{row.dim},{n},{test.name},{rejections},{repetitions}')
    return "\n".join(lines) + "\n"


def as_markdown(pvalues: dict[Key, float], sizes: Sequence[int]) -> str:
    """Rejections in percent."""
    rates = rejection_rates(pvalues)
    lines = [f"| flaw | d | n | {' | '.join(test.name for test in ALL)} |", f"|---|---|---|{'---|' * len(ALL)}"]
    for row, n in ((row, n) for row in situations() for n in sizes):
        found = [rates.get((row.model.name, n, test.name)) for test in ALL]
        shown = ["" if rate is None else f"{100 * rate[0] / rate[1]:.1f}" for rate in found]
        lines.append(f"| {row.name} | {row.dim} | {n} | {' | '.join(shown)} |")
    return "\n".join(lines) + "\n"
