"""Sizes and their intervals: by leaving rows out one at a time, against known formulas, and how often they cover."""

import numpy as np
import pytest
from scipy import stats
from verdicts import verdict

import scorecal as sc
from scorecal.diagnosis.estimates import biases, correlations, marginal_ratios, ratios
from scorecal.diagnosis.residuals import Residuals
from scorecal.diagnosis.sizes import Units

N = 30


def residuals(values):
    """Residuals of predictions that claim correlations of .3, some with a spread that is not 1."""
    n, d = values.shape
    eye = np.broadcast_to(np.eye(d), (n, d, d))
    root = np.broadcast_to(np.linalg.cholesky(np.full((d, d), 0.3) + 0.7 * np.eye(d)), (n, d, d))
    expected = eye * np.random.default_rng(5).uniform(0.5, 1.5, (n, 1, 1))
    ones = np.ones((n, d))
    return Residuals(np.arange(n), values, values, values, expected, root, ones, ones, "moments", "")


def ratio_of(values, expected):
    return 0.5 * np.log(np.var(values, axis=0, ddof=1) / np.mean(expected, axis=0))


@pytest.mark.parametrize("clustered", [False, True], ids=["rows", "clusters"])
@pytest.mark.parametrize("chosen", ["all", "some"])
def test_values_and_standard_errors_by_brute_force(clustered, chosen):
    """Sizes are computed anew without each row, or cluster; their influences are what they change by."""
    rng = np.random.default_rng(0)
    found = residuals(rng.standard_t(8, size=(N, 3)))
    rows = np.arange(N) if chosen == "all" else np.flatnonzero(rng.random(N) < 0.7)
    labels = rng.integers(0, 9, N) if clustered else np.arange(N)
    units = Units(9, labels) if clustered else Units(N)
    squares = np.einsum("nkk->nk", found.expected_marginal)

    def by_hand(kept):
        corner = np.arctanh(np.corrcoef(found.marginal[kept].T)[np.triu_indices(3, 1)])
        return [np.mean(found.marginal[kept], axis=0), ratio_of(found.marginal[kept], squares[kept]), corner]

    sizes = [biases(found.marginal, units, rows), marginal_ratios(found, units, rows), correlations(found, units, rows)]
    present = np.unique(labels[rows])
    for k, each in enumerate(sizes):
        np.testing.assert_allclose(each.values, by_hand(rows)[k])
        np.testing.assert_array_equal(each.units, present)
        without = np.stack([by_hand(rows[labels[rows] != label])[k] for label in present])
        np.testing.assert_allclose(each.influence, (len(present) - 1) * (without.mean(axis=0) - without), atol=1e-9)
        plain = np.sqrt((len(present) - 1) / len(present) * np.sum((without - without.mean(axis=0)) ** 2, axis=0))
        kurtosis = stats.kurtosis(without, fisher=False)
        few = np.minimum(len(present) - 1, 2 * len(present) / (kurtosis - 1))
        t = stats.t(len(present) - 1).ppf(0.975)
        lean = -1.5 * stats.skew(without) / (6 * len(present) ** 0.5) * (1 + 2 * t**2) / t
        errors = plain * stats.t(few).ppf(0.975) / t
        np.testing.assert_allclose(each.below, errors * (1 - np.minimum(lean, 0)))
        np.testing.assert_allclose(each.above, errors * (1 + np.maximum(lean, 0)))


def test_the_ratio_of_all_dimensions_takes_out_each_mean():
    values = np.random.default_rng(0).normal(size=(50, 3)) + np.array([0.0, 5.0, -2.0])
    found = ratios(values[:, None, :], np.full((50, 1), 3.0), Units(50))
    np.testing.assert_allclose(np.exp(2 * found.values[0]), np.mean(np.var(values, axis=0, ddof=1)))


def test_a_bias_of_symmetric_rows_has_the_interval_of_student():
    half = np.random.default_rng(0).uniform(0.5, 1.0, 20)
    values = np.concatenate([half, -half])
    expected = stats.t(39, 0.2, stats.sem(values)).interval(0.9)
    found = biases(values[:, None] + 0.2, Units(40)).estimates(0.1)[0]
    np.testing.assert_allclose(found, [0.2, *expected], atol=1e-6)


def test_intervals_reach_farther_to_the_side_of_the_skewness():
    values = np.random.default_rng(0).exponential(size=(60, 1))
    (up,), (down,) = biases(values, Units(60)).estimates(0.05), biases(-values, Units(60)).estimates(0.05)
    assert up.high - up.value > 1.2 * (up.value - up.low)
    np.testing.assert_allclose(down, (-up.value, -up.high, -up.low))


@pytest.mark.parametrize("shift", [-0.4, 0.0, 0.4])
def test_the_tail_is_that_of_the_interval_that_just_contains_what_is_expected(shift):
    rng = np.random.default_rng(3)
    found = residuals(rng.exponential(size=(40, 2)) - 1.0 + shift)
    for sizes in (biases(found.marginal, Units(40)), marginal_ratios(found, Units(40)), correlations(found, Units(40))):
        for k, tail in enumerate(sizes.tails()):
            right = float(sizes.back(sizes.expected[k : k + 1])[0])
            assert sizes.estimates(tail)[k].holds(right)
            assert not sizes.estimates(min(1.0, 1.01 * tail + 1e-12))[k].holds(right)


NOISE = {
    "normal": (lambda rng, n: rng.normal(size=n), 0.0, 1.0),
    "t4": (lambda rng, n: rng.standard_t(4, size=n), 0.0, 2**0.5),
    "gamma": (lambda rng, n: rng.gamma(2.0, size=n), 2.0, 2**0.5),
    "lognormal": (lambda rng, n: rng.lognormal(sigma=0.5, size=n), np.exp(0.125), stats.lognorm(0.5).std()),
}


@pytest.mark.parametrize("name", NOISE)
@pytest.mark.parametrize("n", [50, 400])
def test_intervals_cover_whatever_the_noise(name, n):
    """400 data sets: 92 % or more would be 356 or more in 99.5 % of such studies, and 99 % at most 400."""
    draw, mean, sd = NOISE[name]
    held, rng = np.zeros(2), np.random.default_rng(0)
    for _ in range(400):
        e = draw(rng, n)[:, None]
        off, ratio = biases(e, Units(n)), ratios(e[:, :, None], np.ones((n, 1)), Units(n))
        held += [off.estimates(0.05)[0].holds(mean), ratio.estimates(0.05)[0].holds(sd)]
    assert np.all(held >= 0.92 * 400), held


def test_intervals_of_normal_noise_are_not_much_wider_for_that():
    """At most a tenth wider than Student's interval with the standard error for normal noise, of 400 rows."""
    rng, widths = np.random.default_rng(0), []
    for _ in range(200):
        e = rng.normal(size=(400, 1))
        found = ratios(e[:, :, None], np.ones((400, 1)), Units(400)).estimates(0.05)[0]
        widths.append(np.log(found.high / found.low) / (2 * stats.t(399).ppf(0.975) / 800**0.5))
    assert 1.0 < np.median(widths) < 1.1


def test_what_is_the_same_in_all_rows():
    """No spread at all: exactly 0, with no error; a bias of it likewise."""
    mean = np.random.default_rng(0).normal(size=(60, 1))
    found = sc.diagnose(sc.Gaussian(mean, 1.0), mean - 0.5, result=verdict(60), rng=0)
    np.testing.assert_allclose(found.bias[0], [0.5, 0.5, 0.5], atol=1e-12)
    assert found.confidence_ratio[0].high < 1e-12
