"""Rows that leave little to go by: levels without any spread, fewer rows than dimensions, results of other rows."""

import numpy as np
import pytest

import scorecal as sc


@pytest.mark.filterwarnings("ignore:.*no region of 'site'")
def test_a_level_without_spread_turns_no_interval_around():
    rng = np.random.default_rng(0)
    mean = rng.normal(size=500)
    y = mean + rng.normal(size=500)
    y[:10] = mean[:10]
    site = np.where(np.arange(500) < 10, "exact", "other")
    options = {"groups": np.arange(500) % 5, "n_resamples": 99, "rng": 0}
    plain = sc.diagnose(sc.Gaussian(mean, 1.0), y, **options)
    found = sc.diagnose(sc.Gaussian(mean, 1.0), y, covariates={"site": site}, **options)
    assert not found.result.rejects()
    assert all(each.low <= each.high for each in (*found.bias, *found.confidence_ratio))
    assert found.within(bias=0.3, spread=1.3) is plain.within(bias=0.3, spread=1.3) is True


def test_no_direction_is_the_worst_of_fewer_rows_than_dimensions():
    rng = np.random.default_rng(0)
    mean = rng.normal(size=(50, 30))
    found = sc.diagnose(sc.Gaussian(mean, 1.0), mean + rng.normal(size=(50, 30)), n_resamples=99, rng=0)
    assert np.all(np.isnan(found.worst_direction.weights))
    assert "Worst direction: cannot be told from so few rows." in str(found)


def test_a_result_of_other_groups_is_refused():
    rng = np.random.default_rng(0)
    mean, group = rng.normal(size=200), np.arange(200) // 10
    predictions, y = sc.Gaussian(mean, 1.0), mean + rng.normal(size=200)
    result = sc.calibration_test(predictions, y, groups=group, n_resamples=99, rng=0)
    sc.diagnose(predictions, y, result=result, groups=group, rng=0)
    with pytest.raises(ValueError, match=r"`result` is of 20 independent rows, groups or blocks, but .* make 200"):
        sc.diagnose(predictions, y, result=result, rng=0)


@pytest.mark.parametrize("biased", [0, 9])
def test_a_bias_of_any_label_of_ordered_rows_is_seen(biased):
    """The first series as well as the last one: before the others, all rows have its label."""
    seen = 0
    for seed in range(8):
        rng = np.random.default_rng(seed)
        station = np.repeat(np.arange(10), 100)
        mean = rng.normal(size=1000)
        y = mean + rng.normal(size=1000) + 0.6 * (station == biased)
        options = {"groups": station, "horizon": 1, "covariates": {"station": station.astype(str)}}
        result = sc.calibration_test(sc.Gaussian(mean, 1.0), y, n_resamples=199, rng=seed, **options)
        seen += next(view for view in result.views if view.name == "bias by station").pvalue <= 0.01
    assert seen == 8


def test_regions_of_ordered_rows_do_not_look_ahead():
    """Whether a number is high for its time is known from later rows only; clocks and labels are known."""
    rng = np.random.default_rng(0)
    mean = np.cumsum(rng.normal(size=400))
    columns = {"day": np.arange(400.0), "level": mean, "kind": np.where(np.arange(400) % 2, "a", "b")}
    y = mean + rng.normal(size=400)
    found = sc.diagnose(sc.Gaussian(mean, 1.0), y, covariates=columns, horizon=1, n_resamples=99, rng=0)
    assert {region.covariate for region in found.regions} == {"day", "kind"}
    assert {level.covariate for level in found.levels} == {"day", "level", "kind"}
    free = sc.diagnose(sc.Gaussian(mean, 1.0), y, covariates=columns, n_resamples=99, rng=0)
    assert {region.covariate for region in free.regions} == {"day", "level", "kind"}
