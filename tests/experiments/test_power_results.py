"""The power study that is kept in the repository: what it must show, and that this code is what it was run with."""

import csv
from pathlib import Path

import pytest

from scorecal.experiments.power.grid import SIZES, cells_of, column_of, null_cells_of, situations
from scorecal.experiments.power.rates import against_single_checks
from scorecal.experiments.power.summary import summary
from scorecal.experiments.power.tables import as_csv, as_markdown, from_csv
from scorecal.experiments.sweep.sweep import Task, run_task

REPEATS, NULL_REPEATS = 100, 250
FOLDER = Path(__file__).parents[2] / "docs" / "power"


def read(name):
    with open(FOLDER / name, newline="") as file:
        return list(csv.DictReader(file))


@pytest.fixture(scope="module")
def rates():
    return from_csv((FOLDER / "power.csv").read_text())


@pytest.fixture(scope="module")
def wanted():
    """Repetitions of every cell of the grid."""
    cells = {(c.model.name, c.n, column_of(c.test.name)): REPEATS for c in cells_of(situations(), SIZES)}
    return cells | {(c.model.name, c.n, c.test.name): NULL_REPEATS for c in null_cells_of(situations(), SIZES)}


def test_every_cell_is_there(rates, wanted):
    for found in rates.values():
        assert {cell: repetitions for cell, (_, repetitions) in found.items()} == wanted


def test_level_in_every_calibrated_cell(rates):
    """Of 250 data sets 12.5 are rejected on average, and 25 or more in one of 90 cells in one of 20 studies."""
    null = [(c.model.name, c.n, c.test.name) for c in null_cells_of(situations(), SIZES)]
    assert len(null) == 90
    rejections = [rates[0.05][cell][0] for cell in null]
    assert max(rejections) <= 25
    assert 0.04 < sum(rejections) / (90 * NULL_REPEATS) < 0.06


def test_no_cell_is_short_of_the_best_single_check(rates):
    """That is run at level .01, as one of many checks must be, and ours at .05."""
    flawed = [(row, n) for row in situations() if not row.calibrated for n in SIZES]
    short = [row.model.name for row, n in flawed if against_single_checks(rates, row, n).falls_short]
    assert short == []


def test_tables_are_those_of_the_rates(rates):
    assert as_csv(rates, SIZES) == (FOLDER / "power.csv").read_text()
    assert as_markdown(rates, SIZES) == (FOLDER / "power.md").read_text()
    assert summary(rates, SIZES) in (FOLDER / "power.md").read_text()


@pytest.mark.parametrize("flaw", ["scale 0.9", "modes, weight 0.7", "bounded, none", "skewed, location 0.2"])
def test_this_code_gives_the_p_values_of_the_study(flaw):
    """Of its first data sets, in three dimensions with n = 100."""
    rows = [r for r in read("first.csv") if (r["flaw"], r["d"], r["n"]) == (flaw, "3", "100")]
    recorded = {r["test"]: float(r["pvalue"]) for r in rows}
    row = next(row for row in situations() if (row.name, row.dim) == (flaw, 3))
    cells = [*cells_of([row], [100]), *null_cells_of([row], [100])]
    tests = {c.test.name: c.test for c in cells if c.test.name != "skce_test"}.values()
    for (*_, test), pvalue in run_task(Task(row.model, 100, 0, tuple(tests)), 0, 499):
        assert pvalue == pytest.approx(recorded.pop(column_of(test)), abs=1e-6)
    assert not recorded.keys() - {"skce_test"}
