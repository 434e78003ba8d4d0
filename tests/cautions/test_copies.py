"""Copies of rows, and targets of one prediction that lie close together."""

import dependence_warnings as study
import numpy as np
import pytest

import scorecal as sc
from scorecal.cautions import rows_of
from scorecal.cautions.copies import close_targets, exact_copies


def rows(mean, y, sd=1.0):
    return rows_of(sc.Gaussian(mean, sd), y, None)


@pytest.fixture
def data():
    rng = np.random.default_rng(0)
    mean = rng.normal(size=(200, 2))
    return mean, mean + rng.normal(size=(200, 2))


def test_copies_are_counted(data):
    mean, y = data
    assert exact_copies(rows(mean, y)) is None
    again = np.r_[np.arange(200), [3, 3, 7]]
    assert exact_copies(rows(mean[again], y[again])).startswith("3 of 203 rows are exact copies of others")


def test_copies_of_rounded_targets(data):
    """A file twice, with whole numbers as targets; the same targets for different predictions are no copies."""
    mean, y = data[0][:, :1], np.round(data[1][:, :1])
    assert exact_copies(rows(mean, y)) is None
    assert exact_copies(rows(np.tile(mean, (2, 1)), np.tile(y, (2, 1)))).startswith("200 of 400")


@pytest.mark.parametrize("digits", [0, 1, 3])
def test_equal_targets_by_rounding_are_no_copies(digits):
    rng = np.random.default_rng(0)
    y = np.round(rng.normal(size=(1000, 1)), digits)
    assert len(np.unique(y)) < 1000
    assert exact_copies(rows(np.zeros((1000, 1)), y)) is None


def test_equal_targets_in_float32_are_no_copies():
    y = np.random.default_rng(0).normal(size=(20_000, 1)).astype(np.float32)
    assert len(np.unique(y)) < len(y)
    zero = np.zeros((20_000, 1), np.float32)
    assert exact_copies(rows_of(sc.Gaussian(zero, np.float32(1.0)), y, None)) is None


def test_copies_of_predictions_that_have_scores_only(data):
    again = np.r_[np.arange(200), [3, 4]]
    mean, y = data[0][again], data[1][again]
    blind = sc.ScoreFunction(sc.Gaussian(mean, 1.0).score, 202, 2)
    assert sc.kccsd_test(blind, y, n_resamples=19, rng=0).warnings[0].startswith("2 of 202 rows")


def close_share(draw, n_sets):
    rng, found = np.random.default_rng(0), 0
    for _ in range(n_sets):
        mean, sd, y = draw(rng)
        found += close_targets(rows_of(sc.Gaussian(mean, sd), y, None)) is not None
    return found / n_sets


def test_close_targets_of_one_prediction():
    """40 predictions, each for five targets with intraclass correlation .5, in random order."""
    assert close_share(lambda rng: study.clusters(200, 5, 0.5, rng, one_prediction=True), 40) >= 0.75


@pytest.mark.parametrize("name", [name for name in study.false_alarms() if "predictions" in name or "counts" in name])
def test_no_close_targets_among_independent_rows(name):
    assert close_share(study.false_alarms()[name], 30) == 0.0


@pytest.mark.parametrize("factor", [1.0, 2.0])
def test_predictions_that_are_too_wide_have_no_close_targets(factor):
    rng = np.random.default_rng(0)
    mean = np.repeat(rng.normal(size=(50, 1)), 8, axis=0)
    assert close_targets(rows(mean, mean + rng.normal(size=(400, 1)), factor)) is None


@pytest.mark.slow
@pytest.mark.parametrize("name", study.false_alarms())
def test_at_most_one_false_alarm_in_a_thousand(name):
    assert close_share(study.false_alarms()[name], 20_000) <= 1e-3
