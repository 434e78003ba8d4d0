"""The power study: its predictions, the tests of others, and what it writes."""

import csv

import numpy as np
import pytest
from scipy import stats

import scorecal as sc
from scorecal.experiments import bounded, flawed, modes, skewed
from scorecal.experiments.power import grid as grid
from scorecal.experiments.power import peers
from scorecal.experiments.power.study import power_study, summary
from scorecal.experiments.shapes import Gumbel, LogitNormal
from scorecal.experiments.sweep.rates import rejection_rates


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
    lines = power_study(tmp_path, repeats=1, null_repeats=2, workers=2, sizes=(20,))
    rows = list(csv.DictReader((tmp_path / "power.csv").read_text().splitlines()))
    situations = grid.situations()
    assert {(row["flaw"], int(row["d"])) for row in rows} == {(s.name, s.dim) for s in situations}
    by_test = {test.name: [r for r in rows if r["test"] == test.name] for test in grid.ALL}
    assert len(by_test["calibration_test"]) == len(by_test["SBC"]) == len(situations)
    calibrated = {row.name for row in situations if row.calibrated}
    assert {r["flaw"] for r in by_test["fitted"]} == calibrated
    assert {r["repetitions"] for r in by_test["fitted"]} == {"2"}
    assert (tmp_path / "power.md").read_text().count("\n|") == len(situations) + 2
    before = (tmp_path / "power.csv").read_text()
    assert power_study(tmp_path, repeats=1, null_repeats=2, workers=1, sizes=(20,)) == lines
    assert (tmp_path / "power.csv").read_text() == before


def test_shortfalls_are_found():
    row = next(row for row in grid.situations() if row.name == "location 0.2" and row.dim == 1)
    null = next(row for row in grid.situations() if row.name == "none" and row.dim == 1)
    pvalues = {}
    for other in grid.situations():
        for k in range(100):
            for test in [grid.OURS, *grid.OTHERS]:
                pvalues[other.model.name, 200, k, test.name] = 0.5 if other.calibrated else 0.01
    assert "No cell falls short" in summary(rejection_rates(pvalues), (200,))
    for k in range(40):
        pvalues[row.model.name, 200, k, "calibration_test"] = 0.5
        pvalues[null.model.name, 200, k, "calibration_test"] = 0.01
    found = summary(rejection_rates(pvalues), (200,))
    assert "location 0.2, d = 1, n = 200: 0.600, the best of the others 1.000" in found
    assert "none, d = 1, n = 200: level of calibration_test 0.400" in found
    assert "at most 40.0 %" in found
    assert "at worst 40.0 points less often" in found


def test_logit_normal_is_gaussian_in_its_logits():
    predictions, y = bounded(200, 1, "none", rng=0)
    assert isinstance(predictions, LogitNormal)
    again = sc.calibration_test(predictions.logits, np.log(y / (1 - y)), rng=0)
    bias = {view.name: view.statistic for view in again.views}["bias"]
    found = {view.name: view.statistic for view in sc.calibration_test(predictions, y, rng=0).views}["bias"]
    assert found == pytest.approx(bias, rel=1e-6)
