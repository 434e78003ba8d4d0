"""Few pairs in place of all: which ones, their statistic and null, level and power."""

import jax
import numpy as np
import pytest
import torch
from scipy import stats

import scorecal as sc
from scorecal._kccsd import kccsd_statistic
from scorecal.resampling import ComputeOptions, RandomSigns, u_statistics
from scorecal.resampling.estimators import Block, Complete, Incomplete, Linear, LowRank
from scorecal.statistics.random_features import low_rank

EVERY = [Complete(), Incomplete(1), Incomplete(5), Incomplete(500), Block(), Block(2), Block(7), Block(500), Linear()]


class Table:
    """H as a matrix."""

    floats_per_pair = 2

    def __init__(self, values):
        self.values = values

    def __call__(self, rows, cols):
        return self.values[rows, cols]


def pairs_of(estimator, n):
    """By their definition, both ways round."""
    i, j = np.arange(n)[:, None], np.arange(n)
    apart = i != j
    if isinstance(estimator, Incomplete):
        return apart & (np.abs(i - j) <= estimator.pairs_per_point)
    if isinstance(estimator, Complete):
        return apart
    size = 2 if isinstance(estimator, Linear) else min(n, estimator.size or max(2, int(n**0.5)))
    last = n // size - 1
    return apart & (np.minimum(i // size, last) == np.minimum(j // size, last))


@pytest.mark.parametrize("estimator", EVERY, ids=repr)
@pytest.mark.parametrize("n", [2, 3, 17, 64, 130])
def test_against_brute_force(estimator, n):
    features = np.random.default_rng(0).normal(size=(n, 3))
    values, chosen = features @ features.T, pairs_of(estimator, n)
    signs = RandomSigns().draw(n, 5, np.random.default_rng(1))
    flips = signs.on(features)(slice(0, n))
    kept = np.where(chosen, values, 0.0)
    assert estimator.pairing(n).n_pairs == chosen.sum() / 2
    for tile in (None, 8, 16):
        found = u_statistics([Table(values)], features, signs, options=ComputeOptions(estimator), tile=tile)
        assert found.statistic[0] == pytest.approx(kept.sum() / chosen.sum())
        np.testing.assert_allclose(found.contributions[0], kept.sum(axis=1) / chosen.sum(), atol=1e-12)
        expected = np.einsum("ib,ij,jb->b", flips, kept, flips) / chosen.sum()
        np.testing.assert_allclose(found.null[0], expected, atol=1e-12)


def test_as_many_pairs_as_there_are_make_the_complete_test():
    predictions, y = sc.experiments.mgm(60, 0.1, rng=0)
    complete = sc.kccsd_test(predictions, y, rng=0)
    for estimator in ("complete", Incomplete(59), Block(60)):
        result = sc.kccsd_test(predictions, y, estimator=estimator, rng=0)
        assert result.pvalue == complete.pvalue
        assert result.statistic == pytest.approx(complete.statistic)


def test_linear_is_a_one_sided_t_test():
    predictions, y = sc.experiments.mgm(200, 0.1, rng=0)
    full = sc.kccsd_test(predictions, y, estimator=Block(2), rng=0)
    result = sc.kccsd_test(predictions, y, estimator="linear", n_resamples=9999, rng=0)
    assert result.statistic == pytest.approx(full.statistic)
    pairs = 200 * result.contributions[::2]
    theirs = stats.ttest_1samp(pairs, 0.0, alternative="greater").pvalue
    assert result.pvalue == pytest.approx(theirs, abs=2e-4)
    assert result.rejects() == (result.statistic > result.critical_value())


@pytest.mark.parametrize(
    "estimator",
    [Incomplete(20), *(pytest.param(e, marks=pytest.mark.slow) for e in ("block", "linear")), "low-rank"],
    ids=repr,
)
def test_level(estimator):
    """300 data sets of 200: 27 or fewer rejections in 99.8 % of such studies, and 5 or more."""
    rejections = 0
    for seed in range(300):
        predictions, y = sc.experiments.lgm(200, 0.0, rng=seed)
        rejections += sc.kccsd_test(predictions, y, estimator=estimator, n_resamples=199, rng=seed).rejects()
    assert 5 <= rejections <= 27


def test_power_grows_with_the_number_of_pairs():
    """mgm 0.2 at n = 200, 60 data sets."""
    rejections = [0, 0, 0, 0]
    for seed in range(60):
        predictions, y = sc.experiments.mgm(200, 0.2, rng=seed)
        for k, estimator in enumerate(("linear", "block", Incomplete(50), "complete")):
            rejections[k] += sc.kccsd_test(predictions, y, estimator=estimator, n_resamples=199, rng=seed).rejects()
    assert rejections[0] + 10 < rejections[1] < rejections[3] + 3
    assert rejections[1] <= rejections[2] + 3
    assert rejections[3] >= 55


def test_every_test_takes_it():
    predictions, y = sc.experiments.hgm(80, 1.0, rng=0)
    x = np.random.default_rng(0).normal(size=80)
    for estimator in ("incomplete", "block", "linear"):
        options = {"estimator": estimator, "n_resamples": 99, "rng": 0}
        results = [
            sc.kccsd_test(predictions, y, **options),
            sc.skce_test(predictions, y, **options),
            sc.kcsd_test(predictions, y, x, **options),
            sc.ksd_test(sc.Gaussian([[0.0]], 1.0), np.ravel(y), **options),
            sc.calibration_test(predictions, y, **options),
        ]
        assert all(0.01 <= result.pvalue <= 1.0 for result in results)
    bias = {view.name: view.statistic for view in results[-1].views}["bias"]
    complete = sc.calibration_test(predictions, y, n_resamples=99, rng=0)
    assert bias == {view.name: view.statistic for view in complete.views}["bias"]


@pytest.mark.parametrize("library", ["torch", "jax"])
def test_other_backends(library):
    array = {"torch": torch.asarray, "jax": jax.numpy.asarray}[library]
    predictions, y = sc.experiments.mgm(50, 0.2, rng=0)
    moved = sc.Gaussian(array(predictions.mean), array(np.ones(50)))
    for estimator in (Incomplete(5), Block(10), "linear"):
        expected = sc.kccsd_test(sc.Gaussian(predictions.mean, np.ones(50)), y, estimator=estimator, rng=0)
        result = sc.kccsd_test(moved, array(y), estimator=estimator, rng=0)
        assert result.statistic == pytest.approx(expected.statistic, rel=1e-6)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda p, y: sc.kccsd_test(p, y, estimator="cheap"), "`estimator` must be one of 'complete', 'incomplete'"),
        (lambda p, y: sc.calibration_test(p, y, estimator=3), "`estimator` must be one of"),
        (lambda p, y: Incomplete(0), "`pairs_per_point` must be a positive integer"),
        (lambda p, y: Block(1), "`size` must be an integer of at least 2"),
        (lambda p, y: Block(2.5), "`size` must be an integer of at least 2"),
        (lambda p, y: sc.kccsd_test(sc.Gaussian(y[:3] + 1.0, 1.0), y[:3], estimator="linear"), "at least 4 targets"),
    ],
)
def test_bad_input(make, message):
    predictions, y = sc.experiments.mgm(20, 0.0, rng=0)
    with pytest.raises(ValueError, match=message):
        make(predictions, y)


@pytest.mark.parametrize("target_kernel", [sc.kernels.Gaussian(1.3), sc.kernels.Linear()], ids=["stein", "product"])
def test_low_rank_is_right_on_average(target_kernel):
    """20,000 frequencies: each entry within five errors of its mean, and most within two."""
    predictions, y = sc.experiments.hgm(7, 1.0, rng=0)
    kernel = sc.kernels.GFD(n_base=4, bandwidth=0.7)
    function = kccsd_statistic(predictions, y, kernel, target_kernel, None, np.random.default_rng(0)).function
    everything, number = slice(0, 7), 20_000
    exact = function(everything, everything)
    rng = np.random.default_rng(1)
    draws = []
    for _ in range(number // 100):
        features = low_rank(function, 100, rng).function(everything)
        draws.append(features @ features.T)
    error = np.std(draws, axis=0) / len(draws) ** 0.5 + 1e-12 * np.abs(exact)  # cos^2 + sin^2 = 1, but for rounding
    away = np.abs(np.mean(draws, axis=0) - exact) / error
    assert away.max() < 5
    assert np.mean(away < 2) > 0.8
    assert error.max() < 0.05 * np.abs(exact).max()


def test_low_rank_sees_what_the_complete_statistic_sees():
    """mgm .15 at n = 200, 60 data sets: with 50 frequencies hardly less often, with 1 less often."""
    found = {Complete(): 0, LowRank(50): 0, LowRank(1): 0}
    for seed in range(60):
        predictions, y = sc.experiments.mgm(200, 0.15, rng=seed)
        for estimator in found:
            found[estimator] += sc.kccsd_test(predictions, y, estimator=estimator, n_resamples=199, rng=seed).rejects()
    complete, many, one = found.values()
    assert complete > 40
    assert many >= complete - 6
    assert one < complete - 6


def test_low_rank_on_every_backend(backend):
    predictions, y = sc.experiments.mgm(50, 0.1, rng=0)
    here = sc.kccsd_test(predictions, y, estimator=LowRank(5), rng=0)
    there = sc.kccsd_test(
        sc.Gaussian(backend.array(predictions.mean), 1.0), backend.array(y), estimator=LowRank(5), rng=0
    )
    assert there.statistic == pytest.approx(here.statistic, rel=1e-9)
    assert there.pvalue == here.pvalue


def test_low_rank_is_for_gaussian_kernels():
    predictions, y = sc.experiments.mgm(50, 0.1, rng=0)
    for options in ({"target_kernel": sc.kernels.IMQ()}, {"distribution_kernel": sc.kernels.MMD()}):
        with pytest.raises(TypeError, match=r"`estimator='low-rank'` is for .* with Gaussian kernels"):
            sc.kccsd_test(predictions, y, estimator="low-rank", **options)
    with pytest.raises(ValueError, match="`n_frequencies` must be a positive integer"):
        LowRank(0)
    assert sc.calibration_test(predictions, y, estimator="low-rank", rng=0).pvalue > 0
