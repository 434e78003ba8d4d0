"""Serial correlation: seen where rows depend on their neighbours, and not where a file is sorted."""

import dependence_warnings as study
import numpy as np
import pytest

import scorecal as sc
from scorecal.cautions import rows_of
from scorecal.cautions.serial import serial_correlation


def warned(data):
    mean, sd, y = data
    return serial_correlation(rows_of(sc.Gaussian(mean, sd), y, None)) is not None


def share(draw, n_sets, seed=0):
    rng = np.random.default_rng(seed)
    return sum(warned(draw(rng)) for _ in range(n_sets)) / n_sets


@pytest.mark.parametrize("name", study.false_alarms())
def test_not_on_independent_rows(name):
    assert share(study.false_alarms()[name], 20) == 0.0


@pytest.mark.parametrize("h", [2, 6])
def test_overlapping_forecasts(h):
    assert share(lambda rng: study.overlapping(200, h, rng), 30) >= 0.95


def test_rows_of_one_patient_after_each_other():
    assert share(lambda rng: study.clusters(200, 5, 0.5, rng), 60) >= 0.75


def test_dependence_in_one_of_several_dimensions_and_between_distant_rows():
    rng = np.random.default_rng(0)
    noise = rng.normal(size=(400, 4))
    noise[:, 2] = study.overlapping(400, 6, rng)[2][:, 0]
    mean = rng.normal(size=(400, 4))
    assert warned((mean, np.ones((400, 4)), mean + noise))
    interleaved = np.stack([study.overlapping(100, 6, rng)[2][:, 0] for _ in range(4)], axis=1).reshape(-1, 1)
    mean = rng.normal(size=(400, 1))
    words = serial_correlation(rows_of(sc.Gaussian(mean, 1.0), mean + interleaved, None))
    assert words.startswith("Rows 4 apart are correlated (0.")


def test_one_prediction_for_all_rows():
    y = study.overlapping(200, 6, np.random.default_rng(0))[2]
    result = sc.ksd_test(sc.Gaussian([[0.0]], float(np.std(y))), y, rng=0)
    assert "`horizon=`" in result.warnings[0]
    assert "`groups=`" in result.warnings[0]


@pytest.mark.parametrize("column", ["targets", "errors", "means"])
@pytest.mark.parametrize("sign", [1, -1])
def test_sorted_files(column, sign):
    """Errors that depend on the mean in a way that no smooth curve follows."""
    rng = np.random.default_rng(1)
    mean = rng.normal(size=(300, 1))
    y = mean + 2.0 * np.sign(np.sin(25.0 * mean)) + 0.5 * rng.normal(size=(300, 1))
    by = {"targets": y, "errors": y - mean, "means": mean}[column]
    assert not warned(study.in_order((mean, np.ones((300, 1)), y), sign * by[:, 0]))


def test_fewer_than_twenty_rows_say_nothing():
    y = np.tile([[1.0], [-1.0]], (2, 9)).reshape(-1, 1)[:19]
    assert not warned((np.zeros((19, 1)), np.ones((19, 1)), y))


def test_errors_that_are_all_equal():
    rng = np.random.default_rng(0)
    mean = rng.integers(9, size=(60, 2)).astype(float)
    assert not warned((mean, np.ones((60, 2)), mean + 1.0))
    one = mean + np.stack([np.ones(60), rng.normal(size=60)], axis=1)
    assert not warned((mean, np.ones((60, 2)), one))


def test_the_cure_is_not_what_was_just_given():
    mean, sd, y = study.overlapping(200, 6, np.random.default_rng(0))
    predictions = sc.Gaussian(mean, sd)
    for given, cure in (({"horizon": 1}, "let `horizon` be"), ({"groups": np.arange(200)}, "give `horizon=`")):
        assert cure in sc.kccsd_test(predictions, y, n_resamples=19, rng=0, **given).warnings[0]


@pytest.mark.slow
@pytest.mark.parametrize("name", study.false_alarms())
def test_at_most_one_false_alarm_in_a_thousand(name):
    assert share(study.false_alarms()[name], 20_000, seed=1) <= (2e-3 if "roughly" in name else 1e-3)
