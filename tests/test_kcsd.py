"""KCSD and KSD: the KCCSD statistic with another kernel in its place, their level and power."""

import numpy as np
import pytest
from backends import B, D, N, make_backend
from scipy import stats

import scorecal as sc
from scorecal._kcsd import kcsd_statistic
from scorecal.kernels.gram import EmbeddingGram
from scorecal.statistics.stein import stein_pairs

K = sc.kernels
RNG = np.random.default_rng(8)
X = RNG.normal(size=(N, 3))
MEAN = X[:, :2]
Y = MEAN + RNG.normal(size=(N, D))


@pytest.mark.parametrize("kernel", [K.Gaussian(1.4), K.IMQ(1.4, c=0.7, beta=-0.3)], ids=str)
@pytest.mark.parametrize("target", [K.Gaussian(1.1), K.IMQ(1.1)], ids=str)
def test_kernel_on_inputs_times_stein_kernel(kernel, target):
    predictions = sc.Gaussian(MEAN, 1.0)
    function, *_ = kcsd_statistic(predictions, Y, X, kernel, target, None, None)
    whole = slice(0, N)
    constant = EmbeddingGram(np.zeros((N, 1)), "gaussian")
    h = stein_pairs(Y, predictions.score(Y), target, np.asarray(1.1), constant)(whole, whole)
    t = np.sum((X[:, None] - X[None]) ** 2, axis=-1) / 1.4**2
    k = np.exp(-t / 2) if isinstance(kernel, K.Gaussian) else (0.49 + t) ** -0.3
    np.testing.assert_allclose(function(whole, whole), k * h, rtol=1e-9, atol=1e-11)


def test_median_bandwidth_of_the_inputs():
    result = sc.kcsd_test(sc.Gaussian(MEAN, 1.0), Y, X, n_resamples=9, rng=0)
    i, j = np.triu_indices(N, 1)
    assert result.bandwidths["input"] == pytest.approx(np.median(np.linalg.norm(X[i] - X[j], axis=1)))
    assert set(result.bandwidths) == {"target", "input"}
    assert float(sc.kcsd(sc.Gaussian(MEAN, 1.0), Y, X)) == result.statistic


def test_flat_inputs_and_lists():
    predictions = sc.Gaussian(X[:, 0], 1.0)
    flat = sc.kcsd_test(predictions, Y[:, 0], X[:, 0], n_resamples=9, rng=0)
    lists = sc.kcsd_test(predictions, Y[:, 0].tolist(), X[:, :1].tolist(), n_resamples=9, rng=0)
    assert flat.statistic == lists.statistic


@pytest.mark.parametrize("name", ["torch", "cuda", "jax", "strict"])
def test_other_backends(name):
    backend = make_backend(name)
    expected = sc.kcsd_test(sc.Gaussian(MEAN, 1.0), Y, X, n_resamples=B, precision="full", rng=1)
    actual = sc.kcsd_test(
        sc.Gaussian(backend.array(MEAN), 1.0),
        backend.array(Y),
        backend.array(X),
        n_resamples=B,
        precision="full",
        rng=1,
    )
    np.testing.assert_allclose(actual.null_distribution, expected.null_distribution, rtol=1e-10, atol=1e-13)
    one = sc.Gaussian(backend.array(np.zeros((1, D))), 1.0)
    expected = sc.ksd_test(sc.Gaussian(np.zeros((1, D)), 1.0), Y, n_resamples=B, precision="full", rng=1)
    actual = sc.ksd_test(one, backend.array(Y), n_resamples=B, precision="full", rng=1)
    np.testing.assert_allclose(actual.null_distribution, expected.null_distribution, rtol=1e-10, atol=1e-13)


def test_ksd_is_the_kccsd_of_identical_predictions():
    one = sc.Gaussian([[0.2, -0.1]], covariance=[[1.0, 0.3], [0.3, 2.0]])
    many = sc.Gaussian(np.repeat(one.mean, N, axis=0), covariance=one.covariance[0])
    for target in (K.Gaussian(), K.IMQ()):
        ksd = sc.ksd_test(one, Y, target_kernel=target, n_resamples=30, rng=2)
        kccsd = sc.kccsd_test(many, Y, target_kernel=target, n_resamples=30, rng=2)
        np.testing.assert_allclose(ksd.null_distribution, kccsd.null_distribution, rtol=1e-10, atol=1e-14)
        assert ksd.pvalue == kccsd.pvalue


def count(test, repetitions=1000):
    return sum(test(np.random.default_rng([81, repetition])) for repetition in range(repetitions))


SIZES = [100, pytest.param(256, marks=pytest.mark.slow)]


@pytest.mark.parametrize("n", SIZES)
def test_level_of_kcsd(n):
    def rejects(rng):
        x = rng.normal(size=(n, 2))
        y = x[:, :1] + rng.normal(size=(n, 1))
        return sc.kcsd_test(sc.Gaussian(x[:, :1], 1.0), y, x, n_resamples=199, rng=rng).rejects()

    low, high = stats.binom.ppf([0.005, 0.995], 1000, 0.05)
    assert low <= count(rejects) <= high


@pytest.mark.parametrize("n", SIZES)
def test_level_of_ksd(n):
    one = sc.Gaussian([[1.0, 2.0]], 3.0)

    def rejects(rng):
        y = [1.0, 2.0] + 3.0 * rng.normal(size=(n, 2))
        return sc.ksd_test(one, y, n_resamples=199, rng=rng).rejects()

    low, high = stats.binom.ppf([0.005, 0.995], 1000, 0.05)
    assert low <= count(rejects) <= high


def test_power_where_the_input_tells_more_than_the_prediction():
    def rejects(rng):
        x = rng.normal(size=200)
        y = 0.5 * x + rng.normal(size=200)
        return sc.kcsd_test(sc.Gaussian(np.zeros(200), np.sqrt(1.25)), y, x, n_resamples=200, rng=rng).rejects()

    assert count(rejects, 50) > 40


def test_one_number_is_not_a_batch_of_targets():
    with pytest.raises(ValueError, match=r"`y` must have shape \(n, d\)"):
        sc.ksd_test(sc.Gaussian([[0.0]], 1.0), 3.0)
