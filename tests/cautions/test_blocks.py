"""Blocks of rows that are correlated: seen where the horizon is too small, and not where it is right."""

import numpy as np
import pytest
from dependent_rows import autoregression, stations

import scorecal as sc
from scorecal.cautions import rows_of
from scorecal.cautions.blocks import correlated_blocks
from scorecal.resampling.clusters import clusters_of


def said(mean, sd, errors, arguments):
    rows = rows_of(sc.Gaussian(mean, sd), mean + sd * errors, None)
    return correlated_blocks(rows, clusters_of(arguments.get("groups"), arguments.get("horizon"), len(mean)))


def share(make, n_sets, **changes):
    found = 0
    for seed in range(n_sets):
        mean, sd, errors, arguments = make(np.random.default_rng(seed))
        found += said(mean, sd, errors, {**arguments, **changes}) is not None
    return found / n_sets


@pytest.mark.parametrize("n_sets", [100, pytest.param(10_000, marks=pytest.mark.slow)])
@pytest.mark.parametrize(
    "make",
    [
        lambda rng: autoregression(400, 2, 0.8, rng),
        lambda rng: autoregression(1000, 6, 0.8, rng),
        lambda rng: autoregression(1000, 6, 0.98, rng),
        lambda rng: stations(400, 5, 2, rng),
    ],
)
def test_horizons_that_are_right_say_nothing(make, n_sets):
    assert share(make, n_sets) <= 1e-3


def test_horizons_that_are_too_small():
    assert share(lambda rng: autoregression(1000, 24, 0.95, rng), 40, horizon=2) >= 0.95
    words = said(*autoregression(1000, 24, 0.95, np.random.default_rng(0))[:3], {"horizon": 2})
    assert words.startswith("Blocks of rows that follow each other are correlated (0.")


def test_blocks_of_different_series_do_not_follow_each_other():
    """Series of one block each, whose levels go up from one to the next."""
    level = np.repeat(np.arange(40.0), 8)
    labels = np.repeat(np.arange(40), 8)
    assert said(np.zeros(320), np.ones(320), level, {"groups": labels, "horizon": 2}) is None
    assert said(np.zeros(320), np.ones(320), level, {"horizon": 2}) is not None


def test_the_result_has_the_warning():
    mean, sd, errors, _ = autoregression(1000, 24, 0.95, np.random.default_rng(0))
    result = sc.kccsd_test(sc.Gaussian(mean, sd), mean + sd * errors, horizon=2, n_resamples=19, rng=0)
    assert any("for longer than the given `horizon`" in line for line in result.warnings)
