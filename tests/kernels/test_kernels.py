"""Closed forms against Monte Carlo with an error bar, quadrature or autodiff; bandwidths against brute force."""

import jax
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import optimize, special, stats

import scorecal as sc
from scorecal.kernels.bandwidth import median_distance, pair_indices
from scorecal.kernels.distances import Euclidean
from scorecal.kernels.gram import distribution_gram
from scorecal.kernels.second_order import isotropic_pair_medians, second_order_median

jax.config.update("jax_enable_x64", True)
K = sc.kernels
RNG = np.random.default_rng(11)
N, D = 5, 3
MEAN = RNG.normal(size=(N, D))
ROOT = RNG.normal(size=(N, D, D))
COVARIANCE = 0.5 * ROOT @ np.swapaxes(ROOT, 1, 2) + 0.3 * np.eye(D)
SCALE = RNG.uniform(0.5, 2.0, (N, D))
PREDICTIONS = {
    "isotropic": sc.Gaussian(MEAN, SCALE[:, 0]),
    "diagonal": sc.Gaussian(MEAN, SCALE),
    "full": sc.Gaussian(MEAN, covariance=COVARIANCE),
}
BASES = {
    "standard": sc.Gaussian(np.zeros((1, D)), 1.0),
    "diagonal": sc.Gaussian([[0.5, -1.0, 2.0]], [[0.5, 1.0, 2.0]]),
    "full": sc.Gaussian([[0.5, -1.0, 2.0]], covariance=COVARIANCE[0]),
}
TAU = 1.3


def distances(kernel, predictions, rng=0):
    distance, _ = kernel.distance(predictions, predictions.mean, np.random.default_rng(rng))
    whole = slice(0, predictions.n)
    i, j = np.triu_indices(predictions.n, 1)
    block = distance.block(whole, whole)
    np.testing.assert_allclose(distance.pairs(i, j), block[i, j], rtol=1e-9)
    return block


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


@pytest.mark.parametrize("outer", ["gaussian", "imq", "linear"])
def test_outer_functions(outer):
    predictions = PREDICTIONS["full"]
    gram, bandwidths = distribution_gram(K.GFD(outer=outer), predictions, MEAN, np.random.default_rng(0))
    features, _ = K.GFD().distance(predictions, MEAN, np.random.default_rng(0))
    x = features.features / float(bandwidths["distribution"])
    t = np.sum((x[:, None] - x[None]) ** 2, axis=-1)
    expected = {"gaussian": np.exp(-t / 2), "imq": 1 / (1 + t), "linear": x @ x.T}[outer]
    np.testing.assert_allclose(gram(slice(0, N), slice(0, N)), expected, rtol=1e-9)


@pytest.mark.parametrize("kernel", [K.Gaussian(1.0), K.IMQ(1.0), K.IMQ(1.0, c=0.5, beta=-0.9)], ids=str)
def test_profile_against_autodiff(kernel):
    for t in (0.1, 1.0, 7.0):
        value, v, r = (float(part) for part in kernel.profile(np.asarray(t), 2.0))

        def f(x):
            return jax.numpy.exp(-x / 2) if isinstance(kernel, K.Gaussian) else (kernel.c**2 + x) ** kernel.beta

        first, second = jax.grad(f)(t), jax.grad(jax.grad(f))(t)
        assert value == pytest.approx(float(f(t)), rel=1e-12)
        assert kernel.slope * v == pytest.approx(float(first / f(t)), rel=1e-12)
        assert kernel.offset + r / 2.0 == pytest.approx(float(t * second / first), rel=1e-12)


def test_median_distance():
    x = RNG.normal(size=(9, 2))
    i, j = np.triu_indices(9, 1)
    expected = np.median(np.linalg.norm(x[i] - x[j], axis=1))
    assert float(median_distance(Euclidean(x), x)) == pytest.approx(expected, rel=1e-14)
    mostly_equal = np.zeros((9, 2))
    mostly_equal[0], mostly_equal[1] = [3, 4], [6, 8]
    assert float(median_distance(Euclidean(mostly_equal), x)) == pytest.approx(5.0)  # of 7 x 5, 7 x 10 and 1 x 5
    assert float(median_distance(Euclidean(0 * x), x)) == 1.0


def test_pairs_beyond_the_cap_are_different_and_valid():
    for n, cap in ((40, 500), (5_000, 100_000), (3_000_000, 1_000)):
        i, j = pair_indices(n, cap)
        assert len(set(zip(i.tolist(), j.tolist(), strict=True))) == cap
        assert np.all((i >= 0) & (i < j) & (j < n))
    assert abs(np.mean(i) / 3_000_000 - 1 / 3) < 0.05
    np.testing.assert_array_equal(np.stack(pair_indices(40, 780)), np.stack(np.triu_indices(40, 1)))


def test_index_of_a_pair_is_its_place_in_the_upper_triangle():
    """All but one of the pairs: the chosen ones must keep the order of `triu_indices`."""
    i, j = pair_indices(30, 434)
    everything = list(zip(*(part.tolist() for part in np.triu_indices(30, 1)), strict=True))
    chosen = list(zip(i.tolist(), j.tolist(), strict=True))
    assert len(chosen) == 434
    assert [pair for pair in everything if pair in set(chosen)] == chosen


def test_isotropic_pair_medians_against_draws():
    rng = np.random.default_rng(0)
    gap, scale, scale2, d = np.asarray([0.0, 2.0, 30.0]), np.asarray([1.0, 0.2, 1.0]), np.asarray([1.0, 3.0, 0.5]), 3
    medians = isotropic_pair_medians(gap, scale, scale2, d)
    for k in range(3):
        side = rng.integers(0, 2, (2, 400_000))
        x = rng.normal(size=(2, 400_000, d)) * np.where(side, scale2[k], scale[k])[..., None]
        x[..., 0] += side * gap[k]
        below = np.mean(np.linalg.norm(x[0] - x[1], axis=-1) <= medians[k])
        assert abs(below - 0.5) < 5 * 0.5 / np.sqrt(400_000)


def test_second_order_median_takes_at_most_six_evaluations_a_pair(monkeypatch):
    sizes = []
    cdf = special.chndtr
    monkeypatch.setattr(special, "chndtr", lambda x, d, noncentrality: sizes.append(x.size) or cdf(x, d, noncentrality))
    rng = np.random.default_rng(0)
    scale = np.exp(rng.normal(size=140) * 2)
    second_order_median(sc.Gaussian(rng.normal(size=(140, 3)) * 5, scale))
    assert 1 <= sum(sizes) / (140 * 139 / 2) <= 6


@pytest.mark.parametrize("spread", [0.0, 0.1, 0.7])
@pytest.mark.parametrize(("n", "d"), [(2, 1), (3, 2), (12, 3), (13, 1), (60, 1), (61, 2), (62, 5)])
def test_second_order_median_is_the_median_of_the_pair_medians(n, d, spread):
    """Quickselect against the median of all; below 65 pairs it has nothing to do."""
    rng = np.random.default_rng(n)
    mean, scale = 3.0 * rng.normal(size=(n, d)), np.exp(spread * rng.normal(size=n))
    i, j = np.triu_indices(n, 1)
    medians = isotropic_pair_medians(np.linalg.norm(mean[i] - mean[j], axis=1), scale[i], scale[j], d)
    assert second_order_median(sc.Gaussian(mean, scale)) == pytest.approx(np.median(medians), rel=1e-8)


@pytest.mark.parametrize("d", [1, 2, 5])
def test_second_order_median_of_narrow_predictions(d):
    """It has a limit as they shrink to points, where a cdf cannot tell the distances between two of them apart."""
    rng = np.random.default_rng(7)
    mean, scale = rng.normal(size=(60, d)), np.exp(0.3 * rng.normal(size=60))
    i, j = np.triu_indices(60, 1)
    gap = np.linalg.norm(mean[i] - mean[j], axis=1)
    found = [second_order_median(sc.Gaussian(mean, size * scale)) for size in (1e-2, 1e-3, 1e-4)]
    for size, value in zip((1e-2, 1e-3, 1e-4), found, strict=True):
        medians = isotropic_pair_medians(gap, size * scale[i], size * scale[j], d)
        assert np.mean(medians < value * 0.998) <= 0.5 <= np.mean(medians <= value * 1.002)
    # Tails of exp(-r^2 / (4 s^2)), s the wider one, and exp(-(gap - r)^2 / (2 (s^2 + s'^2))) balance at the limit.
    wider, both = np.maximum(scale[i], scale[j]), np.hypot(scale[i], scale[j])
    limit = np.median(gap / (1.0 + both / (np.sqrt(2.0) * wider)))
    np.testing.assert_allclose(found[0], limit, rtol=0.01)
    np.testing.assert_allclose(found[1:], limit, rtol=0.001)


@pytest.mark.parametrize(("distance", "rtol"), [(2, 1e-9), (19, 1e-9), (21, 1e-4), (40, 1e-4), (80, 5e-3), (500, 5e-3)])
@pytest.mark.parametrize("scale2", [1.0, 20.0])
def test_pair_median_in_the_far_tail(distance, rtol, scale2):
    """Against 60 digits, for d = 3, where all cdfs are elementary; beyond 20 standard deviations ours is asymptotic."""
    from mpmath import erfc, exp, mp, ncdf, npdf, pi, sqrt

    with mp.workdps(60):
        both = sqrt(1 + mp.mpf(scale2) ** 2)
        gap = distance * both

        def beyond(r, scale):
            x = r / (sqrt(2) * scale)
            return erfc(x / sqrt(2)) + sqrt(2 / pi) * x * exp(-x * x / 2)

        def excess(r):
            x, centre = r / both, mp.mpf(distance)
            between = ncdf(x - centre) - ncdf(-x - centre) - (npdf(x - centre) - npdf(x + centre)) / centre
            return between / 2 - (beyond(r, 1) + beyond(r, scale2)) / 4

        low, high = mp.mpf(0), gap + 5 * both
        for _ in range(150):
            middle = (low + high) / 2
            low, high = (low, middle) if excess(middle) > 0 else (middle, high)
    found = isotropic_pair_medians(np.asarray([float(gap)]), np.ones(1), np.asarray([scale2]), 3)
    assert found[0] == pytest.approx(float(middle), rel=rtol)


def test_second_order_median_of_equal_predictions():
    """No probe can tell the pairs apart."""
    expected = np.sqrt(2.0 * stats.chi2.ppf(0.5, 2))
    assert second_order_median(sc.Gaussian(np.zeros((100, 2)), 1.0)) == pytest.approx(expected, rel=1e-8)


def test_root_of_the_pair_median_is_found():
    rng = np.random.default_rng(3)
    scale, scale2, gap = np.exp(rng.normal(size=(3, 200)) * 2)
    medians = isotropic_pair_medians(gap, scale, scale2, 2)
    for k in range(0, 200, 20):

        def excess(r, k=k):
            both = scale[k] ** 2 + scale2[k] ** 2
            return (
                0.25 * stats.chi2.cdf(r**2 / (2 * scale[k] ** 2), 2)
                + 0.25 * stats.chi2.cdf(r**2 / (2 * scale2[k] ** 2), 2)
                + 0.5 * stats.ncx2.cdf(r**2 / both, 2, gap[k] ** 2 / both)
                - 0.5
            )

        if abs(excess(medians[k] * 1.01) - excess(medians[k])) > 1e-6:  # otherwise any value in the gap is a median
            assert medians[k] == pytest.approx(optimize.brentq(excess, 1e-6, 1e6, xtol=1e-12), rel=1e-5)


def test_second_order_median_from_draws_is_near_the_exact_one():
    exact = second_order_median(PREDICTIONS["isotropic"])
    drawn = second_order_median(sc.Gaussian(MEAN, np.repeat(SCALE[:, :1], D, axis=1)))
    assert drawn == pytest.approx(exact, rel=0.1)


def test_second_order_median_of_a_large_batch_uses_a_subset():
    rng = np.random.default_rng(0)
    mean = rng.normal(size=(2000, 2))
    assert second_order_median(sc.Gaussian(mean, 1.0)) == pytest.approx(
        second_order_median(sc.Gaussian(mean[:140], 1.0)), rel=0.1
    )


def test_matched_base_has_the_moments_of_the_predictions():
    predictions = PREDICTIONS["full"]
    from scorecal.kernels.base import base_measure

    base = base_measure("match", predictions, MEAN, None)
    draws = np.reshape(predictions.sample(100_000, rng=0), (-1, D))
    np.testing.assert_allclose(base.mean[0], draws.mean(axis=0), atol=0.02)
    np.testing.assert_allclose(base.covariance[0], np.cov(draws.T), atol=0.03)


def test_base_of_the_predictions_is_used_and_the_standard_normal_otherwise():
    points = RNG.normal(size=(6, D))
    predictions = PREDICTIONS["full"]
    at_base = np.swapaxes(predictions.score(points[:, None, :]), 0, 1)
    scores = sc.Scores(predictions.score(MEAN + 1.0), at_base, points)
    own, _ = K.GFD().distance(scores, MEAN, np.random.default_rng(0))
    given_, _ = K.GFD(base=points).distance(predictions, MEAN, np.random.default_rng(0))
    np.testing.assert_allclose(own.features, given_.features)
    np.testing.assert_allclose(distances(K.GFD(), predictions), distances(K.GFD(BASES["standard"]), predictions))


ALL_KERNELS = st.sampled_from(
    [
        K.GFD(),
        K.GFD(base="match"),
        K.GFD(n_base=3, outer="imq"),
        K.GFD(outer="linear"),
        K.KGFD(),
        K.KGFD(K.IMQ(), n_base=4),
        K.MMD(),
        K.MMD(n_samples=2),
        K.Wasserstein(n_samples=3),
    ]
)


@settings(max_examples=60, deadline=None)
@given(
    seed=st.integers(0, 2**32 - 1),
    n=st.integers(2, 12),
    d=st.integers(1, 4),
    spread=st.sampled_from([0.0, 1e-6, 1.0, 1e3]),
    kind=st.sampled_from(["isotropic", "diagonal", "full"]),
    distribution=ALL_KERNELS,
    target=st.sampled_from([K.Gaussian(), K.IMQ(), K.Gaussian(0.1), K.IMQ(10.0, c=2.0, beta=-0.8)]),
)
def test_pair_function_is_symmetric_and_positive_semidefinite(seed, n, d, spread, kind, distribution, target):
    from scorecal._kccsd import kccsd_statistic
    from scorecal.coordinates import identity

    rng = np.random.default_rng(seed)
    mean = spread * rng.normal(size=(n, d))
    if kind == "full":
        root = rng.normal(size=(n, d, d))
        predictions = sc.Gaussian(mean, covariance=root @ np.swapaxes(root, 1, 2) + 0.1 * np.eye(d))
    else:
        predictions = sc.Gaussian(mean, rng.uniform(0.3, 3.0, n if kind == "isotropic" else (n, d)))
    y = mean + rng.normal(size=(n, d))
    function, *_ = kccsd_statistic(predictions, y, distribution, target, identity, rng)
    H = function(slice(0, n), slice(0, n))
    size = np.abs(H).max()
    np.testing.assert_allclose(H, H.T, atol=1e-9 * size)
    assert np.linalg.eigvalsh((H + H.T) / 2).min() >= -1e-8 * n * size
