"""The row that is farthest: its p-value against exact distributions, one data set at a time and many at once."""

import math

import mpmath
import numpy as np
import pytest
import torch
from scipy import stats

import scorecal as sc
from scorecal.experiments.shapes import Gumbel
from scorecal.predictions import drawn_targets
from scorecal.resampling.clusters import clusters_of
from scorecal.views import Largest, View
from scorecal.views.extremes import Evidence, EvidenceLaw
from scorecal.views.frame import ViewFrame, frame_of

OUTLIERS = View("outliers", "outliers", Largest())


def exact_evidence(largest, n, d):
    """Minus the log10 of twice the smaller tail, with 50 digits."""
    with mpmath.workdps(50):
        half, shape = mpmath.mpf(largest) / 2, mpmath.mpf(d) / 2
        above = mpmath.gammainc(shape, half, regularized=True)
        below = mpmath.gammainc(shape, 0, half, regularized=True)
        tails = -mpmath.expm1(n * mpmath.log1p(-above)), below**n
        return float(-mpmath.log10(min(1, 2 * min(tails))))


@pytest.mark.parametrize("n", [2, 30, 1000])
@pytest.mark.parametrize("d", [1, 3, 40])
def test_evidence_is_that_of_the_largest_of_chi_squares(n, d):
    """In both tails; from lengths that are next to nothing to probabilities of 1e-40,000."""
    shares = np.array([1e-30, 1e-3, 0.2, 0.6, 1.0 - 1e-3, 1.0 - 1e-9])
    values = [*stats.chi2(d).ppf(shares), 1e3, 1e5]
    found = Evidence(n, d, gaussian=True, independent=True)(np.array(values))
    np.testing.assert_allclose(found, [exact_evidence(value, n, d) for value in values], rtol=1e-6, atol=1e-9)


def test_evidence_is_its_own_law():
    """P-values of calibrated data are uniform: 20,000 largest of 12."""
    rng = np.random.default_rng(0)
    found = Evidence(12, 3, gaussian=True, independent=True)(np.max(rng.chisquare(3, size=(20_000, 12)), axis=1))
    law = EvidenceLaw()
    assert stats.kstest(np.exp(law.log_pvalues(found)), "uniform").pvalue > 0.001
    assert stats.kstest(np.exp(law.log_pvalues(law.draws(20_000, rng))), "uniform").pvalue > 0.001


def test_dependent_rows_are_judged_by_far_targets_alone():
    """Of 40 equal rows the largest is small by chance; and large less often than the formula says."""
    rng = np.random.default_rng(0)
    one_sided = Evidence(40, 2, gaussian=True, independent=False)
    largest = np.sort(rng.chisquare(2, size=20_000))
    pvalues = np.exp(EvidenceLaw().log_pvalues(one_sided(largest)))
    assert np.all(np.diff(pvalues) <= 0)
    for alpha in (0.01, 0.05, 0.3):
        assert np.mean(pvalues <= alpha) <= alpha
    expected = -np.expm1(40 * stats.chi2(2).logcdf(9.0))
    assert one_sided(np.array([9.0]))[0] == pytest.approx(-math.log10(expected))
    assert one_sided(np.array([0.0]))[0] == pytest.approx(0.0, abs=1e-12)


@pytest.mark.parametrize(
    ("groups", "horizon", "independent"), [(None, None, True), (None, 1, True), (None, 2, False), (True, None, False)]
)
def test_rows_that_depend_on_each_other(groups, horizon, independent):
    n = 40
    frame = frame_of(sc.Gaussian(np.zeros(n), 1.0), 0.01 * np.random.default_rng(0).normal(size=n), 0.0)
    clusters = clusters_of(None if groups is None else np.arange(n) // 4, horizon, n)
    frame = ViewFrame(**{**vars(frame), "clusters": clusters})
    extreme = Largest().extreme(frame)
    evidence = extreme.statistic(np.max(extreme.function(slice(0, n))))
    assert evidence > 30 if independent else evidence == pytest.approx(0.0, abs=1e-9)


def gaussians(n=25, d=2):
    rng = np.random.default_rng(1)
    root = rng.normal(size=(n, d, d))
    return sc.Gaussian(rng.normal(size=(n, d)), covariance=root @ root.swapaxes(1, 2) + 0.1 * np.eye(d))


def mixtures(n=25, d=2):
    rng = np.random.default_rng(3)
    return sc.GaussianMixture(rng.dirichlet([5.0, 2.0], size=n), 2.0 * rng.normal(size=(n, 2, d)), np.ones((n, 2)))


@pytest.mark.parametrize("make", [gaussians, mixtures])
def test_many_data_sets_are_judged_as_one(make):
    predictions = make()
    draws = list(drawn_targets(predictions, predictions.n, 5, np.random.default_rng(0)))
    frame = frame_of(predictions, draws[0], 0.0)
    single = []
    for y in draws:
        extreme = Largest().extreme(frame_of(predictions, y, 0.0))
        single.append(float(extreme.statistic(np.max(extreme.function(slice(0, predictions.n))))))
    stack = frame.redrawn(np.stack(draws), np.stack([predictions.score(y) for y in draws]))
    np.testing.assert_allclose(Largest().of_stack(stack), single, rtol=1e-9)
    if make is gaussians:
        whitened = np.linalg.cholesky(np.linalg.inv(predictions.covariance))
        z = np.einsum("nab,na->nb", whitened, draws[2] - predictions.mean)
        assert single[2] == pytest.approx(exact_evidence(np.max(np.sum(z**2, axis=1)), 25, 2), abs=1e-6)


@pytest.mark.parametrize("null", ["signs", pytest.param("auto", marks=pytest.mark.slow)])
def test_the_view_alone_holds_its_level_in_both_tails(null):
    """300 data sets of 20; the p-value of the result is that of the formula, but for counting among 999 draws."""
    pvalues = []
    for seed in range(300):
        predictions = gaussians(20)
        y = predictions.sample(1, seed)[0]
        result = sc.calibration_test(predictions, y, views=[OUTLIERS], null=null, n_resamples=199, rng=seed)
        pvalues.append(result.pvalue)
        exact = 10.0 ** -result.views[0].statistic
        assert result.pvalue == pytest.approx(exact, abs=4.0 * math.sqrt(exact * (1 - exact) / 199) + 0.01)
    assert stats.kstest(np.array(pvalues) - np.random.default_rng(0).uniform(size=300) / 200, "uniform").pvalue > 0.001


@pytest.mark.parametrize("null", ["signs", "auto"])
def test_targets_that_were_cut_off_are_too_near(null):
    """Beyond 1.8 standard deviations: of 500, the largest should be near 3.1."""
    predictions = sc.Gaussian(np.zeros(500), 1.0)
    y = stats.truncnorm(-1.8, 1.8).rvs(500, random_state=0)
    assert sc.calibration_test(predictions, y, views=[OUTLIERS], null=null, rng=0).pvalue == 0.001


def test_contributions_are_those_of_the_farthest_row():
    predictions = gaussians(20)
    y = predictions.sample(1, 0)[0]
    y[7] += 100.0
    result = sc.calibration_test(predictions, y, views=[OUTLIERS], n_resamples=99, rng=0)
    assert np.flatnonzero(result.contributions).tolist() == [7]
    assert result.pvalue == 0.01


def test_torch_and_float32_have_the_same_evidence():
    predictions = gaussians(20)
    y = predictions.sample(1, 0)[0]
    expected = sc.calibration_test(predictions, y, views=[OUTLIERS], n_resamples=99, rng=0).views[0]
    for dtype, rtol in ((torch.float64, 1e-9), (torch.float32, 1e-3)):
        moved = sc.Gaussian(
            torch.tensor(predictions.mean, dtype=dtype),
            covariance=torch.tensor(np.array(predictions.covariance), dtype=dtype),
        )
        found = sc.calibration_test(moved, torch.tensor(y, dtype=dtype), views=[OUTLIERS], n_resamples=99, rng=0).views[
            0
        ]
        assert found.statistic == pytest.approx(expected.statistic, rel=rtol)
        assert found.pvalue == expected.pvalue


def test_signs_do_not_judge_what_has_no_formula():
    """For others than Gaussians and mixtures of them, signs leave the largest of anything as it is."""
    predictions = Gumbel(np.zeros((120, 1)), np.ones((120, 1)))
    y = predictions.sample(1, 0)[0]
    y[0] = 999.0
    result = sc.calibration_test(predictions, y, null="signs", n_resamples=99, rng=0)
    assert not {"outliers", "share of outliers"} & {view.name for view in result.views}
    assert any("outliers" in what for what in result.cannot_see)
    with pytest.raises(ValueError, match=r"`views` see nothing here.*`Largest`"):
        sc.calibration_test(predictions, y, views=[OUTLIERS], null="signs", n_resamples=99, rng=0)
    drawn = sc.calibration_test(predictions, y, views=[OUTLIERS], null="simulate", n_resamples=99, rng=0)
    assert drawn.pvalue == 0.01
    assert not any("outliers" in what for what in drawn.cannot_see)


def test_signs_judge_the_largest_of_mixtures_by_the_nearest_component():
    predictions = mixtures(120)
    y = predictions.sample(1, 0)[0]
    assert not sc.calibration_test(predictions, y, views=[OUTLIERS], null="signs", n_resamples=99, rng=0).rejects()
    y[0] = -999.0
    result = sc.calibration_test(predictions, y, null="signs", n_resamples=99, rng=0)
    assert result.seen[0] == "outliers"
    assert not any("outliers" in what for what in result.cannot_see)


@pytest.mark.parametrize(
    "options",
    [
        {"coordinates": "marginal"},
        {"largest": True},
        {"noise": 1.0},
        {"distribution_kernel": sc.views.Traits()},
    ],
)
def test_the_largest_is_for_whitened_targets_alone(options):
    with pytest.raises(ValueError, match="`Largest` is for whitened coordinates, alone and without noise"):
        View("o", "outliers", Largest(), **options)


def nearest_pvalues(predictions, targets):
    """P-values by the formula for the nearest component, of several data sets."""
    found = []
    for y in targets:
        extreme = Largest(nearest=True).extreme(frame_of(predictions, y, 0.0))
        found.append(float(extreme.statistic(np.max(extreme.function(slice(0, predictions.n))))))
    return np.exp(EvidenceLaw().log_pvalues(np.array(found)))


@pytest.mark.parametrize("gap", [0.0, 1.5, 20.0])
def test_the_nearest_component_gives_pvalues_that_are_not_too_small(gap):
    """And right ones if components are far apart, or alike; one without weight is none."""
    n = 30
    means = np.zeros((n, 3, 2)) + gap * np.array([-0.5, 0.5, 0.0])[:, None]
    predictions = sc.GaussianMixture(np.tile([0.3, 0.7, 0.0], (n, 1)), means, np.tile([1.0, 2.0, 50.0], (n, 1)))
    if gap == 0.0:
        predictions = sc.GaussianMixture(predictions.weights, means, np.full((n, 3), 2.0))
    pvalues = nearest_pvalues(predictions, predictions.sample(2000, np.random.default_rng(0)))
    for alpha in (0.01, 0.05, 0.3):
        error = 3.0 * (alpha * (1.0 - alpha) / 2000) ** 0.5
        assert np.mean(pvalues <= alpha) <= alpha + error
        assert gap == 1.5 or np.mean(pvalues <= alpha) >= alpha - error


def test_the_distance_from_the_nearest_component():
    weights, scales = np.array([[0.4, 0.6], [1.0, 0.0]]), np.array([[[1.0, 2.0], [3.0, 0.5]]] * 2)
    means = np.array([[[0.0, 0.0], [5.0, 1.0]], [[0.0, 0.0], [1.0, 1.0]]])
    y = np.array([[4.0, 2.0], [1.0, 1.0]])
    extreme = Largest(nearest=True).extreme(frame_of(sc.GaussianMixture(weights, means, scales), y, 0.0))
    first = min(16.0 + 1.0, 1.0 / 9.0 + 4.0)
    np.testing.assert_allclose(extreme.function(slice(0, 2)), [first, 1.0 + 0.25])
