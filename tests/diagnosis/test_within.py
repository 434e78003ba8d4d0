"""Whether predictions are good enough, in three answers."""

import numpy as np
import pytest
from scipy import stats
from verdicts import verdict

import scorecal as sc


def diagnosis(n, spread=1.0, shift=0.0, d=2, pvalue=0.001, seed=0, **options):
    rng = np.random.default_rng(seed)
    mean = rng.normal(size=(n, d))
    y = mean + spread * rng.normal(size=(n, d)) - shift
    options = {"covariates": {}, "result": verdict(n, pvalue), "rng": 0} | options
    return sc.diagnose(sc.Gaussian(mean, 1.0), y, **options)


def test_three_answers():
    enough, few = diagnosis(5000), diagnosis(40)
    assert enough.within(bias=0.1, spread=1.1) is True
    assert few.within(bias=0.1) is None
    assert few.within(spread=1.1) is None
    assert few.within(bias=2.0, spread=3.0) is True
    wrong = diagnosis(1000, np.array([1.0, 1.5]), np.array([0.3, 0.0]))
    assert wrong.within(bias=0.1) is False
    assert wrong.within(spread=1.1) is False
    assert wrong.within(bias=0.1, spread=2.0) is False
    assert wrong.within(bias=0.5, spread=2.0) is True
    assert diagnosis(1000, 0.7).within(spread=1.1) is False


def test_passing_is_by_two_one_sided_tests():
    """The bounds of the 90 % interval: just wider limits pass, and just narrower ones do not."""
    rng = np.random.default_rng(0)
    mean, half = rng.normal(size=200), rng.uniform(0.5, 1.0, 100)
    errors = np.concatenate([half, -half]) + 0.05
    found = sc.diagnose(sc.Gaussian(mean, 1.0), mean - errors, covariates={}, result=verdict(200), rng=0)
    bound = 0.05 + stats.t(199).ppf(0.95) * stats.sem(errors)
    assert found.within(bias=1.001 * bound) is True
    assert found.within(bias=0.999 * bound) is None


def test_a_test_that_does_not_reject_cannot_fail():
    """Intervals contain what is expected, and so no limits can exclude them."""
    assert diagnosis(1000, 1.5, pvalue=0.001).within(spread=1.1) is False
    assert diagnosis(1000, 1.5, pvalue=0.5).within(spread=1.1) is None


def test_it_is_the_same_with_intervals_that_need_not_hold_together():
    for n, spread in ((40, 1.0), (1000, 1.0), (1000, 1.3)):
        answers = {diagnosis(n, spread, simultaneous=together).within(bias=0.2, spread=1.15) for together in (0, 1)}
        assert len(answers) == 1


def test_wrong_limits_pass_seldom():
    """A bias of just the limit: passed in no more than 5 % of 200 data sets, 18 or fewer in 99.5 % of studies."""
    passed = sum(diagnosis(200, shift=0.3, d=1, seed=seed).within(bias=0.3) is True for seed in range(200))
    assert 1 <= passed <= 18


def test_what_cannot_be_estimated_cannot_be_told():
    rng = np.random.default_rng(0)
    mean = rng.normal(size=(300, 1))
    heavy = sc.ScoreFunction(lambda z: -4 * (z - mean) / (3 + (z - mean) ** 2), 300, 1)
    y = mean + 40 * rng.standard_t(3, size=(300, 1))
    found = sc.diagnose(heavy, y, covariates={}, result=verdict(300), rng=0)
    assert found.within(spread=1e6) is None


@pytest.mark.parametrize(
    ("limits", "message"),
    [
        ({}, "`within` needs `bias`, `spread` or both"),
        ({"bias": 0.0}, "`bias` must be .* a positive number"),
        ({"bias": "a"}, "`bias` must be .* a positive number"),
        ({"spread": 1.0}, "`spread` must be .* a number above 1"),
        ({"bias": 0.1, "spread": np.inf}, "`spread` must be .* a number above 1"),
    ],
)
def test_bad_limits(limits, message):
    with pytest.raises(ValueError, match=message):
        diagnosis(40).within(**limits)
