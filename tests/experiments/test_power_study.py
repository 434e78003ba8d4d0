"""The power study: its predictions, the tests of others, and what it writes."""

import csv

import numpy as np
import pytest
from scipy import stats

import scorecal as sc
from scorecal.experiments import bounded, flawed, modes, skewed
from scorecal.experiments.power import grid as grid
from scorecal.experiments.power import peers
from scorecal.experiments.power.rates import STRICT, against_single_checks, rates_of
from scorecal.experiments.power.study import power_study
from scorecal.experiments.power.summary import summary
from scorecal.experiments.power.tables import as_csv, from_csv
from scorecal.experiments.shapes import Gumbel, LogitNormal


def test_gumbel_is_that_of_scipy():
    rng = np.random.default_rng(0)
    mean, std, y = rng.normal(size=(20, 2)), np.exp(rng.normal(size=(20, 2))), rng.normal(size=(20, 2))
    predictions = Gumbel(mean, std)
    scale = std * np.sqrt(6.0) / np.pi
    theirs = stats.gumbel_r(mean - np.euler_gamma * scale, scale)
    np.testing.assert_allclose(predictions.log_prob(y), theirs.logpdf(y).sum(axis=1))
    np.testing.assert_allclose(predictions.cdf(y), theirs.cdf(y))
    np.testing.assert_allclose(predictions.moments()[0], theirs.mean())
    np.testing.assert_allclose(np.diagonal(predictions.moments()[1], axis1=1, axis2=2), theirs.var())
    draws = predictions.sample(20_000, rng=1)
    np.testing.assert_allclose(draws.mean(axis=0), mean, atol=5 * std.max() / 140)


@pytest.mark.parametrize("make", [lambda: skewed(5, 2, "none", rng=0), lambda: bounded(5, 2, "none", rng=0)])
def test_scores_are_derivatives(make):
    predictions, y = make()
    step = 1e-6
    for a in range(2):
        shift = step * np.eye(2)[a]
        slope = (predictions.log_prob(y + shift) - predictions.log_prob(y - shift)) / (2 * step)
        np.testing.assert_allclose(predictions.score(y)[:, a], slope, rtol=1e-6)


@pytest.mark.parametrize("peer", [peers.sbc, peers.tarp, peers.coverage])
@pytest.mark.parametrize(
    "draw",
    [
        lambda seed: flawed(50, 2, "none", rng=seed),
        lambda seed: modes(50, 2, rng=seed),
        lambda seed: bounded(50, 2, "none", rng=seed),
        lambda seed: skewed(50, 2, "none", rng=seed),
    ],
    ids=["gaussian", "modes", "bounded", "skewed"],
)
def test_level_of_the_tests_of_others(peer, draw):
    """150 data sets: 17 or fewer rejections in 99.9 % of such studies (SBC's bound makes it reject less often)."""
    pvalues = [peer(*draw(seed), seed) for seed in range(150)]
    assert sum(p <= 0.05 for p in pvalues) <= 17
    assert stats.kstest(pvalues, "uniform", alternative="greater").pvalue > 1e-3


def test_power_of_the_tests_of_others():
    """What each is known to see."""
    predictions, y = flawed(400, 2, "scale", 0.7, rng=0)
    assert peers.coverage(predictions, y, 0) < 1e-6
    predictions, y = flawed(400, 2, "location", 0.5, rng=0)
    assert peers.sbc(predictions, y, 0) < 1e-6
    predictions, y = flawed(400, 2, "location by x", 0.8, rng=0)
    assert peers.tarp(predictions, y, 0) < 1e-3


def test_study_of_a_few_repetitions(tmp_path):
    """Every cell is run, also where the study is taken up again."""
    lines = power_study(tmp_path, repeats=1, null_repeats=2, workers=1, sizes=(20,))
    rows = list(csv.DictReader((tmp_path / "power.csv").read_text().splitlines()))
    situations = grid.situations()
    assert {(row["flaw"], int(row["d"])) for row in rows} == {(s.name, s.dim) for s in situations}
    assert {row["level"] for row in rows} == {"0.05", "0.01"}
    at_level = [row for row in rows if row["level"] == "0.05"]
    by_test = {test: [r for r in at_level if r["test"] == test] for test in [*(t.name for t in grid.ALL), grid.ORACLE]}
    assert len(by_test["calibration_test"]) == len(by_test["SBC"]) == len(by_test["distances"]) == len(situations)
    assert {r["d"] for r in by_test["largest correlation"]} == {"3", "10"}
    ideal = {(row.name, str(row.dim)) for row in situations if row.ideal is not None}
    assert {(r["flaw"], r["d"]) for r in by_test["oracle"]} == ideal
    calibrated = {row.name for row in situations if row.calibrated}
    assert {r["flaw"] for r in by_test["fitted"]} == calibrated
    assert {r["repetitions"] for r in by_test["fitted"]} == {"2"}
    text = (tmp_path / "power.md").read_text()
    n_flawed = sum(not row.calibrated for row in situations)
    assert text.count("\n|") == len(situations) + n_flawed + 4
    assert "Not complete" not in text
    before = (tmp_path / "power.csv").read_text()
    assert power_study(tmp_path, repeats=1, null_repeats=2, workers=1, sizes=(20,)) == lines
    assert (tmp_path / "power.csv").read_text() == before


def pvalues_of_all(flawed):
    """100 data sets a cell at n = 200, all with p = 0.5 where calibrated, and of the size given otherwise."""
    tests = [grid.OURS, *grid.SINGLE]
    rows = grid.situations()
    return {
        (row.model.name, 200, k, test.name): 0.5 if row.calibrated else flawed
        for row in rows
        for k in range(100)
        for test in tests
        if row.dim > 1 or test is not grid.CORRELATION
    }


@pytest.fixture
def shifted():
    return next(row for row in grid.situations() if row.name == "location 0.2" and row.dim == 1)


def test_shortfalls_are_found(shifted):
    null = next(row for row in grid.situations() if row.name == "none" and row.dim == 1)
    pvalues = pvalues_of_all(0.01)
    assert "No cell falls short" in summary(rates_of(pvalues), (200,))
    for k in range(40):
        pvalues[shifted.model.name, 200, k, "calibration_test"] = 0.5
        pvalues[null.model.name, 200, k, "calibration_test"] = 0.01
    found = summary(rates_of(pvalues), (200,))
    assert "location 0.2, d = 1, n = 200: 0.600, the best of the others 1.000" in found
    assert "none, d = 1, n = 200: level of calibration_test 0.400" in found
    assert "at most 40.0 %" in found
    assert "at worst 40.0 points less often" in found


def test_our_test_at_05_stands_beside_the_best_single_check_at_01(shifted):
    pvalues = pvalues_of_all(0.02)  # rejected at .05, not at .01
    n_flawed = sum(not row.calibrated for row in grid.situations())
    assert f"In {n_flawed} of {n_flawed} cells with a flaw" in summary(rates_of(pvalues), (200,))
    for k in range(100):
        pvalues[shifted.model.name, 200, k, "Neyman"] = 0.001 if k < 60 else 0.5
        pvalues[shifted.model.name, 200, k, "calibration_test"] = 0.04 if k < 50 else 0.06
    found = against_single_checks(rates_of(pvalues), shifted, 200)
    assert (found.ours, found.best, found.name) == (0.5, 0.6, "Neyman")
    assert found.error == pytest.approx((0.25 / 100 + 0.24 / 100) ** 0.5)  # 0.07
    assert not found.falls_short
    for k in range(35, 50):
        pvalues[shifted.model.name, 200, k, "calibration_test"] = 0.06
    text = summary(rates_of(pvalues), (200,))
    assert f"In {n_flawed - 1} of {n_flawed} cells with a flaw" in text
    assert "location 0.2, d = 1, n = 200: 0.350, Neyman 0.600" in text


def test_results_of_all_oracles_are_one_column(shifted):
    rates = rates_of({(shifted.model.name, 200, 0, f"oracle: {shifted.model.name}"): 0.03})
    cell = shifted.model.name, 200, "oracle"
    assert rates == {0.05: {cell: (1, 1)}, STRICT: {cell: (0, 1)}}


def test_cells_that_were_not_run_are_counted():
    wanted = {(c.model.name, c.test.name) for c in grid.cells_of(grid.situations(), [200])}
    wanted |= {(c.model.name, c.test.name) for c in grid.null_cells_of(grid.situations(), [200])}
    rates = rates_of(pvalues_of_all(0.01))
    rates[STRICT].clear()
    missing = len(wanted) - len(rates[0.05])
    expected = (
        f"of {len(wanted)} cells, {missing} have no results at level 0.05 yet, and {len(wanted)} none at level 0.01"
    )
    assert expected in summary(rates, (200,))


def test_csv_is_read_as_it_was_written():
    rates = rates_of(pvalues_of_all(0.02))
    assert from_csv(as_csv(rates, (200,))) == rates


def test_logit_normal_is_gaussian_in_its_logits():
    predictions, y = bounded(200, 1, "none", rng=0)
    assert isinstance(predictions, LogitNormal)
    again = sc.calibration_test(predictions.logits, np.log(y / (1 - y)), null="signs", rng=0)
    bias = {view.name: view.statistic for view in again.views}["bias"]
    found = {view.name: view.statistic for view in sc.calibration_test(predictions, y, null="signs", rng=0).views}[
        "bias"
    ]
    assert found == pytest.approx(bias, rel=1e-6)
