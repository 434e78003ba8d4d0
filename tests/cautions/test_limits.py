"""Rounded targets and few rows."""

import numpy as np
import pytest

import scorecal as sc
from scorecal.cautions import rows_of
from scorecal.cautions.limits import few_rows, grid_step, rounded_targets


@pytest.mark.parametrize(
    ("step", "words"),
    [(1.0, "whole numbers, in steps of 1 (0.5 predicted sd)"), (0.25, "rounded to steps of 0.25 (0.12"), (0.1, None)],
)
def test_steps_of_targets(step, words):
    rng = np.random.default_rng(0)
    mean = rng.normal(size=(300, 1))
    y = step * np.round((mean + 2.0 * rng.normal(size=(300, 1))) / step)
    found = rounded_targets(rows_of(sc.Gaussian(mean, 2.0), y, None))
    assert found is None if words is None else words in found


def test_one_of_two_dimensions_and_scores_only():
    rng = np.random.default_rng(0)
    mean = rng.normal(size=(300, 2))
    y = mean + rng.normal(size=(300, 2))
    y[:, 1] = np.round(y[:, 1], 0)
    predictions = sc.Gaussian(mean, 1.0)
    for given in (predictions, sc.ScoreFunction(predictions.score, 300, 2)):
        assert "rounded to steps of 1 (" in sc.kccsd_test(given, y, n_resamples=19, rng=0).warnings[0]


@pytest.mark.parametrize(("sd", "error", "told"), [(0.1, 2.0, False), (0.1, 0.1, True), (2.0, 2.0, True)])
def test_steps_that_are_small_beside_the_errors(sd, error, told):
    """Predictions that are much too narrow, and targets whose errors are mostly rounding."""
    rng = np.random.default_rng(0)
    mean = 5.0 * rng.normal(size=(300, 1))
    y = mean + error * rng.normal(size=(300, 1))
    y = np.round(y / 0.15) * 0.15 if not told else np.round(y)
    assert (rounded_targets(rows_of(sc.Gaussian(mean, sd), y, None)) is not None) == told


def test_large_whole_numbers_are_fine():
    rng = np.random.default_rng(0)
    mean = 1e5 * rng.random((300, 1))
    assert (
        rounded_targets(rows_of(sc.Gaussian(mean, 100.0), np.round(mean + 100 * rng.normal(size=(300, 1))), None))
        is None
    )


@pytest.mark.parametrize(
    ("values", "step"),
    [
        ([0.2, 0.5, 0.9, 1.4], 0.1),  # no two of them one step apart
        ([1e6 + 0.3, 1e6 + 0.6, 1e6 + 1.2], 0.3),
        ([0.0, 0.0, 0.0, 0.0, 1.0], 1.0),
        ([0.0, 1.0], None),  # two numbers always have a step
        ([0.0, 1.0, np.pi], None),
        ([3.0, 3.0, 3.0], None),
    ],
)
def test_grid_step(values, step):
    found = grid_step(np.array(values), 0.01)
    assert found is None if step is None else found == pytest.approx(step, rel=1e-6)


def test_continuous_targets_have_no_step():
    rng = np.random.default_rng(0)
    assert all(grid_step(rng.normal(size=n), 0.01) is None for n in (3, 10, 50) for _ in range(500))


@pytest.mark.parametrize(
    ("n", "null", "can_draw", "cure"),
    [
        (49, "signs", True, '`null="simulate"`'),
        (49, "signs", False, "use 50 or more"),
        (49, "student-t", False, "use 50 or more"),
        (49, "simulate", True, None),
        (50, "signs", True, None),
    ],
)
def test_few_rows(n, null, can_draw, cure):
    found = few_rows(n, null, can_draw)
    assert found is None if cure is None else cure in found


def test_what_the_warning_of_rounded_targets_advises_is_right():
    """Uniform noise one step wide, added to rounded targets, adds step^2 / 6 to their variance."""
    rng, step = np.random.default_rng(0), 0.5
    rounded = step * np.round(rng.normal(size=10**6) / step)
    noisy = rounded + step * rng.uniform(-0.5, 0.5, size=10**6)
    assert np.var(noisy) == pytest.approx(1.0 + step**2 / 6.0, abs=4.0 * (2.0 / 10**6) ** 0.5)
