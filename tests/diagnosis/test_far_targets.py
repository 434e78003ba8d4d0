"""Targets far from their predictions: rejected, named, listed, and never within a tolerance."""

import numpy as np
import pytest
from scipy import stats

import scorecal as sc

N = 1000


def heavy(seed=0):
    rng = np.random.default_rng(seed)
    mean = rng.normal(size=N)
    return sc.as_predictions(stats.t(5, mean, 1.0)), mean + rng.standard_t(5, N)


def logistic(seed=0):
    rng = np.random.default_rng(seed)
    mean = rng.normal(size=N)
    return sc.as_predictions(stats.logistic(mean)), mean + rng.logistic(size=N)


def mixture(seed=0):
    rng = np.random.default_rng(seed)
    means = rng.normal(size=(N, 1, 1)) + np.array([-2.0, 2.0])[None, :, None]
    predictions = sc.GaussianMixture(np.full((N, 2), 0.5), means, np.ones((N, 2)))
    return predictions, predictions.sample(1, rng)[0, :, 0]


@pytest.mark.parametrize("count", [1, 3])
@pytest.mark.parametrize("make", [heavy, logistic, mixture])
def test_sentinel_values_are_outliers(make, count):
    predictions, y = make()
    y[5 : 5 + count] = -999.0
    found = sc.diagnose(predictions, y, n_resamples=199, rng=0)
    assert found.result.rejects()
    assert found.result.seen[0] == "outliers"
    assert {each.row for each in found.extremes[:count]} == set(range(5, 5 + count))
    assert found.statements[0].startswith("1 row is an outlier" if count == 1 else "3 rows are outliers")
    assert found.within(bias=0.2, spread=1.2) is not True


def test_a_bias_of_many_standard_deviations_is_not_within_a_small_one():
    """Scores of heavy tails are nearly zero far out, and so is their mean."""
    predictions, y = heavy()
    assert sc.diagnose(predictions, y, n_resamples=99, rng=0).within(bias=0.2) is True
    far = sc.diagnose(predictions, y + 100.0, n_resamples=99, rng=0)
    assert abs(far.bias[0].value) < 0.2
    assert far.within(bias=0.2) is None


def test_no_p_value_is_zero():
    mean = np.random.default_rng(0).normal(size=100)
    y = mean.copy()
    y[3] += 1e3
    (first, *_) = sc.diagnose(sc.Gaussian(mean, 1.0), y, n_resamples=99, rng=0).extremes
    assert first.row == 3
    assert 0.0 < first.pvalue <= first.adjusted_pvalue < 1e-300


def test_distances_from_the_nearest_component_are_no_more_likely_than_they_say():
    """Against draws: a distance so large from the component that a target comes from is as rare as stated."""
    predictions, y = mixture(1)
    found = sc.diagnose(predictions, y, n_resamples=99, rng=0).extremes
    draws = predictions.sample(4000, np.random.default_rng(2))[:, :, 0]
    for each in found[:3]:
        own = predictions.means[each.row, :, 0]
        nearest = np.min(np.abs(draws[:, each.row, None] - own), axis=1)
        share = np.mean(nearest >= np.min(np.abs(y[each.row] - own)))
        assert share <= each.pvalue + 4.0 * np.sqrt(each.pvalue / 4000) + 1e-3


def test_few_groups_do_not_hide_outliers():
    """Six groups allow no p-value below 1/6 by their signs; the largest error needs none."""
    rng = np.random.default_rng(0)
    mean, group = rng.normal(size=600), np.arange(600) % 6
    y = mean + rng.normal(size=600)
    plain = sc.calibration_test(sc.Gaussian(mean, 1.0), y, groups=group, n_resamples=199, rng=0)
    assert plain.pvalue >= 1 / 6
    assert plain.critical_value() == np.inf
    y[:3] = -999.0
    found = sc.calibration_test(sc.Gaussian(mean, 1.0), y, groups=group, n_resamples=199, rng=0)
    assert found.pvalue == 1 / 200
    assert found.seen == ("outliers",)
    assert found.rejects() == (found.statistic > found.critical_value())
    assert any("random signs cannot reject" in sentence for sentence in found.warnings)
    told = sc.diagnose(sc.Gaussian(mean, 1.0), y, groups=group, n_resamples=199, rng=0)
    assert [sentence[:22] for sentence in told.statements] == ["3 rows are outliers, u"]
    assert told.outliers == (0, 1, 2)
    wide = sc.calibration_test(sc.Gaussian(mean, 0.5), mean + rng.normal(size=600), groups=group, rng=0)
    spread = next(view for view in wide.views if view.name == "spread")
    assert spread.adjusted_pvalue >= 1 / 6


def test_outliers_among_counts_have_no_distance():
    y = np.random.default_rng(0).poisson(3.0, 200).astype(float)
    y[0] = 999.0
    found = sc.diagnose(sc.as_predictions(stats.poisson(np.full(200, 3.0))), y, n_resamples=99, rng=0)
    assert found.extremes == ()
    if found.outliers:
        assert found.statements[0] == "1 row is an outlier; sizes are those of the other rows."
    assert "Calibration" in found.message


@pytest.mark.filterwarnings("ignore:.*groups:UserWarning")
def test_outliers_stay_where_too_little_else_is_left():
    """All rows of one of two groups; and one of ten rows."""
    rng = np.random.default_rng(0)
    y, groups = np.concatenate([np.full(10, 500.0), rng.normal(size=390)]), np.repeat([0, 1], [10, 390])
    found = sc.diagnose(sc.Gaussian(np.zeros(400), 1.0), y, groups=groups, n_resamples=99, rng=0)
    assert found.outliers == ()
    assert found.within(bias=1e3, spread=1e3) is None
    y = rng.normal(size=10)
    y[0] = 1e3
    few = sc.diagnose(sc.Gaussian(np.zeros(10), 1.0), y, n_resamples=99, rng=0)
    assert few.outliers == ()
    assert "no sizes are stated" not in few.message


def test_a_covariate_that_tells_outliers_from_all_others_is_not_said_to_be_constant(recwarn):
    y = np.random.default_rng(0).normal(size=300)
    y[:5] = -999.0
    bad = np.arange(300) < 5
    found = sc.diagnose(sc.Gaussian(np.zeros(300), 1.0), y, covariates={"bad": bad}, n_resamples=99, rng=0)
    assert found.outliers == (0, 1, 2, 3, 4)
    assert len(recwarn) == 0
