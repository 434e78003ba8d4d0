"""Closed forms of distances against Monte Carlo with an error bar or quadrature; sampled ones against double sums."""

import numpy as np
import pytest
from kernel_checks import BASES, MEAN, PREDICTIONS, SCALE, TAU, D, distances
from scipy import stats

import scorecal as sc

K = sc.kernels
RNG = np.random.default_rng(12)


def assert_within_error(exact, draws):
    """`draws` (number, ...) average to `exact` within 5 standard errors, which must themselves be small."""
    error = draws.std(axis=0) / np.sqrt(len(draws))
    assert np.all(error <= 0.05 * np.abs(exact).max())
    assert np.all(np.abs(draws.mean(axis=0) - exact) <= 5 * error + 1e-12)


@pytest.mark.parametrize("base", BASES)
@pytest.mark.parametrize("kind", PREDICTIONS)
def test_exact_gfd(kind, base):
    predictions = PREDICTIONS[kind]
    scores = predictions.score(BASES[base].sample(200_000, rng=0))
    gaps = np.sum((scores[:, 0] - scores[:, 1]) ** 2, axis=-1)
    assert_within_error(distances(K.GFD(BASES[base]), predictions)[0, 1], gaps)


@pytest.mark.parametrize("base", BASES)
@pytest.mark.parametrize("kind", PREDICTIONS)
def test_exact_kgfd(kind, base):
    predictions = PREDICTIONS[kind]
    z, z2 = BASES[base].sample(400_000, rng=0)[:, 0], BASES[base].sample(400_000, rng=1)[:, 0]
    gap = [predictions.score(x[:, None, :]) for x in (z, z2)]
    weight = np.exp(-np.sum((z - z2) ** 2, axis=-1) / (2 * TAU**2))
    draws = weight * np.sum((gap[0][:, 0] - gap[0][:, 1]) * (gap[1][:, 0] - gap[1][:, 1]), axis=-1)
    exact = distances(K.KGFD(K.Gaussian(TAU), BASES[base]), predictions)[0, 1]
    assert abs(draws.mean() - exact) <= 5 * draws.std() / np.sqrt(len(draws))
    assert draws.std() / np.sqrt(len(draws)) < 0.1 * exact


@pytest.mark.parametrize("kind", PREDICTIONS)
def test_exact_mmd(kind):
    predictions = PREDICTIONS[kind]
    x, x2 = predictions.sample(200_000, rng=0), predictions.sample(200_000, rng=1)

    def ground(a, b):
        return np.exp(-np.sum((a - b) ** 2, axis=-1) / (2 * TAU**2))

    draws = (
        ground(x[:, 0], x2[:, 0]) + ground(x[:, 1], x2[:, 1]) - ground(x[:, 0], x2[:, 1]) - ground(x[:, 1], x2[:, 0])
    )
    assert_within_error(distances(K.MMD(K.Gaussian(TAU)), predictions)[0, 1], draws)


def test_exact_mmd_by_quadrature():
    predictions = sc.Gaussian([0.0, 1.0], [0.7, 1.5])
    exact = distances(K.MMD(K.Gaussian(TAU)), predictions)[0, 1]

    def by_trapezoids(n):
        t = np.linspace(-12.0, 13.0, n)
        gap = (stats.norm.pdf(t, 0.0, 0.7) - stats.norm.pdf(t, 1.0, 1.5)) * (t[1] - t[0])
        return gap @ np.exp(-((t[:, None] - t) ** 2) / (2 * TAU**2)) @ gap

    assert by_trapezoids(300) == pytest.approx(by_trapezoids(600), rel=1e-9)
    assert exact == pytest.approx(by_trapezoids(600), rel=1e-9)


def test_wasserstein_is_that_of_the_gaussians():
    """In one dimension the squared distance is the integral of the squared gap between quantile functions."""
    predictions = sc.Gaussian([0.0, 1.0], [0.7, 1.5])
    u = (np.arange(100_000) + 0.5) / 100_000
    gap = stats.norm.ppf(u, 0.0, 0.7) - stats.norm.ppf(u, 1.0, 1.5)
    assert distances(K.Wasserstein(), predictions)[0, 1] == pytest.approx(np.mean(gap**2), rel=1e-3)
    # Independent dimensions add up; an isotropic scale is a diagonal of equal ones.
    by_dimension = sum(distances(K.Wasserstein(), sc.Gaussian(MEAN[:, k], SCALE[:, k])) for k in range(D))
    np.testing.assert_allclose(distances(K.Wasserstein(), PREDICTIONS["diagonal"]), by_dimension)
    repeated = sc.Gaussian(MEAN, np.repeat(SCALE[:, :1], D, axis=1))
    np.testing.assert_allclose(
        distances(K.Wasserstein(), PREDICTIONS["isotropic"]), distances(K.Wasserstein(), repeated)
    )


def test_sampled_kernels_tend_to_the_exact_ones():
    predictions = PREDICTIONS["diagonal"]
    for exact, sampled in (
        (K.GFD(), K.GFD(n_base=100_000)),
        (K.KGFD(K.Gaussian(TAU)), K.KGFD(K.Gaussian(TAU), n_base=2_000)),
        (K.MMD(K.Gaussian(TAU)), K.MMD(K.Gaussian(TAU), n_samples=1_000)),
    ):
        expected = distances(exact, predictions)
        np.testing.assert_allclose(distances(sampled, predictions), expected, atol=0.05 * expected.max())


def test_sampled_kgfd_is_the_double_sum():
    points = RNG.normal(size=(7, D))
    scores = np.swapaxes(PREDICTIONS["full"].score(points[:, None, :]), 0, 1)
    for ground in (K.Gaussian(TAU), K.IMQ(TAU, c=0.5, beta=-0.7)):
        t = np.sum((points[:, None] - points[None]) ** 2, axis=-1) / TAU**2
        gram = np.exp(-t / 2) if isinstance(ground, K.Gaussian) else (0.25 + t) ** -0.7
        gap = scores[:, None] - scores[None]
        expected = np.einsum("kl,ijka,ijla->ij", gram, gap, gap) / 49
        np.testing.assert_allclose(
            distances(K.KGFD(ground, points), PREDICTIONS["full"]), expected, rtol=1e-9, atol=1e-12
        )


def test_sampled_mmd_is_that_of_the_empirical_distributions():
    kernel = K.MMD(K.IMQ(TAU), n_samples=4)
    x = np.swapaxes(PREDICTIONS["full"].sample(4, np.random.default_rng(0)), 0, 1)
    gram = (1 + np.sum((x[:, None, :, None] - x[None, :, None, :]) ** 2, axis=-1) / TAU**2) ** -0.5
    inner = gram.mean(axis=(2, 3))
    expected = np.diag(inner)[:, None] + np.diag(inner)[None] - 2 * inner
    np.testing.assert_allclose(distances(kernel, PREDICTIONS["full"]), expected, rtol=1e-9, atol=1e-12)


def test_sliced_wasserstein_on_the_line_is_the_distance_between_quantiles():
    predictions = sc.Gaussian([0.0, 1.0], [0.7, 1.5])
    x = np.sort(predictions.sample(50, np.random.default_rng(0))[..., 0], axis=0)
    expected = np.mean((x[:, 0] - x[:, 1]) ** 2)
    assert distances(K.Wasserstein(n_samples=50), predictions)[0, 1] == pytest.approx(expected)


def test_sliced_wasserstein_of_a_shift():
    """Shifted by m, the sliced distance is E (m.u)^2 = |m|^2 / d over random directions u."""
    predictions = sc.Gaussian([[0.0, 0.0], [3.0, 4.0]], 1e-6)
    squared = distances(K.Wasserstein(n_samples=2, n_projections=5000), predictions)[0, 1]
    assert squared == pytest.approx(25 / 2, rel=0.05)
