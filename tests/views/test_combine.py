"""One p-value from several: laws beside ranks, wrong laws, weights."""

import numpy as np
import pytest
from scipy import stats

from scorecal.resampling.laws import LargestLaw, SumLaw, law_of
from scorecal.views.combine import Draws, _fitted, combine


class Known:
    """A law of statistics that are standard normal, with log p-values multiplied by a factor: 1 is right."""

    def __init__(self, factor=1.0):
        self.factor = factor

    def log_pvalues(self, values):
        return self.factor * stats.norm.logsf(values)


def combined(values, laws, weights=None):
    """The outcome of the first of the replicates in the columns of `values`."""
    weights = np.ones(len(values)) if weights is None else np.asarray(weights)
    return combine(values[:, 0], values[:, 1:], laws, weights, Draws(values.shape[1] - 1))


@pytest.mark.parametrize("q", [1, 5])
@pytest.mark.parametrize("largest", [False, True])
def test_pvalues_by_law_are_ranks_among_many_draws(q, largest):
    """Sums of features of normal numbers, drawn 40,000 times; both of ranks and of the law there is an error."""
    rng, n = np.random.default_rng(0), 50
    squares = n * np.array([1.0, 0.5, 0.2, 0.2, 0.1])[:q]
    sums = np.sqrt(squares)[:, None] * rng.normal(size=(q, 40_000))
    parts = sums**2 / (squares[:, None] if largest else n)
    statistics = (parts.max(axis=0) - 1.0 if largest else parts.sum(axis=0) - squares.sum() / n) / (n - 1)
    law = law_of(squares, n, n - 1, largest)
    assert isinstance(law, LargestLaw if largest else SumLaw)
    ranks = stats.rankdata(-statistics) / 40_000
    by_law = np.exp(law.log_pvalues(statistics))
    # The law of a sum of unequal weights is right to some percent.
    allowed = 4.0 * np.sqrt(ranks / 40_000) + (0.1 * ranks if q > 1 and not largest else 0.0)
    assert np.all(np.abs(by_law - ranks)[ranks < 0.5] <= allowed[ranks < 0.5])


def test_a_law_tells_views_apart_that_are_beyond_all_draws():
    """Ranks cannot: both views have the smallest p-value; the evidence is what the formula says."""
    values = np.random.default_rng(0).normal(size=(2, 1000))
    values[:, 0] = 9.0, 7.0
    found = combined(values, [Known(), Known()])
    assert found.pvalue == found.own[1] == found.adjusted[1] == 0.001
    assert found.statistic == pytest.approx(
        -stats.norm.logsf(9.0) / np.log(10.0), rel=0.1
    )  # `_fitted` may correct a law
    assert found.sizes == pytest.approx([stats.norm.isf(0.5 * stats.norm.sf(size)) for size in (9.0, 7.0)], rel=0.06)


def test_the_weight_of_a_view_divides_its_pvalue():
    """Of two views of equal evidence, the heavier one decides; adjusted p-values are those of the weighted p-values."""
    values = np.random.default_rng(0).normal(size=(2, 2000))
    values[:, 0] = 2.5, 2.5
    light, heavy = (combined(values, [Known(), Known()], weights) for weights in ((1.0, 1.0), (1.0, 9.0)))
    p = stats.norm.sf(2.5)
    assert heavy.statistic - light.statistic == pytest.approx(np.log10(9.0), rel=0.02)
    # P(min(p_1, p_2 / 9) <= p / 9) and P(min(p_1, p_2 / 9) <= p), of independent uniform p_1 and p_2
    error = 4.0 * np.sqrt(0.06 / 2000) + 0.005
    assert heavy.adjusted[1] == pytest.approx(1 - (1 - p / 9) * (1 - p), abs=error)
    assert heavy.adjusted[0] == pytest.approx(1 - (1 - p) * (1 - 9 * p), abs=error)
    assert heavy.pvalue == heavy.adjusted[1] < light.pvalue < heavy.adjusted[0]


@pytest.mark.parametrize("factor", [0.3, 1.0, 3.0, 10.0])
def test_a_wrong_law_does_not_make_the_test_wrong(factor):
    """Whatever the law, the data are one of 40 replicates that are treated alike: k of them have p <= k / 40."""
    values = np.random.default_rng(0).normal(size=(3, 40))
    found = [
        combined(np.roll(values, -k, axis=1), [Known(factor), None, Known()], [2.0, 1.0, 1.0]).pvalue for k in range(40)
    ]
    np.testing.assert_allclose(np.sort(found), np.arange(1, 41) / 40, atol=0.03)


@pytest.mark.parametrize("factor", [1.0, 3.0, 10.0])
def test_a_wrong_law_does_not_hide_what_others_see(factor):
    """Evidence of 3.5 standard errors, in a second view; by a law ten times too sure, the first would be first."""
    rng, found = np.random.default_rng(1), []
    for _ in range(60):
        values = rng.normal(size=(2, 500))
        values[1, 0] = 3.5
        found.append(combined(values, [Known(factor), Known()]).pvalue)
    assert np.quantile(found, 0.9) <= 0.02


def test_laws_that_are_right_are_hardly_changed():
    """P-values are made larger only, by a factor of less than 1.2 in the logarithm, but for the error of quantiles."""
    rng = np.random.default_rng(0)
    for n in (100, 1000):
        evidence = rng.exponential(size=n)
        found = -_fitted(evidence[None])[0]
        assert np.all(found <= evidence + 1e-12)
        assert np.all(found >= evidence / 1.25)
        assert np.all(np.diff(found[np.argsort(evidence)]) >= 0)


@pytest.mark.parametrize("factor", [0.5, 2.0, 20.0])
def test_fitted_laws_have_about_the_right_number_of_small_pvalues(factor):
    evidence = factor * np.random.default_rng(0).exponential(size=5000)
    found = np.exp(_fitted(evidence[None])[0])
    for p in (0.1, 0.01):
        most = {0.1: 0.1 ** (1 / 1.15), 0.01: 0.01 ** (1 / 1.2)}[p]
        assert np.mean(found <= p) <= most + 0.005
    np.testing.assert_array_equal(np.argsort(found), np.argsort(-evidence))
    if factor < 1:
        np.testing.assert_allclose(found, np.exp(-evidence))


def test_a_law_of_equal_values_is_left_alone():
    np.testing.assert_array_equal(_fitted(np.zeros((1, 50)))[0], np.zeros(50))
    np.testing.assert_allclose(_fitted(np.append(np.zeros(499), 5.0)[None])[0], np.append(np.zeros(499), -5.0))
