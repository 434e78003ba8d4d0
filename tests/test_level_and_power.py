"""Level of `kccsd_test` with its defaults. Power, and the authors' own counts: test_reproduce.py."""

import numpy as np
import pytest
from dependent_rows import LEVEL, autoregression, clusters, rejections
from scipy import stats

import scorecal as sc

MODELS = {"mgm": sc.experiments.mgm, "lgm": sc.experiments.lgm}


def count_rejections(model, n):
    """Of 1000 calibrated data sets."""
    rejections = 0
    for repetition in range(1000):
        rng = np.random.default_rng([list(MODELS).index(model), n, repetition])
        predictions, y = MODELS[model](n, 0.0, rng=rng)
        rejections += sc.kccsd_test(predictions, y, n_resamples=500, rng=rng).rejects()
    return rejections


@pytest.mark.parametrize("model", ["mgm", "lgm"])
def test_level_of_small_samples(model):
    assert count_rejections(model, 64) <= 75


@pytest.mark.parametrize(
    ("model", "n"), [("mgm", 100), *(pytest.param(model, 256, marks=pytest.mark.slow) for model in MODELS)]
)
def test_level(model, n):
    low, high = stats.binom.ppf([0.005, 0.995], 1000, 0.05)
    assert low <= count_rejections(model, n) <= high


@pytest.mark.parametrize(
    "make",
    [lambda rng: clusters(200, 10, 0.3, rng), lambda rng: autoregression(200, 4, 0.8, rng)],
    ids=["groups", "overlapping forecasts"],
)
def test_level_of_rows_that_depend_on_each_other(make):
    """Of 400 calibrated data sets, by the test of bias, which takes no pairs: with and without what ties rows."""
    one = sc.kernels.Constant()
    told = untold = 0
    for seed in range(400):
        mean, sd, errors, arguments = make(np.random.default_rng(seed))
        predictions, y = sc.Gaussian(mean, sd), mean + sd * errors
        options = {"target_kernel": one, "distribution_kernel": one, "n_resamples": 199, "rng": seed}
        told += sc.kccsd_test(predictions, y, **arguments, **options).rejects()
        untold += sc.kccsd_test(predictions, y, **options).rejects()
    assert 8 <= told <= 34  # 99.9 % bands of .05 and .055
    assert untold >= 100


@pytest.mark.slow
@pytest.mark.parametrize("name", LEVEL)
def test_at_most_8_percent_of_rows_that_depend_on_each_other(name):
    assert rejections(LEVEL[name], "calibration_test", (0.0, 1.0), 1000, told=True) <= 80
