"""All views of a data set: p-values uniform for calibrated data, alike for all libraries, and for few rows."""

import numpy as np
import pytest
import torch
from backends import make_backend
from scipy import stats

import scorecal as sc
from scorecal.predictions import drawn_targets
from scorecal.views import View
from scorecal.views import judge as module


def gaussians(n, d, seed=0):
    rng = np.random.default_rng(seed)
    mean, sd = rng.normal(size=(n, d)), np.exp(0.3 * rng.normal(size=(n, d)))
    return sc.Gaussian(mean, sd)


def full(n, d, seed=0):
    rng = np.random.default_rng(seed)
    root = np.eye(d) + 0.4 * rng.normal(size=(n, d, d))
    return sc.Gaussian(rng.normal(size=(n, d)), covariance=root @ root.swapaxes(1, 2))


def skewed(n, d, seed=0):
    rng = np.random.default_rng(seed)
    means = np.stack([rng.normal(size=(n, d)), 2.0 + rng.normal(size=(n, d))], axis=1)
    return sc.GaussianMixture(np.tile([0.8, 0.2], (n, 1)), means, np.tile([1.0, 0.5], (n, 1)))


def pvalues_of_calibrated(make, n, d, repeats, **options):
    """P-values of the test, and whether each view alone has p <= .05."""
    pvalues, own = [], {}
    for seed in range(repeats):
        predictions = make(n, d, seed)
        y = next(iter(drawn_targets(predictions, n, 1, np.random.default_rng([seed, 1]))))
        result = sc.calibration_test(predictions, y, rng=seed, **options)
        pvalues.append(result.pvalue)
        for view in result.views:
            own.setdefault(view.name, []).append(view.pvalue)
    return np.array(pvalues), own


def uniform(pvalues, n_values):
    """P-value of a test of uniformity, of p-values that are ranks among `n_values`."""
    return stats.kstest(pvalues - np.random.default_rng(0).uniform(size=len(pvalues)) / n_values, "uniform").pvalue


@pytest.mark.slow
@pytest.mark.parametrize("null", ["signs", "simulate"])
@pytest.mark.parametrize(("make", "d"), [(gaussians, 1), (full, 3), (skewed, 1)], ids=["1", "3", "mixture"])
def test_pvalues_of_calibrated_data_are_uniform(make, d, null):
    """400 data sets of 50: .05 +- .033, and .01 +- .015, are 3 standard errors."""
    pvalues, own = pvalues_of_calibrated(make, 50, d, 400, null=null, n_resamples=99)
    assert uniform(pvalues, 100) > 1e-3 or null == "signs"
    assert np.mean(pvalues <= 0.05) <= 0.083
    assert np.mean(pvalues <= 0.01) <= 0.025
    for name, each in own.items():
        if null == "simulate":
            assert uniform(np.array(each), 100) > 1e-5, name
        assert np.mean(np.array(each) <= 0.05) <= 0.11, name


@pytest.mark.parametrize("n", [5, *(pytest.param(n, marks=pytest.mark.slow) for n in (2, 8))])
def test_few_rows_are_judged_by_draws(n):
    """120 calibrated data sets: 14 or fewer rejections in 99.8 % of studies; a bias of 6 standard errors is seen."""
    pvalues, _ = pvalues_of_calibrated(gaussians, n, 1, 120, null="simulate", n_resamples=99)
    assert np.sum(pvalues <= 0.05) <= 14
    assert uniform(pvalues, 100) > 1e-3
    predictions = sc.Gaussian(np.arange(float(n)), 1.0)
    y = np.arange(n) + 6.0 / n**0.5 + 0.1 * np.random.default_rng(0).normal(size=n)
    assert sc.calibration_test(predictions, y, n_resamples=99, rng=0).pvalue == 0.01


@pytest.mark.parametrize("n", [2, 5, 8])
@pytest.mark.parametrize("d", [1, 3])
def test_few_rows_have_a_verdict_by_signs_too(n, d):
    """With two rows, signs allow p-values of 1 and 1/2; what is largest is judged by a formula."""
    predictions = full(n, d)
    y = predictions.sample(1, 0)[0]
    result = sc.calibration_test(predictions, y, null="signs", n_resamples=99, rng=0)
    assert 0.01 <= result.pvalue <= 1.0
    assert all(np.isfinite(view.statistic) for view in result.views)
    y[0] += 100.0
    assert sc.calibration_test(predictions, y, null="signs", n_resamples=99, rng=0).pvalue == 0.01


def test_pvalues_of_views_by_law_are_ranks_among_many_draws():
    """Views whose evidence is a formula and whose p-values are ranks: the same order, and nearly the same sizes."""
    predictions = gaussians(60, 3)
    y = predictions.sample(1, 5)[0] * 1.08
    kept = {}

    def keep(statistics, null, laws, weights, *others):
        kept.update(statistics=statistics, null=null, laws=laws)
        return original(statistics, null, laws, weights, *others)

    original = module.combine
    with pytest.MonkeyPatch.context() as context:
        context.setattr(module, "combine", keep)
        result = sc.calibration_test(predictions, y, rng=0)
    compared = 0
    for view, statistic, null, law in zip(result.views, kept["statistics"], kept["null"], kept["laws"], strict=True):
        if law is not None and view.name != "share of outliers":  # which takes few values
            values = np.quantile(null, [0.5, 0.8, 0.9, 0.95, 0.99])
            found = np.exp(law.log_pvalues(values))
            # To 4 standard errors of the ranks, and 15 % for features that are not quite normal or independent.
            expected = np.array([0.5, 0.2, 0.1, 0.05, 0.01])
            np.testing.assert_array_less(
                np.abs(found - expected), 0.2 * expected + 4 * np.sqrt(expected / 4999), view.name
            )
            assert view.pvalue == pytest.approx(np.exp(law.log_pvalues(np.array([statistic])))[0], abs=0.08)
            compared += 1
    assert compared >= 15


@pytest.mark.parametrize("null", ["simulate", "signs"])
@pytest.mark.parametrize("name", ["torch", *(pytest.param(name, marks=pytest.mark.slow) for name in ("jax", "strict"))])
def test_libraries_agree(name, null):
    """The same verdict, p-values and words."""
    predictions, y, expected, options = rejected(null)
    array, covariance = make_backend(name).array, np.array(predictions.covariance)
    found = sc.calibration_test(sc.Gaussian(array(predictions.mean), covariance=array(covariance)), array(y), **options)
    assert (found.pvalue, found.seen, found.message) == (expected.pvalue, expected.seen, expected.message)
    np.testing.assert_allclose([v.statistic for v in found.views], [v.statistic for v in expected.views], rtol=1e-6)


@pytest.mark.parametrize("null", ["simulate", "signs"])
@pytest.mark.parametrize("array", [np.float32, lambda x: torch.tensor(x, dtype=torch.float32)], ids=["numpy", "torch"])
def test_float32_has_the_same_verdict(array, null):
    """To what its digits can move."""
    predictions, y, expected, options = rejected(null)
    narrow = sc.Gaussian(array(predictions.mean), covariance=array(np.array(predictions.covariance)))
    found = sc.calibration_test(narrow, array(y), **options)
    assert found.pvalue == pytest.approx(expected.pvalue, abs=0.01)
    assert found.seen == expected.seen


def rejected(null):
    """Predictions, targets that spread more, and the result in NumPy."""
    predictions = full(30, 2)
    rng = np.random.default_rng(3)
    y = predictions.mean + 1.6 * (predictions.sample(1, rng)[0] - predictions.mean)
    options = {"null": null, "n_resamples": 99, "rng": 0}
    expected = sc.calibration_test(predictions, y, **options)
    assert expected.rejects()
    return predictions, y, expected, options


def test_views_judged_by_different_nulls():
    """Beyond 100 rows pairs are judged by signs, and the others by draws; each view says which."""
    predictions = gaussians(120, 1)
    result = sc.calibration_test(predictions, predictions.sample(1, 0)[0], n_resamples=99, rng=0)
    nulls = {view.name: view.null for view in result.views}
    assert nulls.pop("any, kernels") == "signs"
    assert set(nulls.values()) == {result.null} == {"simulate"}
    one = [View("any", "any", sc.kernels.Gaussian(1.4), sc.kernels.GFD())]
    alone = sc.calibration_test(predictions, predictions.sample(1, 0)[0], views=one, n_resamples=99, rng=0)
    assert alone.null == "signs"


def test_bounded_features_take_the_place_of_others_where_signs_judge():
    """Under signs a huge feature is as huge in each draw, and hides the bias of all others; a bounded one does not."""
    rng = np.random.default_rng(0)
    mean = rng.normal(size=200)
    y = mean + 0.5 + rng.normal(size=200)
    y[0] = -1e4
    result = sc.calibration_test(sc.Gaussian(mean, 1.0), y, null="signs", n_resamples=199, rng=0)
    own = {view.name: view.pvalue for view in result.views}
    assert own["bias"] == 0.005
    plain = [View("plain", "bias", sc.kernels.Constant())]
    assert (
        sc.calibration_test(sc.Gaussian(mean, 1.0), y, views=plain, null="signs", n_resamples=199, rng=0).pvalue > 0.05
    )
