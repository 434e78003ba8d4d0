"""The test as users call it: result, derivatives, float32, coordinates."""

import pickle
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import jax
import numpy as np
import pytest
import threadpoolctl
import torch
from backends import D, N

import scorecal as sc
from scorecal._kccsd import kccsd_statistic
from scorecal.coordinates import identity
from scorecal.resampling import u_statistics
from scorecal.resampling.signs import Signs
from scorecal.results import calibration_result

jax.config.update("jax_enable_x64", True)
K = sc.kernels
RNG = np.random.default_rng(3)
MEAN = RNG.normal(size=(N, D))
SCALE = RNG.uniform(0.5, 2.0, N)
Y = MEAN + SCALE[:, None] * RNG.normal(size=(N, D))


def test_result_has_what_it_says():
    predictions, y = sc.experiments.mgm(100, 0.1, rng=0)
    result = sc.kccsd_test(predictions, y, n_resamples=99, rng=0)
    assert (result.n, result.n_resamples) == (100, 99)
    assert result.null_distribution.shape == (99,)
    assert result.contributions.shape == (100,)
    assert result.contributions.sum() == pytest.approx(result.statistic, rel=1e-12)
    assert result.pvalue == (1 + np.sum(result.null_distribution >= result.statistic)) / 100
    assert set(result.bandwidths) == {"target", "distribution"}
    assert isinstance(result.statistic, float)
    assert "pvalue" in repr(result)
    assert "array" not in repr(result)
    with_ground = sc.kccsd_test(predictions, y, distribution_kernel=K.KGFD(), n_resamples=9, rng=0)
    assert set(with_ground.bandwidths) == {"target", "distribution", "ground"}


def test_defaults_are_the_paper():
    predictions, y = sc.experiments.hgm(80, 1.0, rng=0)
    explicit = sc.kccsd_test(
        predictions,
        y,
        distribution_kernel=K.GFD(base=sc.Gaussian([[0.0]], 1.0), bandwidth="median"),
        target_kernel=K.Gaussian("median"),
        n_resamples=999,
        rng=5,
    )
    default = sc.kccsd_test(predictions, y, rng=5)
    assert default.pvalue == explicit.pvalue
    assert default.statistic == pytest.approx(explicit.statistic, rel=1e-13)


def test_same_seed_same_result_and_generators_advance():
    first = sc.kccsd_test(sc.Gaussian(MEAN, SCALE), Y, n_resamples=50, rng=1)
    again = sc.kccsd_test(sc.Gaussian(MEAN, SCALE), Y, n_resamples=50, rng=np.random.default_rng(1))
    np.testing.assert_array_equal(first.null_distribution, again.null_distribution)
    rng = np.random.default_rng(1)
    one, two = (sc.kccsd_test(sc.Gaussian(MEAN, SCALE), Y, n_resamples=50, rng=rng) for _ in range(2))
    assert np.any(one.null_distribution != two.null_distribution)


def test_draws_come_in_the_stated_order():
    """Base points first, then signs."""
    rng = np.random.default_rng(8)
    points = rng.standard_normal((4, 1, D))[:, 0]
    packed = np.frombuffer(rng.bytes(-(-N * 20 // 8)), dtype=np.uint8)
    predictions = sc.Gaussian(MEAN, SCALE)
    function, reference, *_ = kccsd_statistic(predictions, Y, K.GFD(points), K.Gaussian(), identity, rng)
    expected = u_statistics([function], reference, Signs(packed, 20))
    actual = sc.kccsd_test(predictions, Y, distribution_kernel=K.GFD(n_base=4), n_resamples=20, precision="full", rng=8)
    np.testing.assert_allclose(actual.null_distribution, expected.null[0], rtol=1e-12)


@pytest.mark.parametrize("n_resamples", [1, 19, 20, 99])
@pytest.mark.parametrize("alpha", [0.01, 0.05, 0.1, 0.5, 0.99])
def test_critical_value_is_what_rejects_means(n_resamples, alpha):
    rng = np.random.default_rng(0)
    null = np.round(rng.normal(size=n_resamples), 1)  # with ties
    for statistic in np.concatenate([null, null + 0.05, [-10.0, 10.0]]):
        result = calibration_result(float(statistic), null, np.zeros(3), {}, 2e-16)
        assert result.rejects(alpha) == (result.statistic > result.critical_value(alpha))
        assert result.pvalue >= 1 / (1 + n_resamples)


def test_equal_draws_are_equal_despite_rounding():
    """With two points every draw is plus or minus the statistic, so the p-value is about a half."""
    result = sc.kccsd_test(sc.Gaussian(MEAN[:2], 1.0), Y[:2], n_resamples=999, rng=0)
    sign = np.sign(result.null_distribution) == np.sign(result.statistic)
    np.testing.assert_array_equal(result.null_distribution[sign], result.statistic)
    smaller = result.statistic > -abs(result.statistic)
    assert result.pvalue == pytest.approx(0.5, abs=0.08) if smaller else result.pvalue == 1.0


@pytest.mark.parametrize("target", [K.Gaussian(), K.IMQ(), K.Gaussian(1.0)], ids=str)
@pytest.mark.parametrize(
    "distribution",
    [K.GFD(), K.GFD(n_base=3), K.KGFD(K.Gaussian(1.0)), K.MMD(K.Gaussian(1.0)), K.Wasserstein()],
    ids=lambda k: type(k).__name__,
)
def test_derivatives_against_finite_differences(distribution, target):
    def value(mean, scale, y):
        return sc.kccsd(sc.Gaussian(mean, scale), y, distribution_kernel=distribution, target_kernel=target, rng=0)

    arguments = [MEAN, SCALE, Y]
    tensors = [torch.tensor(argument, requires_grad=True) for argument in arguments]
    value(*tensors).backward()
    traced, gradients = jax.jit(jax.value_and_grad(value, argnums=(0, 1, 2)))(*arguments)
    assert float(traced) == pytest.approx(float(value(*arguments)), rel=1e-10)
    for k, argument in enumerate(arguments):
        direction = np.random.default_rng(k).normal(size=argument.shape)
        moved = [
            [a + (step * direction if index == k else 0.0) for index, a in enumerate(arguments)]
            for step in (1e-5, -1e-5)
        ]
        expected = (value(*moved[0]) - value(*moved[1])) / 2e-5
        assert np.sum(tensors[k].grad.numpy() * direction) == pytest.approx(expected, rel=1e-6, abs=1e-9)
        np.testing.assert_allclose(gradients[k], tensors[k].grad.numpy(), rtol=1e-8, atol=1e-12)


def test_derivatives_reach_the_parameters_of_a_network():
    torch.manual_seed(0)
    network = torch.nn.Linear(3, 2).double()
    x = torch.randn(N, 3, dtype=torch.float64)
    sc.kccsd(sc.Gaussian(network(x), torch.ones(N, dtype=torch.float64)), torch.tensor(Y)).backward()
    assert all(bool(torch.any(parameter.grad != 0)) for parameter in network.parameters())


def test_derivatives_through_duplicates_are_finite():
    """Distances of zero have no slope of their own."""
    mean = torch.tensor(np.repeat(MEAN[:3], 10, axis=0), requires_grad=True)
    y = torch.tensor(np.repeat(Y[:3], 10, axis=0), requires_grad=True)
    sc.kccsd(sc.Gaussian(mean, 1.0), y).backward()
    assert bool(torch.all(torch.isfinite(mean.grad)))
    assert bool(torch.all(torch.isfinite(y.grad)))


@pytest.mark.parametrize(
    "distribution",
    [K.GFD(), K.KGFD(), K.KGFD(K.Gaussian(1.0), n_base=10), K.MMD(), K.Wasserstein()],
    ids=lambda k: type(k).__name__,
)
@pytest.mark.parametrize("spread", [0.0, 1e-7, 1e-4, 1.0])
@pytest.mark.parametrize("offset", [0.0, 100.0])
def test_float32_on_near_duplicates(distribution, spread, offset):
    """No NaN, no negative squared distance (a kernel above 1), and the float64 answer where float32 can hold it."""
    rng = np.random.default_rng(0)
    mean = (offset + spread * rng.normal(size=(150, 3))).astype(np.float32)
    scale = (1.0 + spread * rng.uniform(size=150)).astype(np.float32)
    y = (mean + rng.normal(size=(150, 3))).astype(np.float32)
    from scorecal.kernels.gram import distribution_gram

    gram, _ = distribution_gram(distribution, sc.Gaussian(mean, scale), y, np.random.default_rng(0))
    k = gram(slice(0, 150), slice(0, 150))
    assert k.dtype == np.float32
    assert np.all((k >= 0) & (k <= 1))
    result = sc.kccsd_test(sc.Gaussian(mean, scale), y, distribution_kernel=distribution, n_resamples=99, rng=0)
    assert np.all(np.isfinite(result.null_distribution))
    if spread in (0.0, 1.0) and offset == 0.0:
        exact = sc.kccsd_test(
            sc.Gaussian(mean.astype(float), scale.astype(float)),
            y.astype(float),
            distribution_kernel=distribution,
            n_resamples=99,
            rng=0,
        )
        assert abs(result.statistic - exact.statistic) < 1e-3 * exact.null_distribution.std()


def test_float32_survives_an_outlier():
    """One very narrow prediction must not spoil the distances between the others."""
    predictions, y = sc.experiments.mgm(200, 0.1, rng=0)
    scale = np.ones(200)
    scale[0] = 1e-3
    y[0] = predictions.mean[0] + 1e-3 * (y[0] - predictions.mean[0])
    exact = sc.kccsd_test(sc.Gaussian(predictions.mean, scale), y, n_resamples=99, rng=0)
    single = sc.kccsd_test(
        sc.Gaussian(predictions.mean.astype("f4"), scale.astype("f4")), y.astype("f4"), n_resamples=99, rng=0
    )
    assert abs(single.statistic - exact.statistic) < 0.01 * exact.null_distribution.std()


@pytest.mark.parametrize("share", [0.0, 0.2])
@pytest.mark.parametrize("offset", [1e4, 1e5, 1e6])
@pytest.mark.parametrize("target", [K.Gaussian(), K.IMQ()], ids=str)
def test_float32_survives_distant_rows(share, offset, target):
    """One row, or a cluster of them, far away: the test goes on in float64 and says what float64 says."""
    rng = np.random.default_rng(0)
    mean, noise = rng.normal(size=200), rng.normal(size=200)
    mean[: max(1, int(200 * share))] += offset
    mean = mean.astype("f4")
    y = (mean + noise).astype("f4")
    exact = sc.kccsd_test(
        sc.Gaussian(mean.astype(float), 1.0), y.astype(float), target_kernel=target, n_resamples=199, rng=0
    )
    single = sc.kccsd_test(sc.Gaussian(mean, np.float32(1.0)), y, target_kernel=target, n_resamples=199, rng=0)
    assert single.pvalue == pytest.approx(exact.pvalue, abs=0.006)


def test_predictions_can_be_used_again():
    """Nothing that autograd or a tracer left behind is kept with the predictions."""
    for spread in ({"scale": SCALE}, {"covariance": SCALE[:, None, None] ** 2 * np.eye(D)}):
        tensors = {name: torch.tensor(value, requires_grad=True) for name, value in spread.items()}
        predictions, y = sc.Gaussian(torch.tensor(MEAN), **tensors), torch.tensor(Y)
        with torch.no_grad():
            sc.kccsd(predictions, y)
        (parameter,) = tensors.values()
        sc.kccsd(predictions, y).backward()
        first = parameter.grad.clone()
        sc.kccsd(predictions, y).backward()
        assert bool(torch.any(first != 0))
        torch.testing.assert_close(parameter.grad, 2 * first)
        traced = sc.Gaussian(
            jax.numpy.asarray(MEAN), **{name: jax.numpy.asarray(value) for name, value in spread.items()}
        )
        inside = jax.jit(lambda y, traced=traced: sc.kccsd(traced, y))(jax.numpy.asarray(Y))
        assert float(sc.kccsd(traced, jax.numpy.asarray(Y))) == pytest.approx(float(inside), rel=1e-12)


@pytest.mark.parametrize("kernel", [K.MMD(K.Gaussian(1.0), n_samples=3), K.Wasserstein(n_samples=3)], ids=str)
def test_mixtures_under_jit(kernel):
    def value(weights, means):
        mixture = sc.GaussianMixture(weights, means, jax.numpy.ones((N, 2)))
        return sc.kccsd(mixture, jax.numpy.asarray(Y), distribution_kernel=kernel, rng=0)

    weights, means = jax.numpy.full((N, 2), 0.5), jax.numpy.asarray(np.stack([MEAN, MEAN + 1], axis=1))
    mixture = sc.GaussianMixture(np.asarray(weights), np.asarray(means), np.ones((N, 2)))
    expected = sc.kccsd(mixture, Y, distribution_kernel=kernel, rng=0)
    found, gradient = jax.jit(jax.value_and_grad(value, argnums=1))(weights, means)
    assert float(found) == pytest.approx(float(expected), rel=1e-10)
    assert bool(jax.numpy.all(jax.numpy.isfinite(gradient)))


def test_jax_with_arrays_that_are_not_arguments():
    """A training loss: data closed over, parameters differentiated, compiled or not."""
    x, y = jax.numpy.asarray(MEAN), jax.numpy.asarray(Y)

    def loss(w):
        return sc.kccsd(sc.Gaussian(x * w, jax.numpy.ones(N)), y)

    step = 1e-6
    expected = (
        sc.kccsd(sc.Gaussian(MEAN * (1.1 + step), 1.0), Y) - sc.kccsd(sc.Gaussian(MEAN * (1.1 - step), 1.0), Y)
    ) / (2 * step)
    assert float(jax.jit(jax.grad(loss))(1.1)) == pytest.approx(expected, rel=1e-6)
    x, y = x.astype("f4"), y.astype("f4")
    assert float(jax.grad(loss)(np.float32(1.1))) == pytest.approx(expected, rel=1e-3)


def test_derivatives_with_a_matched_base_are_finite():
    """Equal covariances give equal eigenvalues, whose vectors have no derivative."""
    mean = torch.tensor(MEAN, requires_grad=True)
    predictions = sc.Gaussian(mean, covariance=torch.eye(D, dtype=torch.float64))
    for kernel in (K.GFD(base="match"), K.KGFD(K.Gaussian(1.0), base="match")):
        sc.kccsd(predictions, torch.tensor(Y), distribution_kernel=kernel).backward()
    assert bool(torch.all(torch.isfinite(mean.grad)))


def test_result_can_be_sent_to_another_process():
    result = sc.kccsd_test(sc.Gaussian(MEAN, SCALE), Y, n_resamples=9, rng=0)
    again = pickle.loads(pickle.dumps(result))
    assert (again.pvalue, again.bandwidths) == (result.pvalue, result.bandwidths)


def test_tests_in_two_threads_leave_blas_as_it_was():
    predictions, y = sc.experiments.mgm(1200, 0.0, rng=0)
    before = [library["num_threads"] for library in threadpoolctl.threadpool_info() if library["user_api"] == "blas"]
    with ThreadPoolExecutor(3) as pool:
        results = list(pool.map(lambda seed: sc.kccsd_test(predictions, y, n_resamples=99, rng=0).pvalue, range(6)))
    assert len(set(results)) == 1
    after = [library["num_threads"] for library in threadpoolctl.threadpool_info() if library["user_api"] == "blas"]
    assert after == before


def test_coordinates_carry_targets_and_scores():
    """A rotation, with scores carried along, changes neither distances nor inner products."""
    rotation = np.linalg.qr(RNG.normal(size=(D, D)))[0]

    def rotated(predictions, y):
        predictions, y, scores = identity(predictions, y)
        return predictions, y @ rotation.T, scores @ rotation.T

    plain = sc.kccsd_test(sc.Gaussian(MEAN, SCALE), Y, n_resamples=50, rng=0)
    turned = sc.kccsd_test(sc.Gaussian(MEAN, SCALE), Y, coordinates=rotated, n_resamples=50, rng=0)
    assert turned.statistic == pytest.approx(plain.statistic, rel=1e-10)
    np.testing.assert_allclose(turned.null_distribution, plain.null_distribution, rtol=1e-9, atol=1e-14)

    def stretched(predictions, y):
        predictions, y, scores = identity(predictions, y)
        return predictions, y * [1.0, 10.0], scores / [1.0, 10.0]

    assert sc.kccsd(sc.Gaussian(MEAN, SCALE), Y, coordinates=stretched) != pytest.approx(plain.statistic, rel=0.01)


def test_gaussian_given_in_three_ways():
    ways = [
        sc.Gaussian(MEAN, SCALE),
        sc.Gaussian(MEAN, np.repeat(SCALE[:, None], D, axis=1)),
        sc.Gaussian(MEAN, covariance=SCALE[:, None, None] ** 2 * np.eye(D)),
    ]
    for kernel in (K.GFD(), K.KGFD(K.Gaussian(1.0)), K.MMD(K.Gaussian(1.0)), K.GFD(base="match")):
        values = [sc.kccsd(way, Y, distribution_kernel=kernel) for way in ways]
        assert values[1] == pytest.approx(values[0], rel=1e-10)
        assert values[2] == pytest.approx(values[0], rel=1e-10)


def test_order_of_the_rows_does_not_matter():
    shuffle = np.random.default_rng(0).permutation(N)
    plain = sc.kccsd_test(sc.Gaussian(MEAN, SCALE), Y, n_resamples=9, rng=0)
    mixed = sc.kccsd_test(sc.Gaussian(MEAN[shuffle], SCALE[shuffle]), Y[shuffle], n_resamples=9, rng=0)
    assert mixed.statistic == pytest.approx(plain.statistic, rel=1e-10)
    np.testing.assert_allclose(mixed.contributions, plain.contributions[shuffle], rtol=1e-8, atol=1e-14)


def test_units_do_not_matter_when_the_base_is_matched():
    kernel = K.GFD(base="match")
    plain = sc.kccsd_test(sc.Gaussian(MEAN, SCALE), Y, distribution_kernel=kernel, n_resamples=99, rng=0)
    inches = sc.kccsd_test(
        sc.Gaussian(7 + 2.5 * MEAN, 2.5 * SCALE), 7 + 2.5 * Y, distribution_kernel=kernel, n_resamples=99, rng=0
    )
    assert inches.pvalue == plain.pvalue
    assert inches.statistic == pytest.approx(plain.statistic / 2.5**2, rel=1e-9)


WITHOUT_X64 = """
import warnings; warnings.simplefilter("error")
import jax.numpy as jnp, numpy as np, scorecal as sc
predictions, y = sc.experiments.mgm(60, 0.1, rng=0)
for kernel in (sc.kernels.GFD(), sc.kernels.KGFD(n_base=5)):
    exact = sc.kccsd_test(predictions, y, distribution_kernel=kernel, n_resamples=99, rng=0)
    moved = sc.Gaussian(jnp.asarray(predictions.mean), 1.0)
    single = sc.kccsd_test(moved, jnp.asarray(y), distribution_kernel=kernel, n_resamples=99, rng=0)
    assert abs(single.statistic - exact.statistic) < 1e-3 * exact.null_distribution.std(), (kernel, single, exact)
"""


def test_jax_without_float64():
    subprocess.run([sys.executable, "-c", WITHOUT_X64], check=True)


def test_import_is_light():
    """Heavy libraries are loaded only by those who use them."""
    heavy = ["torch", "jax", "numpyro", "sbi", "flowjax", "ngboost", "matplotlib", "scipy.stats", "sklearn"]
    code = f"import sys, scorecal; print([name for name in {heavy} if name in sys.modules])"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "[]"
