"""Level of `kccsd_test` with its defaults. Power, and the authors' own counts: test_reproduce.py."""

import numpy as np
import pytest
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
