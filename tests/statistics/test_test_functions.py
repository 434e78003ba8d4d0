"""Test functions: their Stein features against quadrature, automatic differentiation and closed forms."""

from itertools import pairwise

import numpy as np
import pytest
from backends import D, N
from scipy import integrate, stats
from scipy.special import eval_legendre, ndtr

import scorecal as sc
from scorecal.kernels import GFD, BoundedRadial, Constant, Cross, Gaussian, Linear, Polynomial, RadialRank, Rank, Trace
from scorecal.kernels.gram import distribution_gram
from scorecal.pairwise import Features, ProductOfPairs
from scorecal.resampling import RandomSigns, u_statistics

ALL = [
    Constant(),
    Linear(),
    Trace(),
    Polynomial(2),
    Polynomial(3),
    BoundedRadial(0.7),
    Rank(1),
    Rank(2),
    Rank(4),
    RadialRank(1),
    RadialRank(3),
]

# log-densities and their derivatives: lighter and heavier than Gaussian, skewed, off centre, two modes
DENSITIES = {
    "t5": (lambda y: stats.t(5).pdf(y), lambda y: -6 * y / (5 + y * y)),
    "quartic": (lambda y: np.exp(-(y**4) / 4) / 2.5636941, lambda y: -(y**3)),
    "gumbel": (lambda y: stats.gumbel_r.pdf(y), lambda y: np.exp(-y) - 1.0),
    "shifted": (lambda y: stats.norm(1.3, 0.6).pdf(y), lambda y: -(y - 1.3) / 0.36),
    "modes": (
        lambda y: 0.5 * stats.norm(-2, 1).pdf(y) + 0.5 * stats.norm(2, 1).pdf(y),
        lambda y: 2.0 * np.tanh(2.0 * y) - y,
    ),
}


# A fourth moment of t5 converges too slowly for quadrature.
@pytest.mark.parametrize(
    ("kernel", "name"),
    [(kernel, name) for kernel in ALL for name in DENSITIES if (kernel, name) != (Polynomial(3), "t5")],
)
def test_features_have_mean_zero(kernel, name):
    density, score = DENSITIES[name]

    def integrand(y):
        return float(kernel.features(np.array([[y]]), np.array([[score(y)]]))[0, 0]) * density(y)

    ends = (-np.inf, -3.0, 0.0, 3.0, np.inf)
    parts = [integrate.quad(integrand, low, high, limit=400)[0] for low, high in pairwise(ends)]
    assert abs(sum(parts)) < 1e-7


@pytest.mark.parametrize(
    ("kernel", "phi"),
    [
        (Trace(), lambda jnp, z: z),
        (BoundedRadial(2.0), lambda jnp, z: jnp.exp(-jnp.sum(z**2) / 4.0) * z),
        pytest.param(RadialRank(2), None, marks=pytest.mark.slow),
    ],
    ids=["trace", "bounded", "rank"],
)
def test_single_features_are_those_of_automatic_differentiation(kernel, phi):
    """s.phi + div phi of a function given to JAX; of RadialRank, through its own value at s = 0 and its slope in s."""
    import jax
    import jax.numpy as jnp

    jax.config.update("jax_enable_x64", True)
    rng = np.random.default_rng(0)
    z, s = rng.normal(size=(6, 3)), rng.normal(size=(6, 3))
    if phi is None:
        # the feature is s.phi + div phi, linear in s: phi is its slope, and div phi must be the rest

        def phi(jnp, point):
            return jax.grad(lambda score: kernel.features(point[None, :], score[None, :])[0, 0])(jnp.zeros(3))

    divergence = jax.vmap(lambda point: jnp.trace(jax.jacfwd(lambda p: phi(jnp, p))(point)))(jnp.asarray(z))
    values = jax.vmap(lambda point: phi(jnp, point))(jnp.asarray(z))
    expected = np.sum(s * np.asarray(values), axis=1) + np.asarray(divergence)
    np.testing.assert_allclose(kernel.features(z, s)[:, 0], expected, rtol=1e-9, atol=1e-10)


@pytest.mark.parametrize("kernel", [Constant(), Polynomial(2), Rank(1), Rank(3)], ids=repr)
def test_separable_features_are_those_of_one_dimension(kernel):
    rng = np.random.default_rng(1)
    z, s = rng.normal(size=(9, 3)), rng.normal(size=(9, 3))
    one_by_one = [kernel.features(z[:, a : a + 1], s[:, a : a + 1]) for a in range(3)]
    np.testing.assert_allclose(kernel.features(z, s), np.concatenate(one_by_one, axis=1), rtol=1e-12)
    assert kernel.separable


def test_linear_is_the_kernel_that_it_says():
    """H of the kernel y.y', from its derivatives: l s.s' + d + s.y + s'.y'."""
    rng = np.random.default_rng(2)
    y, s = rng.normal(size=(5, 4)), rng.normal(size=(5, 4))
    own = np.sum(s * y, axis=1)
    expected = (y @ y.T) * (s @ s.T) + 4 + own[:, None] + own[None, :]
    features = Linear().features(y, s)
    np.testing.assert_allclose(features @ features.T, expected, rtol=1e-12)
    np.testing.assert_allclose(Trace().features(y, s)[:, 0], features.reshape(5, 4, 4).trace(axis1=1, axis2=2))
    square = features.reshape(5, 4, 4)
    np.testing.assert_allclose(
        Cross().features(y, s), 0.5 * (square + square.swapaxes(1, 2))[:, *np.triu_indices(4, 1)]
    )


def test_rank_features_of_gaussians_are_legendre_polynomials_of_ranks():
    z = np.random.default_rng(3).normal(size=(50, 4))
    rank, radius = ndtr(z), stats.chi2(4).cdf(np.sum(z**2, axis=1))
    for order in (1, 2, 3, 5):
        norm = np.sqrt(2 * order + 1)
        np.testing.assert_allclose(Rank(order).features(z, -z), norm * eval_legendre(order, 2 * rank - 1), atol=1e-12)
        np.testing.assert_allclose(
            RadialRank(order).features(z, -z)[:, 0], norm * eval_legendre(order, 2 * radius - 1), atol=1e-12
        )


@pytest.mark.parametrize("kernel", [Rank(2), RadialRank(2), BoundedRadial(3.0)], ids=repr)
def test_bounded_features_stay_finite_and_continuous_far_out(kernel):
    far = np.array(
        [[0.0, 0.0], [1e-200, 0.0], [1e-8, 1e-9], [30.0, 1.0], [37.0, 8.0], [38.7, 0.0], [1e3, 1.0], [1e8, 1]]
    )
    features = kernel.features(far, -0.5 * far)
    assert np.all(np.isfinite(features))
    before, after = (kernel.features(np.array([[r, 0.0]]), np.array([[-0.5 * r, 0.0]])) for r in (999.999, 1000.001))
    np.testing.assert_allclose(before, after, atol=1e-4)


@pytest.mark.parametrize("kernel", [Linear(), Cross(), BoundedRadial(2.0), Rank(3), RadialRank(2)], ids=repr)
def test_features_on_every_backend(kernel, backend):
    rng = np.random.default_rng(4)
    y, s = rng.normal(size=(N, D)), rng.normal(size=(N, D))
    found = np.asarray(sc._lib.arrays.to_numpy(kernel.features(backend.array(y), backend.array(s))))
    np.testing.assert_allclose(found, kernel.features(y, s), rtol=1e-10, atol=1e-12)


def test_features_and_pairs_are_the_same_statistic():
    """A view of finite rank, from its features and from all pairs of them, tile by tile."""
    rng = np.random.default_rng(5)
    values = rng.normal(size=(83, 4)) + 0.1
    signs = RandomSigns().draw(83, 39, rng)
    by_pairs = ProductOfPairs((_OuterProduct(values),))
    found = u_statistics([Features(lambda rows: values[rows, :]), by_pairs], values, signs, tile=16)
    for part in (found.statistic, found.null, found.contributions):
        np.testing.assert_allclose(part[0], part[1], rtol=1e-10, atol=1e-13)
    np.testing.assert_allclose(np.sum(found.contributions, axis=1), found.statistic)


def test_largest_feature_in_units_of_its_mean_square():
    rng = np.random.default_rng(6)
    values = rng.normal(size=(40, 3)) * np.array([1.0, 10.0, 0.1]) + np.array([0.5, 0.0, 0.0])
    signs = RandomSigns().draw(40, 19, rng)
    found = u_statistics([Features(lambda rows: values[rows, :], largest=True)], values, signs, tile=8)
    unit = values / np.sqrt(np.mean(values**2, axis=0))
    flips = signs.on(values)(slice(0, 40))

    def largest(rows):
        return max(float((np.sum(c) ** 2 - np.sum(c**2)) / (40 * 39)) for c in rows.T)

    assert found.statistic[0] == pytest.approx(largest(unit))
    np.testing.assert_allclose(found.null[0], [largest(unit * e[:, None]) for e in flips.T])
    assert np.sum(found.contributions[0]) == pytest.approx(float(found.statistic[0]))
    constant = np.concatenate([values, np.zeros((40, 1))], axis=1)
    again = u_statistics([Features(lambda rows: constant[rows, :], largest=True)], constant, signs, tile=8)
    np.testing.assert_allclose(again.null, found.null, rtol=1e-10)


def test_kccsd_with_kernels_of_finite_rank():
    predictions, y = sc.experiments.mgm(60, 0.3, rng=0)
    scores = predictions.score(y)
    gram, _ = distribution_gram(GFD(), predictions, y, np.random.default_rng(0))
    k = gram(slice(0, 60), slice(0, 60))
    f = Linear().features(y, scores)
    h = k * (f @ f.T)
    expected = (np.sum(h) - np.trace(h)) / (60 * 59)
    result = sc.kccsd_test(predictions, y, target_kernel=Linear(), rng=0)
    assert result.statistic == pytest.approx(expected)
    assert float(sc.kccsd(predictions, y, target_kernel=Linear())) == result.statistic
    flat = sc.kccsd_test(predictions, y, target_kernel=Linear(), distribution_kernel=Constant(), rng=0)
    assert flat.statistic == pytest.approx((np.sum(f @ f.T) - np.sum(f**2)) / (60 * 59))


def test_constant_kernel_between_predictions_is_ksd():
    """With k = 1 and the same prediction for all, KCCSD is the kernelised Stein discrepancy."""
    y = np.random.default_rng(7).normal(size=(40, 2))
    predictions = sc.Gaussian(np.zeros((40, 2)), 1.0)
    flat = sc.kccsd_test(predictions, y, target_kernel=Gaussian(1.5), distribution_kernel=Constant(), rng=0)
    ksd = sc.ksd_test(sc.Gaussian(np.zeros((1, 2)), 1.0), y, target_kernel=Gaussian(1.5), rng=0)
    assert flat.statistic == pytest.approx(ksd.statistic)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Polynomial(0), "`degree` must be a positive integer"),
        (lambda: Rank(-1), "`order` must be a positive integer"),
        (lambda: RadialRank(1.5), "`order` must be a positive integer"),
        (lambda: BoundedRadial(0.0), "`c` must be positive"),
        (lambda: Cross().features(np.ones((3, 1)), np.ones((3, 1))), "at least 2 dimensions"),
    ],
)
def test_bad_parameters(make, message):
    with pytest.raises(ValueError, match=message):
        make()


def test_classes_in_place_of_kernels():
    predictions, y = sc.experiments.mgm(10, 0.0, rng=0)
    with pytest.raises(TypeError, match="must be a kernel, not its class Linear"):
        sc.kccsd_test(predictions, y, target_kernel=Linear)
    operator = sc.kernels.Operator([(GFD(), np.eye(5))])
    with pytest.raises(TypeError, match="with `Operator`"):
        sc.kccsd_test(predictions, y, target_kernel=Linear(), distribution_kernel=operator)


class _OuterProduct:
    floats_per_pair = 1

    def __init__(self, values):
        self.values = values

    def __call__(self, rows, cols):
        return self.values[rows, :] @ self.values[cols, :].T
