"""The level of simultaneous intervals: against multipliers drawn one for each row, and how often all of them hold."""

import numpy as np
import pytest
from scipy import stats
from verdicts import verdict

import scorecal as sc
from scorecal.diagnosis.estimates import biases
from scorecal.diagnosis.simultaneous import agreeing, correlation_of, simultaneous_tail
from scorecal.diagnosis.sizes import Units


def family(n=300):
    """Biases of three dimensions, two of them nearly the same, and of two of these in some rows only."""
    rng = np.random.default_rng(0)
    values = rng.normal(size=(n, 3))
    values[:, 1] = values[:, 0] + 0.3 * values[:, 1]
    some = np.flatnonzero(rng.random(n) < 0.4)
    return [biases(values, Units(n)), biases(values[:, :2], Units(n), some)], values, some


def test_against_a_multiplier_for_each_row():
    sizes, values, some = family()
    n, rng = len(values), np.random.default_rng(1)
    inside = np.isin(np.arange(n), some)[:, None]
    centred = values - values.mean(axis=0)
    there = (values[:, :2] - values[some, :2].mean(axis=0)) * inside
    influences = np.concatenate([centred, there], axis=1)
    drawn = rng.normal(size=(40_000, n)) @ influences / np.sqrt(np.sum(influences**2, axis=0))
    quantile = np.quantile(np.max(np.abs(drawn), axis=1), 0.95)
    tail = simultaneous_tail(sizes, n, 0.05)
    assert stats.norm.isf(tail / 2) == pytest.approx(quantile, abs=0.03)
    unit = influences / np.sqrt(np.sum(influences**2, axis=0))
    np.testing.assert_allclose(correlation_of(sizes, n), unit.T @ unit, atol=1e-12)


def test_one_size_has_its_own_level_and_none_has_the_same():
    one = biases(np.random.default_rng(0).normal(size=(50, 1)), Units(50))
    assert simultaneous_tail([one], 50, 0.05) == pytest.approx(0.05, rel=1e-12)
    assert simultaneous_tail([], 50, 0.05) == 0.05


def test_independent_sizes_have_the_level_of_sidak():
    many = biases(np.random.default_rng(0).normal(size=(20_000, 10)), Units(20_000))
    assert simultaneous_tail([many], 20_000, 0.05) == pytest.approx(1 - 0.95**0.1, rel=0.06)
    more = biases(np.random.default_rng(0).normal(size=(50, 1001)), Units(50))
    assert simultaneous_tail([more], 50, 0.05) == pytest.approx(1 - 0.95 ** (1 / 1001))


def test_clusters_are_units():
    """Rows three times over, told as clusters, have the level of single rows; in blocks of more units than one."""
    rng = np.random.default_rng(0)
    values, n = rng.normal(size=(9000, 4)) @ rng.normal(size=(4, 4)), 9000
    thrice = np.repeat(np.arange(n), 3)
    rows, clusters = biases(values, Units(n)), biases(values[thrice], Units(n, thrice))
    np.testing.assert_allclose(correlation_of([clusters], n), correlation_of([rows], n), atol=1e-12)
    np.testing.assert_allclose(correlation_of([rows], n), np.corrcoef(values.T), atol=1e-12)


def test_intervals_agree_with_the_verdict():
    sizes = family()[0]
    least = min(np.min(each.tails()) for each in sizes)
    assert agreeing(0.9, sizes, rejected=False) == least
    assert agreeing(0.9, sizes, rejected=True) == 0.9
    assert agreeing(least / 2, sizes, rejected=False) == least / 2


def test_all_intervals_hold_at_once():
    """Ten dimensions, wrong in some, 100 data sets: 95 % hold all 20 sizes at once, where single ones do in a third."""
    held = np.zeros(2)
    for seed in range(100):
        rng = np.random.default_rng(seed)
        mean, true = rng.normal(size=(300, 10)), np.linspace(0.8, 1.3, 10)
        y = mean + true * rng.normal(size=(300, 10)) - 0.2
        for k, together in enumerate((True, False)):
            options = {"covariates": {}, "simultaneous": together, "result": verdict(300), "rng": 0}
            found = sc.diagnose(sc.Gaussian(mean, 1.0), y, **options)
            off = all(each.holds(0.2) for each in found.bias)
            held[k] += off and all(each.holds(sd) for each, sd in zip(found.confidence_ratio, true, strict=True))
    assert held[0] >= 88
    assert held[1] <= 60
