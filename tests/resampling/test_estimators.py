"""Few pairs in place of all: which ones, their statistic and null, level and power."""

import numpy as np
import pytest
from backends import B
from backends import N as ROWS
from scipy import stats

import scorecal as sc
from scorecal._kccsd import kccsd_statistic
from scorecal._skce import skce_statistic
from scorecal.resampling import ComputeOptions, RandomSigns, automatic, u_statistics
from scorecal.resampling.automatic import chosen_estimator
from scorecal.resampling.estimators import Auto, Block, Complete, Incomplete, Linear, LowRank, name_of_estimator
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


RNG = np.random.default_rng(4)
X, MEAN = RNG.normal(size=(13, 1)), RNG.normal(size=(13, 2))
Y = MEAN + RNG.normal(size=(13, 2))
TARGET = sc.kernels.Gaussian(1.3)
TESTS = {  # of some rows, with fixed bandwidths and no draws: of two rows alone, the statistic is their H
    "kccsd": lambda rows, **options: sc.kccsd_test(
        sc.Gaussian(MEAN[rows], 0.8), Y[rows], distribution_kernel=sc.kernels.GFD(bandwidth=1.5), **options
    ),
    "skce": lambda rows, **options: sc.skce_test(
        sc.Gaussian(MEAN[rows], 0.8),
        Y[rows],
        distribution_kernel=sc.kernels.MMD(sc.kernels.Gaussian(1.1), bandwidth=0.9),
        **options,
    ),
    "kcsd": lambda rows, **options: sc.kcsd_test(
        sc.Gaussian(MEAN[rows], 0.8), Y[rows], X[rows], input_kernel=sc.kernels.Gaussian(0.7), **options
    ),
    "ksd": lambda rows, **options: sc.ksd_test(sc.Gaussian([[0.0, 0.0]], 1.5), Y[rows], **options),
}


@pytest.mark.parametrize("name", TESTS)
def test_every_test_averages_the_pairs_of_its_estimator(name):
    """Statistic, and variance of the draws, from H(i, j) of two rows at a time."""
    test, n = TESTS[name], len(Y)
    H = np.zeros((n, n))
    for i, j in zip(*np.triu_indices(n, 1), strict=True):
        H[i, j] = H[j, i] = test([i, j], target_kernel=TARGET, n_resamples=1, rng=0).statistic
    for given, means in (("complete", Complete()), (Incomplete(3), Incomplete(3)), ("block", Block()), (Block(5),) * 2):
        chosen = pairs_of(means, n)
        kept = np.where(chosen, H, 0.0) / chosen.sum()
        found = test(slice(None), target_kernel=TARGET, estimator=given, n_resamples=4000, rng=0)
        assert found.statistic == pytest.approx(kept.sum(), rel=1e-9)
        np.testing.assert_allclose(found.contributions, kept.sum(axis=1), rtol=1e-9, atol=1e-12)
        assert np.mean(found.null_distribution**2) == pytest.approx(2 * np.sum(kept**2), rel=0.2)
    found = test(slice(None), target_kernel=TARGET, estimator="linear", n_resamples=9999, rng=0)
    assert found.statistic == pytest.approx(np.mean(H[pairs_of(Linear(), n)]), rel=1e-9)


@pytest.mark.parametrize("estimator", ["incomplete", Incomplete(7), "block", "linear", "low-rank"], ids=repr)
def test_views_of_pairs_take_it_and_the_others_need_not(estimator):
    """The kernel view is `kccsd_test` in whitened coordinates; from few frequencies, it is right on average."""
    predictions, y = sc.Gaussian(MEAN, 0.8), Y
    kernels = {"target_kernel": sc.kernels.Gaussian(2.0), "distribution_kernel": sc.kernels.GFD()}
    whiten = {"coordinates": sc.coordinates.whiten(), **kernels}
    complete = {view.name: view.statistic for view in sc.calibration_test(predictions, y, null="signs", rng=0).views}
    seeds = range(200 if estimator == "low-rank" else 1)
    two = [view for view in sc.views.default_views(2) if view.name in ("bias, common", "any, kernels")]
    chosen = two if estimator == "low-rank" else None
    options = [{"estimator": estimator, "n_resamples": 1, "rng": seed} for seed in seeds]
    results = [sc.calibration_test(predictions, y, views=chosen, **each) for each in options]
    views = [{view.name: view.statistic for view in result.views} for result in results]
    assert views[0]["bias, common"] == complete["bias, common"]
    found = [each["any, kernels"] for each in views]
    if estimator == "low-rank":
        assert np.std(found) > 0
        assert abs(np.mean(found) - complete["any, kernels"]) < 4 * np.std(found) / 200**0.5
    else:
        assert found == pytest.approx([sc.kccsd_test(predictions, y, **whiten, **options[0]).statistic])


@pytest.mark.parametrize("estimator", [Incomplete(5), Block(10), Linear(), LowRank(5)], ids=repr)
def test_other_backends(backend, estimator):
    rng = np.random.default_rng(0)
    mean, y = rng.normal(size=(2, ROWS, 2))
    options = {"estimator": estimator, "n_resamples": B, "precision": "full", "rng": 0}
    expected = sc.kccsd_test(sc.Gaussian(mean, 1.0), y, **options)
    result = sc.kccsd_test(sc.Gaussian(backend.array(mean), 1.0), backend.array(y), **options)
    assert result.statistic == pytest.approx(expected.statistic, rel=1e-9)
    np.testing.assert_allclose(result.null_distribution, expected.null_distribution, rtol=1e-9, atol=1e-12)
    assert result.pvalue == expected.pvalue


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (
            lambda p, y: sc.kccsd_test(p, y, estimator="cheap"),
            "`estimator` must be one of 'auto', 'complete', 'incomplete'",
        ),
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


K = sc.kernels


@pytest.mark.parametrize(
    ("target_kernel", "kernel"),
    [
        (K.Gaussian(1.3), K.GFD(n_base=4, bandwidth=0.7)),
        (K.Linear(), K.GFD(n_base=4, bandwidth=0.7)),
        (K.IMQ(1.3, c=0.8, beta=-0.7), K.GFD(n_base=4, bandwidth=0.7)),
        (K.IMQ(1.3), K.GFD(n_base=4, bandwidth=0.7, outer="imq")),
        (K.Gaussian(1.3), K.GFD(n_base=4, bandwidth=0.7, outer="linear")),
        (K.Gaussian(1.3), K.MMD(K.Gaussian(1.1), bandwidth=0.5)),
    ],
    ids=["stein", "product", "imq", "both imq", "linear outer", "mmd"],
)
def test_low_rank_is_right_on_average(target_kernel, kernel):
    """20,000 frequencies: each entry within five errors of its mean, and most within two."""
    predictions, y = sc.experiments.hgm(7, 1.0, rng=0)
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
    assert error.max() < 0.07 * np.abs(exact).max()


@pytest.mark.parametrize("expectations", ["isotropic", "diagonal", "full", "samples"])
def test_low_rank_of_the_calibration_error_is_right_on_average(expectations):
    """By a second route: each entry of 7 x 7 pairs, within five errors of its mean."""
    rng = np.random.default_rng(0)
    mean, y, scale = 5.0 + rng.normal(size=(7, 2)), 5.0 + rng.normal(size=(7, 2)), np.exp(0.3 * rng.normal(size=(7, 2)))
    covariance = {"covariance": scale[:, :, None] * np.array([[1.0, 0.4], [0.4, 1.0]]) * scale[:, None, :]}
    predictions = {
        "isotropic": lambda: sc.Gaussian(mean, scale[:, 0]),
        "full": lambda: sc.Gaussian(mean, **covariance),
    }.get(expectations, lambda: sc.Gaussian(mean, scale))()
    n_samples = 3 if expectations == "samples" else None
    target = K.IMQ(1.2) if expectations == "samples" else K.Gaussian(1.2)
    statistic, _ = skce_statistic(predictions, y, None, target, n_samples, None, np.random.default_rng(3))
    function, everything = statistic.function, slice(0, 7)
    exact, rng = function(everything, everything), np.random.default_rng(1)
    draws = []
    for _ in range(100):
        features = low_rank(function, 200, rng).function(everything)
        draws.append(features @ features.T)
    error = np.std(draws, axis=0) / 10.0
    assert np.abs((np.mean(draws, axis=0) - exact) / error).max() < 5
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


def test_low_rank_is_not_for_operators():
    predictions, y = sc.experiments.mgm(50, 0.1, rng=0)
    operator = sc.kernels.Operator([(sc.kernels.GFD(), np.eye(y.shape[1]))])
    with pytest.raises(TypeError, match=r"`estimator='low-rank'` is for .* not for operator-valued"):
        sc.kccsd_test(predictions, y, estimator="low-rank", distribution_kernel=operator)
    with pytest.raises(ValueError, match="`n_frequencies` must be a positive integer"):
        LowRank(0)


def test_auto_is_complete_while_that_is_cheap(monkeypatch):
    """In results of its own name; kernels without random features take all pairs whatever they cost."""
    predictions, y = sc.experiments.mgm(60, 0.1, rng=0)
    operator = sc.kernels.Operator([(sc.kernels.GFD(), np.eye(y.shape[1]))])
    found = {name: sc.kccsd_test(predictions, y, estimator=name, rng=0) for name in ("auto", "complete", "low-rank")}
    assert [each.estimator for each in found.values()] == ["complete", "complete", "low-rank"]
    assert found["auto"].statistic == found["complete"].statistic
    assert sc.calibration_test(predictions, y, n_resamples=19, rng=0).estimator == "complete"
    for n, d, n_resamples, name in (
        (20_000, 1, 999, "complete"),
        (20_100, 1, 999, "low-rank"),
        (29_000, 1, 199, "complete"),
        (40_000, 100, 999, "complete"),
        (60_000, 100, 999, "low-rank"),
    ):
        function = kccsd_statistic(predictions, y, None, None, None, np.random.default_rng(0)).function
        assert name_of_estimator(chosen_estimator(Auto(), [function], n, d, n_resamples)) == name
        assert chosen_estimator(Linear(), [function], n, d, n_resamples) == Linear()
    monkeypatch.setattr(automatic, "_CHEAP", 0.0)
    monkeypatch.setattr(automatic, "_OF_FEATURE", (0.0, 0.0))
    low_rank = sc.kccsd_test(predictions, y, estimator="auto", rng=0)
    assert (low_rank.estimator, low_rank.statistic) == ("low-rank", found["low-rank"].statistic)
    assert "Pairs of rows: low-rank." in low_rank.null_sentence
    assert sc.calibration_test(predictions, y, null="signs", n_resamples=19, rng=0).estimator == "low-rank"
    assert sc.kccsd_test(predictions, y, estimator="auto", distribution_kernel=operator).estimator == "complete"


def test_nulls_without_signs_know_no_float32():
    """Of Student's t with one degree of freedom, some quantiles are far from all others."""
    rng = np.random.default_rng(0)
    mean, y = rng.normal(size=(2, 40, 2))
    options = {"estimator": Block(20), "null": "student-t", "n_resamples": 10**5, "rng": 0}
    full, mixed = (sc.kccsd_test(sc.Gaussian(mean, 1.0), y, precision=each, **options) for each in ("full", "mixed"))
    assert mixed.pvalue == full.pvalue
