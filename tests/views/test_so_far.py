"""Traits of rows in time order: known when a forecast is made, whatever comes later."""

import numpy as np
import pytest
from backends import D, N

import scorecal as sc
from scorecal._lib.arrays import to_numpy
from scorecal.resampling.clusters import clusters_of
from scorecal.views.frame import ViewFrame, frame_of
from scorecal.views.so_far import mean_so_far

STATIONS = np.random.default_rng(4).integers(0, 3, size=N)


def one_step_forecasts(dim, seed=0, n=N):
    """Forecasts of a random walk far from the origin, with covariances that vary."""
    rng = np.random.default_rng(seed)
    root = np.eye(dim) + 0.4 * rng.normal(size=(n, dim, dim))
    steps = np.einsum("nab,nb->na", root, rng.normal(size=(n, dim)))
    y = 1e3 + np.cumsum(steps, axis=0)
    return y - steps, root @ np.swapaxes(root, 1, 2), y


def frame(mean, covariance, y, stations=None, array=np.asarray) -> ViewFrame:
    predictions = sc.Gaussian(array(mean), covariance=array(covariance))
    found = frame_of(predictions, array(y), 0.0)
    return ViewFrame(**{**vars(found), "clusters": clusters_of(stations, 1, len(y))})


@pytest.mark.parametrize("stations", [None, STATIONS], ids=["one series", "stations"])
@pytest.mark.parametrize("dim", [1, 3])
def test_traits_do_not_depend_on_later_rows(dim, stations):
    mean, covariance, y = one_step_forecasts(dim)
    known = 30
    whole = frame(mean, covariance, y, stations)
    part = frame(mean[:known], covariance[:known], y[:known], None if stations is None else stations[:known])
    np.testing.assert_allclose(whole.location[:known], part.location, atol=1e-9)
    np.testing.assert_allclose(whole.traits[:known], part.traits, atol=1e-9)
    np.testing.assert_allclose(whole.directions["marginal"][:known], part.directions["marginal"], atol=1e-9)
    some = slice(0, known)
    of_whole, of_part = (
        sc.views.Gain().combine(each.whitened[1][0, some], each, "whitened", some) for each in (whole, part)
    )
    np.testing.assert_allclose(of_whole, of_part, atol=1e-9)


def test_means_so_far_by_definition():
    values = np.random.default_rng(1).normal(size=(N, 2, 3))
    expected = [values[: i + 1][STATIONS[: i + 1] == STATIONS[i]].mean(axis=0) for i in range(N)]
    np.testing.assert_allclose(mean_so_far(values, STATIONS), expected)
    np.testing.assert_allclose(mean_so_far(values, None), [values[: i + 1].mean(axis=0) for i in range(N)])


def test_traits_are_those_of_the_rows_so_far():
    """In one dimension: distance from the mean of the locations so far, over the spread of draws from these."""
    mean, covariance, y = one_step_forecasts(1)
    found = frame(mean, covariance, y)
    for i in (0, 1, 17, N - 1):
        before = mean[: i + 1, 0]
        sd = np.sqrt(np.var(before) + np.mean(covariance[: i + 1, 0, 0]))
        assert found.location[i, 0] == pytest.approx((before[-1] - before.mean()) / sd, abs=1e-9)
        logs = 0.5 * np.log(covariance[: i + 1, 0, 0])
        gaps = np.array([logs[k] - logs[: k + 1].mean() for k in range(i + 1)])
        assert found.traits[i, 1] == pytest.approx(gaps[-1] / max(np.sqrt(np.mean(gaps**2)), 1e-9), abs=1e-9)


def test_groups_without_horizon_change_no_traits():
    mean, covariance, y = one_step_forecasts(2)
    plain = frame_of(sc.Gaussian(mean, covariance=covariance), y, 0.0)
    grouped = ViewFrame(**{**vars(plain), "clusters": clusters_of(STATIONS, None, N)})
    np.testing.assert_array_equal(grouped.traits, plain.traits)


def test_every_backend_has_the_same_traits(backend):
    mean, covariance, y = one_step_forecasts(D)
    expected = frame(mean, covariance, y, STATIONS)
    found = frame(mean, covariance, y, STATIONS, backend.array)
    np.testing.assert_allclose(to_numpy(found.traits), expected.traits, atol=1e-9)
    for where, along in expected.directions.items():
        np.testing.assert_allclose(to_numpy(found.directions[where]), along, atol=1e-9)


def test_equal_predictions_have_no_traits_in_any_order():
    y = np.random.default_rng(0).normal(size=50)
    result = sc.calibration_test(sc.Gaussian(np.full(50, 3.0), 2.0), 3.0 + 2.0 * y, horizon=1, n_resamples=19, rng=0)
    assert "gain" not in {view.name for view in result.views}


def test_one_step_forecasts_of_a_random_walk_are_not_rejected():
    """By the views that look at the location, which without time order reject a quarter to a half of the time."""
    one, one_dim = sc.kernels.Constant(), {"coordinates": "marginal"}
    views = [sc.views.View("gain", "dependence", one, sc.views.Gain(), **one_dim)]
    rejected = {None: 0, 1: 0}
    for seed in range(150):
        mean, covariance, y = one_step_forecasts(2, seed, 100)
        for horizon in rejected:
            result = sc.calibration_test(
                sc.Gaussian(mean, covariance=covariance), y, views=views, horizon=horizon, n_resamples=99, rng=seed
            )
            rejected[horizon] += result.rejects()
    assert rejected[None] > 40
    assert rejected[1] < 18
