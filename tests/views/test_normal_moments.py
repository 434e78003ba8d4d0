"""Mean squares and cubes of the features of Gaussians: against other quadratures and closed forms."""

import math

import numpy as np
import pytest
from scipy import integrate, special, stats

from scorecal.kernels import (
    BoundedRadial,
    Constant,
    Cross,
    Hermite,
    Outlying,
    Polynomial,
    RadialRank,
    RadialTails,
    Rank,
    Trace,
)
from scorecal.views.normal_moments import normal_moments


def means(kernel, density, point, low, high):
    """Mean square and cube of the first feature of points at a place x, of a density; adaptive."""

    def moment(power):
        def integrand(x):
            return float(kernel.features(point(x), -point(x))[0, 0]) ** power * density(x)

        return integrate.quad(integrand, low, high, limit=400, epsabs=1e-12)[0]

    return moment(2), moment(3)


@pytest.mark.parametrize("d", [1, 3, 10, 60])
@pytest.mark.parametrize(
    "kernel",
    [Trace(), BoundedRadial(30.0), BoundedRadial(0.1), RadialTails(), RadialTails(0.3), RadialRank(1), RadialRank(4)],
    ids=repr,
)
def test_features_of_the_length(kernel, d):
    def point(radius):
        return np.pad([[radius]], ((0, 0), (0, d - 1)))

    middle = math.sqrt(d)
    expected = means(kernel, stats.chi(d).pdf, point, max(0.0, middle - 11.0), middle + 11.0)
    found = normal_moments(kernel, d)
    assert [part.shape for part in found] == [(1,), (1,)]
    np.testing.assert_allclose(np.ravel(found), expected, rtol=1e-7, atol=1e-9)


@pytest.mark.parametrize("d", [1, 4])
@pytest.mark.parametrize(
    "kernel",
    [Constant(), Rank(1), Rank(2), Rank(5), Hermite(1), Hermite(2), Hermite(3, taper=6.0), Hermite(4, taper=0.5)],
    ids=repr,
)
def test_features_of_single_dimensions(kernel, d):
    square, cube = means(kernel, stats.norm.pdf, lambda x: np.array([[x]]), -12.0, 12.0)
    found = normal_moments(kernel, d)
    np.testing.assert_allclose(found[0], np.full(d, square), rtol=1e-7)
    np.testing.assert_allclose(found[1], np.full(d, cube), rtol=1e-7, atol=1e-9)


def test_known_moments():
    """Of chi-square variables; Hermite polynomials, for which E He_k^3 = (k! / (k / 2)!)^3 / k!, k even; and shares."""
    for d in (1, 7):
        np.testing.assert_allclose(np.ravel(normal_moments(Trace(), d)), [2.0 * d, -8.0 * d], rtol=1e-9)
    for k in (2, 4, 6):
        cube = -(math.factorial(k) ** 3) / math.factorial(k // 2) ** 3 / math.factorial(k) ** 1.5
        np.testing.assert_allclose(np.ravel(normal_moments(Hermite(k), 1)), [1.0, cube], rtol=1e-9)
    share = stats.bernoulli(0.01)
    square, cube = share.var(), share.stats("s") * share.std() ** 3
    np.testing.assert_allclose(np.ravel(normal_moments(Outlying(0.01), 5)), [square, cube], rtol=1e-9)


@pytest.mark.parametrize("taper", [None, 6.0])
def test_common_features(taper):
    """Cubes of sums of d independent terms of mean zero are d cubes."""
    alone, together = (normal_moments(Hermite(4, common=common, taper=taper), 9) for common in (False, True))
    np.testing.assert_allclose(together[0], alone[0][:1])
    np.testing.assert_allclose(together[1], alone[1][:1] / 3.0)


def test_pairs_of_dimensions():
    """By a product of two rules: E (y_a y_b)^2 = 1, E (y_a y_b)^3 = 0."""
    nodes, weights = special.roots_hermitenorm(40)
    y = np.stack(np.meshgrid(nodes, nodes), axis=-1).reshape(-1, 2)
    both = np.outer(weights, weights).ravel() / (2.0 * math.pi)
    f = Cross().features(y, -y)[:, 0]
    square, cube = normal_moments(Cross(), 4)
    np.testing.assert_allclose(square, np.full(6, np.sum(both * f**2)))
    np.testing.assert_allclose(cube, np.full(6, np.sum(both * f**3)), atol=1e-9)


def test_kernels_of_ones_own_are_drawn_and_nearly_right():
    """Of 131,072 / d targets; for y^2 - 1, of kurtosis 15, to 4 standard errors of 1 %; symmetric by construction."""
    square, cube = normal_moments(Polynomial(1), 2)
    np.testing.assert_allclose(square, 2.0, rtol=0.06)
    np.testing.assert_allclose(cube, -8.0, rtol=0.2)
    np.testing.assert_allclose(normal_moments(Polynomial(2), 2)[1], 0.0, atol=1e-9)
