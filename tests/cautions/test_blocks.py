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


@pytest.mark.parametrize("horizon", [2, 3])
def test_horizons_that_are_a_little_too_small(horizon):
    assert share(lambda rng: autoregression(1200, 6, 0.8, rng), 40, horizon=horizon) >= 0.95
    words = said(*autoregression(1200, 6, 0.8, np.random.default_rng(0))[:3], {"horizon": horizon})
    assert words.startswith("Rows ")
    assert f"which errors of forecasts {horizon} rows ahead are not" in words


def test_several_series_that_are_taken_for_one():
    """Rows of three stations in turn, without `groups`."""

    def in_turn(rng):
        parts = [autoregression(400, 6, 0.8, rng) for _ in range(3)]
        return *(np.stack([part[k] for part in parts], axis=1).reshape(1200, -1) for k in range(3)), {"horizon": 6}

    assert share(in_turn, 40) >= 0.95
    assert "give `groups=` as well" in said(*in_turn(np.random.default_rng(0)))


def test_a_bias_in_a_part_of_the_rows_is_no_correlation_of_rows():
    rng = np.random.default_rng(0)
    errors = rng.normal(size=(1200, 1)) + (np.arange(1200) > 600)[:, None]
    assert "Rows" not in (said(np.zeros((1200, 1)), np.ones((1200, 1)), errors, {"horizon": 3}) or "")[:4]


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
