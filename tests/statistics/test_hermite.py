"""Hermite polynomials and features of the tails: against their definitions, automatic differentiation and quadrature."""

import math

import numpy as np
import pytest
from backends import D, N, to_numpy
from numpy.polynomial import hermite_e
from scipy import integrate, stats

import scorecal as sc
from scorecal.kernels import BoundedRadial, Hermite, Outlying, RadialTails, Trace

NODES, WEIGHTS = hermite_e.hermegauss(120)
WEIGHTS = WEIGHTS / math.sqrt(2.0 * math.pi)


def on_line(kernel):
    """The feature of one standard normal number, at the nodes of a quadrature."""
    return kernel.features(NODES[:, None], -NODES[:, None])[:, 0]


def over_radius(kernel, d, function):
    """Mean of a function of the feature of d standard normal numbers, which depends on their length alone."""

    def integrand(radius):
        point = np.zeros((1, d))
        point[0, 0] = radius
        return function(float(kernel.features(point, -point)[0, 0])) * stats.chi(d).pdf(radius)

    return integrate.quad(integrand, 0.0, math.sqrt(d) + 12.0, limit=400, epsabs=1e-11)[0]


@pytest.mark.parametrize("taper", [None, 6.0])
@pytest.mark.parametrize("order", [1, 2, 3, 4, 6])
def test_features_are_those_of_automatic_differentiation(order, taper):
    """s phi + phi' of the test function that the class states, He_{order - 1} times the taper, over the root of k!."""
    import jax

    jax.config.update("jax_enable_x64", True)
    rng = np.random.default_rng(0)
    z, s = rng.normal(size=20), rng.normal(size=20)
    coefficients = hermite_e.herme2poly(np.eye(order)[order - 1])

    def phi(x):
        weight = 1.0 if taper is None else jax.numpy.exp(-(x**2) / (2.0 * taper))
        return weight * sum(c * x**k for k, c in enumerate(coefficients)) / math.sqrt(math.factorial(order))

    expected = s * jax.vmap(phi)(z) + jax.vmap(jax.grad(phi))(z)
    found = Hermite(order, taper=taper).features(z[:, None], s[:, None])[:, 0]
    np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-10)


def test_radial_tails_are_those_of_automatic_differentiation():
    import jax

    jax.config.update("jax_enable_x64", True)
    rng, d, taper = np.random.default_rng(0), 3, 1.4
    z, s = rng.normal(size=(6, d)), rng.normal(size=(6, d))

    def phi(y):
        square = jax.numpy.sum(y**2)
        return jax.numpy.exp(-square / (2.0 * taper * (d + 2.0))) * (square - d - 2.0) * y

    divergence = jax.vmap(lambda y: jax.numpy.trace(jax.jacfwd(phi)(y)))(z)
    expected = (np.sum(s * jax.vmap(phi)(z), axis=1) + divergence) / (d + 2.0)
    np.testing.assert_allclose(RadialTails(taper).features(z, s)[:, 0], expected, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("order", [1, 2, 3, 4, 6])
def test_features_of_gaussians_are_hermite_polynomials_of_variance_1(order):
    found = on_line(Hermite(order))
    np.testing.assert_allclose(
        found, -hermite_e.hermeval(NODES, np.eye(order + 1)[order]) / math.sqrt(math.factorial(order))
    )
    for other in range(1, 7):
        product = np.sum(WEIGHTS * found * on_line(Hermite(other)))
        assert product == pytest.approx(float(other == order), abs=1e-9)


@pytest.mark.parametrize("taper", [None, 6.0, 0.5])
@pytest.mark.parametrize("order", [1, 2, 3, 4])
def test_features_have_mean_zero_for_gaussians(order, taper):
    assert np.sum(WEIGHTS * on_line(Hermite(order, taper=taper))) == pytest.approx(0.0, abs=1e-9)


@pytest.mark.parametrize("order", [1, 2, 3, 4])
@pytest.mark.parametrize("density", [stats.t(5), stats.gumbel_r, stats.norm(1.3, 0.6)], ids=["t5", "gumbel", "shifted"])
def test_tapered_features_have_mean_zero_for_other_predictions(density, order):
    step, kernel = 1e-5, Hermite(order, taper=6.0)

    def integrand(y):
        score = (density.logpdf(y + step) - density.logpdf(y - step)) / (2.0 * step)
        return float(kernel.features(np.array([[y]]), np.array([[score]]))[0, 0]) * density.pdf(y)

    parts = [integrate.quad(integrand, *ends, limit=200)[0] for ends in ((-20.0, 0.0), (0.0, 20.0))]
    assert sum(parts) == pytest.approx(0.0, abs=1e-6)


@pytest.mark.parametrize("taper", [None, 6.0])
def test_a_common_feature_is_the_sum_over_dimensions(taper):
    rng = np.random.default_rng(0)
    z, s = rng.normal(size=(7, 4)), rng.normal(size=(7, 4))
    alone = Hermite(3, taper=taper).features(z, s)
    np.testing.assert_allclose(Hermite(3, common=True, taper=taper).features(z, s)[:, 0], alone.sum(axis=1) / 2.0)


def test_order_2_is_the_trace_of_one_dimension():
    z, s = np.random.default_rng(0).normal(size=(2, 9, 1))
    np.testing.assert_allclose(Hermite(2).features(z, s), Trace().features(z, s) / math.sqrt(2.0))


@pytest.mark.parametrize("d", [1, 3, 10])
@pytest.mark.parametrize("kernel", [Trace(), BoundedRadial(3.0), RadialTails(), RadialTails(0.5)], ids=repr)
def test_features_of_the_length_have_mean_zero_for_gaussians(kernel, d):
    assert over_radius(kernel, d, float) == pytest.approx(0.0, abs=1e-8)


def test_radial_tails_of_one_dimension_are_those_of_order_4():
    z, s = np.random.default_rng(0).normal(size=(2, 9, 1))
    found = RadialTails(2.0).features(z, s)
    np.testing.assert_allclose(found, Hermite(4, taper=6.0).features(z, s) * math.sqrt(24.0) / 3.0)


@pytest.mark.parametrize("d", [1, 3, 10])
def test_radial_tails_hardly_see_a_wrong_spread(d):
    """Targets that spread by 5 % too much move the mean by less than a tenth of a standard error of a row.

    Those with heavy tails, Student's t with 5 degrees of freedom and the right variance, move it by more.
    """
    kernel = RadialTails()
    unit = math.sqrt(over_radius(kernel, d, lambda f: f**2))

    def mean_of(square_of):
        """Mean feature of targets whose squared lengths are a function of chi-square ones, and of an angle."""
        shares = (np.arange(20_000) + 0.5) / 20_000
        squares = square_of(shares)
        points = np.zeros((len(squares), d))
        points[:, 0] = np.sqrt(squares)
        return float(np.mean(kernel.features(points, -points))) / unit

    wide = mean_of(lambda u: 1.05**2 * stats.chi2(d).ppf(u))
    heavy = mean_of(lambda u: 3.0 / 5.0 * d * stats.f(d, 5).ppf(u))
    assert abs(wide) < 0.1
    assert abs(heavy) > 0.15


@pytest.mark.parametrize("d", [1, 3, 10])
def test_outlying_targets_are_as_frequent_as_they_should_be(d):
    edge = math.sqrt(stats.chi2(d).isf(0.02))
    below, above = (Outlying(0.02).features(np.full((1, d), r / math.sqrt(d)), None)[0, 0] for r in (edge - 1e-9, edge + 1e-9))
    assert (below, above) == pytest.approx((-0.02, 0.98))
    assert below * 0.98 + above * 0.02 == pytest.approx(0.0, abs=1e-15)


@pytest.mark.parametrize(
    "kernel", [Hermite(3), Hermite(4, common=True, taper=6.0), RadialTails(), Outlying(0.3)], ids=repr
)
def test_features_on_every_backend(kernel, backend):
    rng = np.random.default_rng(4)
    y, s = rng.normal(size=(2, N, D))
    found = to_numpy(kernel.features(backend.array(y), backend.array(s)))
    np.testing.assert_allclose(found, kernel.features(y, s), rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize("kernel", [Hermite(4, taper=6.0), RadialTails(), BoundedRadial(3.0)], ids=repr)
@pytest.mark.parametrize("far", [1e2, 1e80, 1e120, 1e160, 1e300])
def test_features_of_targets_out_of_sight_are_zero(kernel, far):
    """Also where their powers overflow."""
    with np.errstate(over="ignore", invalid="ignore"):
        found = kernel.features(np.array([[far], [-far]]), np.array([[-far], [far]]))
    np.testing.assert_allclose(found, 0.0, atol=1e-300)


def test_a_target_out_of_sight_is_an_outlier():
    """At any distance of which the cube is a number."""
    mean = np.random.default_rng(0).normal(size=60)
    y = mean + np.random.default_rng(1).normal(size=60)
    for far in (1e20, 1e50, 1e90):
        for null in ("signs", "auto"):
            result = sc.calibration_test(sc.Gaussian(mean, 1.0), np.append(y[1:], far), null=null, n_resamples=99, rng=0)
            assert result.pvalue == 0.01
            assert result.seen[0] == "outliers"


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Hermite(0), "`order` must be a positive integer"),
        (lambda: Hermite(3, taper=-1.0), "`taper` must be positive"),
        (lambda: RadialTails(0.0), "`taper` must be positive"),
        (lambda: Outlying(1.0), "`share` must lie between 0 and 1"),
    ],
)
def test_bad_parameters(make, message):
    with pytest.raises(ValueError, match=message):
        make()
