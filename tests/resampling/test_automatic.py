"""P-values of random signs that are raised where rows are few."""

import sys
from functools import partial

import numpy as np
import pytest
from levels import scores_only

import scorecal as sc
from scorecal.resampling.automatic import raise_of_signs


def skewed(n, seed):
    return scores_only(n, 2, "skew-normal(6)", np.random.default_rng([seed, n]))


def test_p_values_of_few_signs_are_raised_but_not_for_gaussians_or_draws():
    function = sc.ScoreFunction(lambda y: -y, 20, 1)
    assert raise_of_signs(sc.nulls.RandomSigns(), function, 20, None) == 5.5
    assert (
        raise_of_signs(sc.nulls.RandomSigns(), function, 50, None)
        == raise_of_signs(sc.nulls.RandomSigns(), function, 400, None)
        == 1
    )
    assert raise_of_signs(sc.nulls.Simulate(), function, 20, None) == 1
    assert raise_of_signs(sc.nulls.RandomSigns(), sc.Gaussian(np.zeros(20), 1.0), 20, None) == 1


@pytest.mark.parametrize("n_resamples", [19, 99])
@pytest.mark.parametrize("n", [10, 20, 30, 45])  # a factor that is a whole number, or is not
def test_raised_p_values_are_ranks_among_the_draws_of_the_result(n, n_resamples):
    predictions, y = skewed(n, 0)
    for shift in (0.0, 0.7, 5.0):
        result = sc.calibration_test(predictions, y + shift, null="signs", n_resamples=n_resamples, rng=0)
        assert result.null_distribution.shape == (n_resamples,)
        rank = 1 + np.sum(result.null_distribution >= result.statistic)
        assert result.pvalue == pytest.approx(rank / (1 + n_resamples))
        for alpha in (0.05, 0.2, 0.5, 0.99):
            assert result.rejects(alpha) == (result.statistic > result.critical_value(alpha))
        for view in result.views:
            gaps, tie = view.null_distribution - view.statistic, 1e-8 * np.max(np.abs(view.null_distribution))
            least, most = ((1 + np.sum(gaps >= slack)) / (1 + n_resamples) for slack in (tie, -tie))
            assert least - 1e-12 <= view.pvalue <= most + 1e-12
        assert result.pvalue == min(view.adjusted_pvalue for view in result.views)
    if n > 10:  # of ten signs, few patterns differ
        assert result.pvalue == 1 / (1 + n_resamples)  # raised before it is rounded


@pytest.mark.parametrize("n_sets", [100, pytest.param(200, marks=pytest.mark.slow)])
def test_raised_p_values_hold_the_level_where_plain_ones_do_not(monkeypatch, n_sets):
    """Of skewed scores: 15 to 17 % of data sets have p-values of .05 or less before these are raised."""
    judge = partial(sc.calibration_test, null="signs", n_resamples=99)
    sets = [skewed(20, seed) for seed in range(n_sets)]
    assert sum(judge(*data, rng=seed).rejects() for seed, data in enumerate(sets)) <= 0.1 * n_sets
    monkeypatch.setattr(sys.modules["scorecal.views.judge"], "raise_of_signs", lambda *_: 1.0)
    assert sum(judge(*data, rng=seed).rejects() for seed, data in enumerate(sets)) >= 0.11 * n_sets


def test_the_warning_says_by_how_much():
    predictions, y = skewed(20, 0)
    result = sc.calibration_test(predictions, y, null="signs", n_resamples=19, rng=0)
    assert any("null=" in line for line in result.warnings)  # these predictions can be asked for scores anywhere
    in_groups = sc.calibration_test(predictions, y, groups=np.arange(20) // 2, n_resamples=19, rng=0)
    assert any("multiplied by 7" in line for line in in_groups.warnings)
    assert any(
        "20 rows are few for random signs: to be safe, the p-value" in line and "multiplied by 5.5" in line
        for line in result.warnings
    )
    assert not any("few" in line for line in sc.calibration_test(predictions, y, n_resamples=19, rng=0).warnings)


def test_seven_rows_cannot_reject_where_p_values_are_raised_and_the_result_says_so():
    predictions, y = skewed(7, 0)
    by_signs = sc.calibration_test(predictions, y + 50.0, null="signs", rng=0)
    assert not by_signs.rejects()
    assert "p-values near 0.12, raised by the factor 7.45" in by_signs.cannot_see[0]
    assert sc.calibration_test(predictions, y + 50.0, rng=0).rejects()


def test_kernels_of_pairs_that_have_no_table_are_drawn_no_more_often_than_asked():
    rng = np.random.default_rng(0)
    predictions = sc.Gaussian(rng.normal(size=20), 1.0)
    view = sc.views.View("raw", "any", sc.kernels.Gaussian(), sc.kernels.GFD(), coordinates="natural")
    result = sc.calibration_test(predictions, rng.normal(size=20), views=[view], n_resamples=19, rng=0)
    assert (result.null, result.n_draws) == ("simulate", 19)
    assert sc.calibration_test(predictions, rng.normal(size=20), n_resamples=19, rng=0).n_draws > 19
