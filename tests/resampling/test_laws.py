"""Null distributions in closed form: against SciPy, 50 digits, and drawn chi-square variables."""

import math

import mpmath
import numpy as np
import pytest
from scipy import stats

from scorecal.resampling.laws import LargestLaw, SumLaw, at_least_one, law_of, log_tail

mpmath.mp.dps = 50  # digits


def exact_log_tail(value, freedom):
    return float(mpmath.log(mpmath.gammainc(mpmath.mpf(freedom) / 2, mpmath.mpf(value) / 2, regularized=True)))


@pytest.mark.parametrize("freedom", [0.3, 1.0, 2.0, 3.7, 10.0, 100.0])
def test_tails_where_probabilities_are_numbers(freedom):
    values = np.array([0.0, 0.1, 1.0, 5.0, 30.0, 300.0, 1000.0])
    np.testing.assert_allclose(log_tail(values, freedom), stats.chi2(freedom).logsf(values), rtol=1e-7, atol=1e-14)


@pytest.mark.parametrize("freedom", [0.3, 1.0, 3.0, 10.0, 100.0, 1000.0])
def test_tails_where_probabilities_underflow(freedom):
    """From 1e-250 to 1e-40,000; what the start of a continued fraction leaves is below 1e-6 of the logarithm."""
    values = 2.0 * np.array([600.0, 640.0, 645.0, 650.0, 900.0, 1e4, 1e5]) + 2.0 * freedom
    expected = [exact_log_tail(value, freedom) for value in values]
    found = log_tail(values, freedom)
    np.testing.assert_allclose(found, expected, rtol=1e-6)
    assert np.all(np.diff(log_tail(np.linspace(0.0, 4000.0, 8001), freedom)) <= 0)  # also where the formula changes


def test_tails_beyond_all_numbers():
    assert log_tail(np.array([-1.0, 0.0]), 3.0).tolist() == [0.0, 0.0]
    assert log_tail(np.array([np.inf]), 3.0)[0] < -1e300


@pytest.mark.parametrize("n", [1, 2, 50, 10**6])
@pytest.mark.parametrize("log_p", [-1e5, -1000.0, -50.0, -28.0, -27.0, -10.0, -1.0, -0.1, -1e-9])
def test_at_least_one_of_independent_pvalues(n, log_p):
    """1 - (1 - p)^n; below p = 1e-12 it is n p, which leaves n p / 2."""
    exact = mpmath.log(-mpmath.expm1(n * mpmath.log1p(-mpmath.exp(mpmath.mpf(log_p)))))
    assert at_least_one(np.array([log_p]), n)[0] == pytest.approx(float(exact), rel=1e-9, abs=max(1e-12, 1e-12 * n))


def test_at_least_one_is_certain_where_pvalues_are_one():
    np.testing.assert_allclose(at_least_one(np.array([0.0]), 5), [0.0], atol=1e-12)


@pytest.mark.parametrize("q", [1, 4])
def test_a_sum_of_equal_weights_is_exact(q):
    """n rows, features of mean square 2: the statistic is (sum of chi-squares 2 - 2 q) / (n - 1)."""
    n, chi = 30, np.array([0.01, 1.0, 5.0, 40.0, 2000.0])
    law = law_of(np.full(q, 2.0 * n), n, n - 1.0, largest=False)
    expected = [exact_log_tail(value, q) for value in chi]
    np.testing.assert_allclose(law.log_pvalues((2.0 * chi - 2.0 * q) / (n - 1.0)), expected, rtol=1e-6, atol=1e-12)


@pytest.mark.parametrize("weights", [[1.0, 0.1], [1.0, 0.5, 0.25, 0.125], [3.0, *[0.1] * 20]], ids=len)
def test_a_sum_of_other_weights_is_nearly_right(weights):
    """Against 400,000 sums, of which 400 have p = .001: to 3 standard errors, and what the law says of itself."""
    rng = np.random.default_rng(0)
    drawn = np.sort(sum(w * rng.standard_normal(400_000) ** 2 for w in weights) - sum(weights))
    law = law_of(np.array(weights), 1, 1.0, largest=False)
    assert isinstance(law, SumLaw)
    for p, share in ((0.5, 0.05), (0.1, 0.05), (0.01, 0.05), (0.001, 0.3)):
        found = math.exp(law.log_pvalues(drawn[[-int(p * 400_000)]])[0])
        assert found == pytest.approx(p, rel=share)


def test_the_largest_of_some_is_exact():
    """Of 7 features, of which one is zero in all rows; in units of their own, whatever these are."""
    n, chi = 20, np.array([0.01, 1.0, 9.0, 40.0, 3000.0])
    law = law_of(np.array([5.0, 1e-3, 20.0, 1.0, 0.0, 4.0, 1e6]), n, n - 1.0, largest=True)
    assert law == LargestLaw(n - 1.0, 6)
    one = [mpmath.gammainc(0.5, mpmath.mpf(value) / 2, regularized=True) for value in chi]
    expected = [float(mpmath.log(-mpmath.expm1(6 * mpmath.log1p(-p)))) for p in one]
    np.testing.assert_allclose(law.log_pvalues((chi - 1.0) / (n - 1.0)), expected, rtol=1e-6)


def test_features_that_vanish_have_no_law():
    assert law_of(np.zeros(3), 10, 9.0, largest=False) is None
    assert law_of(np.zeros(3), 10, 9.0, largest=True) is None
