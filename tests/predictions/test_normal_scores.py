"""Predictions without scores: normal scores are standard normal, and tests hold their level and see what is wrong."""

import numpy as np
import pytest
from scipy import special, stats

import scorecal as sc
from scorecal.coordinates.normal_scores import cdf_bounds_of, in_normal_scores
from scorecal.predictions.normal_scores import normal_quantiles

LEVELS = np.array([0.05, 0.25, 0.5, 0.75, 0.95])


def rng_of(seed):
    return np.random.default_rng(seed)


def counts(n, rng):
    rate = np.exp(rng.normal(size=n))
    return sc.as_predictions(stats.poisson(rate)), rng.poisson(rate)


def quantiles(n, rng, sd=1.0):
    mean = rng.normal(size=n)
    return sc.from_quantiles(LEVELS, stats.norm.ppf(LEVELS, mean[:, None], sd)), mean + rng.normal(size=n)


def members(n, rng, m=10, sd=1.0):
    mean = rng.normal(size=(n, 1))
    return sc.from_samples(mean + sd * rng.normal(size=(n, m))), mean[:, 0] + rng.normal(size=n)


def rain(n, rng):
    size = np.exp(rng.normal(size=n))

    def below(y):
        return np.where(y <= 0, 0.0, 1.0 - 0.4 * np.exp(-np.maximum(y, 0.0) / size))

    def cdf(y):
        return np.where(y < 0, 0.0, 1.0 - 0.4 * np.exp(-np.maximum(y, 0.0) / size))

    y = np.where(rng.random(n) < 0.6, 0.0, size * rng.exponential(size=n))
    return sc.CdfFunction(cdf, mean=0.4 * size, scale=0.8 * size, below=below), y


def histogram(n, rng):
    borders, mean = np.linspace(-6.0, 6.0, 25), rng.uniform(-1.0, 1.0, size=(n, 1))
    shares = np.diff(stats.norm.cdf(borders, mean), axis=1)
    shares /= shares.sum(axis=1, keepdims=True)
    which = (rng.random((n, 1)) > np.cumsum(shares, axis=1)).sum(axis=1)
    return sc.from_histogram(borders, shares), rng.uniform(borders[which], borders[which + 1])


FORMS = {"counts": counts, "quantiles": quantiles, "members": members, "rain": rain, "histogram": histogram}


@pytest.mark.parametrize("form", FORMS)
def test_targets_are_those_of_gaussians(form):
    """Standardised, they are normal, and do not depend on the locations and spreads that stand for the predictions."""
    predictions, y = FORMS[form](4000, rng_of(0))
    gaussian, targets = in_normal_scores(predictions, y, rng_of(1))
    assert type(gaussian) is sc.Gaussian
    z = ((targets - gaussian.mean) / gaussian.scale)[:, 0]
    assert stats.kstest(z, "norm").pvalue > 1e-3
    for trait in (gaussian.mean[:, 0], gaussian.scale[:, 0]):
        for value in (z, z**2):
            assert stats.spearmanr(trait, value).pvalue > 1e-3


_QUICK = ("counts", "quantiles", "members")


@pytest.mark.parametrize("form", [f if f in _QUICK else pytest.param(f, marks=pytest.mark.slow) for f in FORMS])
def test_level(form):
    """100 calibrated data sets of 60 rows: 13 or fewer of 5 % in 99.9 % of such studies."""
    rejected = 0
    for seed in range(100):
        predictions, y = FORMS[form](60, rng_of(seed))
        rejected += sc.calibration_test(predictions, y, n_resamples=99, rng=seed).rejects()
    assert rejected <= 13


@pytest.mark.parametrize(
    ("form", "kind"),
    [
        (lambda rng: quantiles(200, rng, sd=0.7), "over-confidence"),
        (lambda rng: members(200, rng, m=50, sd=0.7), "over-confidence"),
        (lambda rng: (counts(200, rng)[0], counts(200, rng)[1]), "dependence"),
    ],
)
def test_power(form, kind):
    """Quantiles and members that are too near each other, and counts of other rows: 10 data sets."""
    results = [sc.calibration_test(*form(rng_of(seed)), n_resamples=199, rng=seed) for seed in range(10)]
    assert sum(result.rejects() for result in results) >= 9
    assert sum(kind in result.seen for result in results) >= 7


def test_few_members_are_not_taken_for_the_distribution():
    """15 members, whose spread moves with the rank of the target: 100 data sets, 13 or fewer in 99.9 % of studies."""
    rejected = 0
    for seed in range(100):
        predictions, y = members(100, rng_of(seed), m=15)
        rejected += sc.calibration_test(predictions, y, n_resamples=99, rng=seed).rejects()
    assert rejected <= 13


def test_normal_quantiles_lie_between_the_probabilities():
    below, at = np.array([[0.0], [0.2], [1.0]]), np.array([[0.1], [0.2], [1.0]])
    z = normal_quantiles(below, at, rng_of(0))
    assert z[0] < special.ndtri(0.1)
    np.testing.assert_allclose(z[1], special.ndtri(0.2))
    assert np.isfinite(z[2])
    assert z[2] > 7.0


def test_quantiles_claim_nothing_between_and_beyond():
    predictions = sc.from_quantiles([0.1, 0.5, 0.9], [[1.0, 2.0, 3.0]] * 6)
    y = np.array([[0.0], [1.0], [1.5], [2.5], [3.0], [1e9]])
    below, at = cdf_bounds_of(predictions, y)
    np.testing.assert_array_equal(below[:, 0], [0.0, 0.0, 0.1, 0.5, 0.5, 0.9])
    np.testing.assert_array_equal(at[:, 0], [0.1, 0.5, 0.5, 0.9, 1.0, 1.0])


def test_quantiles_that_fall_are_sorted_with_a_warning():
    with pytest.warns(UserWarning, match=r"quantiles cross in 1 of 3 rows, first in row 1 \(1, 0\.5, 2\)"):
        predictions = sc.from_quantiles([0.1, 0.5, 0.9], [[0.0, 1.0, 2.0], [1.0, 0.5, 2.0], [0.0, 1.0, 2.0]])
    np.testing.assert_array_equal(predictions.values[1], [0.5, 1.0, 2.0])


def test_moments_of_quantiles_are_those_of_the_gaussian_they_come_from():
    for levels in ([0.05, 0.5, 0.95], [0.1, 0.25, 0.5, 0.75, 0.9], [0.4, 0.6], [0.8, 0.9]):
        found = sc.from_quantiles(levels, stats.norm.ppf(levels, np.array([[3.0], [5.0]]), 2.0)).moments()
        np.testing.assert_allclose(found[1][:, 0, 0], 4.0)
        if levels[0] < 0.5:
            np.testing.assert_allclose(found[0][:, 0], [3.0, 5.0])


def test_intervals_and_pinball_loss_of_quantiles():
    predictions, y = quantiles(2000, rng_of(0))
    middle, outer = predictions.intervals(y)
    assert (middle.claimed, outer.claimed) == (0.5, pytest.approx(0.9))
    bounds = stats.binomtest(round(outer.held * 2000), 2000).proportion_ci(0.95, method="exact")
    assert (outer.low, outer.high) == (bounds.low, bounds.high)
    assert outer.low < 0.9 < outer.high
    # Of a Gaussian, the expected loss at level q is the density at its quantile.
    np.testing.assert_allclose(predictions.pinball_loss(y), stats.norm.pdf(stats.norm.ppf(LEVELS)), rtol=0.1)


def test_histograms_have_the_moments_of_their_draws():
    rng = rng_of(0)
    shares = rng.dirichlet(np.ones(5), 3)
    borders = np.cumsum(rng.random((3, 6)), axis=1)
    mean, covariance = sc.from_histogram(borders, shares).moments()
    for k in range(3):
        which = rng.choice(5, 200_000, p=shares[k])
        draws = rng.uniform(borders[k, which], borders[k, which + 1])
        assert abs(np.mean(draws) - mean[k, 0]) < 5 * np.std(draws) / 200_000**0.5
        np.testing.assert_allclose(np.var(draws), covariance[k, 0, 0], rtol=0.02)


def test_targets_that_are_excluded_are_outliers():
    predictions, y = histogram(200, rng_of(0))
    y[3] = 40.0
    assert sc.calibration_test(predictions, y, rng=0).seen == ("outliers",)


@pytest.mark.parametrize(
    ("make", "error", "message"),
    [
        (lambda: sc.from_quantiles([5, 50, 95], np.zeros((3, 3))), ValueError, "Likely cause: levels in percent"),
        (lambda: sc.from_quantiles([0.5, 0.1], np.zeros((3, 2))), ValueError, "between 0 and 1 and increase"),
        (lambda: sc.from_quantiles([0.5], np.zeros((3, 1))), ValueError, "at least two probabilities"),
        (lambda: sc.from_quantiles([0.1, 0.9], np.zeros((3, 3))), ValueError, "a column for each of the 2 levels"),
        (lambda: sc.from_quantiles([0.1, 0.9], [[1.0, 0.0]] * 3), ValueError, "levels in another order"),
        (lambda: sc.from_quantiles([0.1, 0.9], [[1.0, np.nan]] * 3), ValueError, "`values` must be finite"),
        (lambda: sc.from_samples(np.zeros(3)), ValueError, r"shape \(n, m\) or \(n, m, d\)"),
        (lambda: sc.from_samples(np.zeros((50, 2))), ValueError, "axes in another order"),
        (lambda: sc.from_samples([[1.0, 2.0, np.inf]] * 4), ValueError, "member 2 of row 0 is not"),
        (lambda: sc.from_samples([[1.0, 2.0, 3.0], [1.0, 2.0, np.nan]]), ValueError, "row 1 has 2"),
        (lambda: sc.from_histogram([0.0, 1.0], np.ones((3, 2)) / 2), ValueError, "centres in place of borders"),
        (lambda: sc.from_histogram([0.0, 1.0, 1.0], np.ones((3, 2)) / 2), ValueError, "`borders` must increase"),
        (lambda: sc.from_histogram([0.0, 1.0, 2.0], np.ones((3, 2))), ValueError, "must sum to one"),
        (lambda: sc.CdfFunction(0.5, mean=[0.0], scale=1.0), TypeError, "`cdf` must be a function"),
        (lambda: sc.CdfFunction(len, mean=[0.0, 1.0], scale=-1.0), ValueError, "must not be negative"),
    ],
)
def test_what_is_wrong_is_named(make, error, message):
    with pytest.raises(error, match=message):
        make()


def test_targets_that_do_not_fit_are_named():
    predictions, y = counts(50, rng_of(0))
    with pytest.raises(ValueError, match=r"`y` must hold whole numbers, .* row 7 is 1.5"):
        sc.calibration_test(predictions, np.where(np.arange(50) == 7, 1.5, y))
    with pytest.raises(ValueError, match=r"`y` must have shape \(n, d\) = \(50, 1\)"):
        sc.calibration_test(predictions, y[:49])
    with pytest.raises(ValueError, match="`y` must be finite"):
        sc.calibration_test(predictions, np.where(np.arange(50) == 7, np.nan, y))
    wrong = sc.CdfFunction(lambda y: 2.0 * np.ones_like(y), mean=np.zeros(50), scale=1.0)
    with pytest.raises(ValueError, match=r"row 0 has 2 and 2. Likely cause: parameters"):
        sc.calibration_test(wrong, y)


def test_a_class_of_ones_own():
    class Uniform:
        n, dim = 200, 1

        def cdf_bounds(self, y):
            return np.clip(y, 0.0, 1.0), np.clip(y, 0.0, 1.0)

        def moments(self):
            return np.full((200, 1), 0.5), np.full((200, 1, 1), 1 / 12)

    y = rng_of(0).random(200)
    assert not sc.calibration_test(Uniform(), y, rng=0).rejects()
    assert sc.calibration_test(Uniform(), y**2, rng=0).rejects()
    assert sc.diagnose(Uniform(), y**2, rng=0).bias[0].low > 0.0
