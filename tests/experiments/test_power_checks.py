"""The simple checks of the power study: their formulas against others, and their levels."""

from itertools import pairwise

import numpy as np
import pytest
from numpy.polynomial import legendre
from scipy import integrate, stats

from scorecal.experiments import bounded, flawed, modes, skewed
from scorecal.experiments.power import checks
from scorecal.experiments.power.anderson import anderson_darling_pvalue, anderson_darling_statistic, limit_tail
from scorecal.experiments.power.residuals import ranks, standardised, whitened

ALL = [
    checks.distances,
    checks.jarque_bera,
    checks.anderson_darling,
    checks.neyman,
    checks.largest_correlation,
    checks.regression,
]
DRAWS = {"gaussian": flawed, "modes": modes, "bounded": bounded, "skewed": skewed}


def draw(kind, n, seed):
    options = {} if kind == "modes" else {"flaw": "none"}
    return DRAWS[kind](n, 2, rng=seed, **options)


@pytest.fixture(scope="module")
def pvalues():
    """Of 2000 calibrated data sets of 100 rows, by check."""
    data = [flawed(100, 2, "none", rng=seed) for seed in range(2000)]
    return {check.__name__: np.asarray([check(*each) for each in data]) for check in ALL}


@pytest.mark.parametrize("check", ALL)
@pytest.mark.parametrize(("level", "least", "most"), [(0.05, 70, 133), (0.01, 7, 36)])
def test_level(pvalues, check, level, least, most):
    """Of each check, and not far below it: 2000 p-values are outside the bounds once in 1000 such studies."""
    assert least <= np.sum(pvalues[check.__name__] <= level) <= most


@pytest.mark.parametrize("kind", ["modes", "bounded", "skewed"])
@pytest.mark.parametrize("check", ALL)
def test_level_of_other_shapes(check, kind):
    found = [check(*draw(kind, 100, seed)) for seed in range(300)]
    assert sum(p <= 0.05 for p in found) <= 28


@pytest.mark.parametrize("kind", DRAWS)
def test_residuals_of_calibrated_predictions(kind):
    predictions, y = draw(kind, 20_000, 0)
    z = whitened(predictions, y)
    np.testing.assert_allclose(z.mean(axis=0), 0, atol=0.035)
    np.testing.assert_allclose(z.T @ z / len(z), np.eye(2), atol=0.05)
    np.testing.assert_allclose(stats.norm.cdf(standardised(predictions, y)), ranks(predictions, y), atol=1e-12)
    assert min(stats.kstest(column, "uniform").pvalue for column in ranks(predictions, y).T) > 1e-3


def test_distances_are_those_of_the_density():
    predictions, y = flawed(50, 3, "scale", 0.95, rng=0)
    total = -np.sum((y - predictions.mean) * predictions.score(y))
    law = stats.chi2(150)
    assert checks.distances(predictions, y) == pytest.approx(2 * min(law.cdf(total), law.sf(total)), rel=1e-9)


def test_jarque_bera_is_that_of_scipy():
    predictions, y = flawed(50, 3, "tails", 20.0, rng=0)
    theirs = stats.jarque_bera(whitened(predictions, y).ravel())
    assert checks._jarque_bera(whitened(predictions, y).reshape(1, -1))[0] == pytest.approx(theirs.statistic)
    far, y = flawed(5000, 2, "tails", 45.0, rng=0)  # where the limit holds
    assert checks.jarque_bera(far, y) == pytest.approx(stats.jarque_bera(whitened(far, y).ravel()).pvalue, abs=0.02)


def test_neyman_is_a_sum_of_squares_of_orthonormal_polynomials():
    predictions, y = flawed(80, 1, "location", 0.1, rng=0)
    u = ranks(predictions, y)[:, 0]
    nodes, weights = legendre.leggauss(8)
    values = np.stack([np.sqrt(2 * j + 1) * legendre.legval(nodes, np.eye(5)[j]) for j in range(5)])
    np.testing.assert_allclose((0.5 * weights * values) @ values.T, np.eye(5), atol=1e-12)
    sums = [np.sqrt(2 * j + 1) * np.sum(legendre.legval(2 * u - 1, np.eye(5)[j])) for j in range(1, 5)]
    expected = stats.chi2(4).sf(np.sum(np.square(sums)) / 80)
    assert checks.neyman(predictions, y) == pytest.approx(expected, rel=1e-9)


def test_largest_correlation_is_that_of_scipy():
    predictions, y = flawed(60, 3, "one pair", 0.2, rng=0)
    z = whitened(predictions, y)
    pairs = [stats.pearsonr(z[:, a], z[:, b]).pvalue for a, b in ((0, 1), (0, 2), (1, 2))]
    assert checks.largest_correlation(predictions, y) == pytest.approx(min(1, 3 * min(pairs)), rel=1e-9)


def test_regression_is_that_of_least_squares():
    predictions, y = flawed(60, 1, "shrinkage", 0.9, rng=0)
    residual = standardised(predictions, y)[:, 0]
    lines = np.stack([np.ones(60), predictions.mean[:, 0]], axis=1)
    fitted = lines @ np.linalg.lstsq(lines, residual)[0]
    assert checks.regression(predictions, y) == pytest.approx(stats.chi2(2).sf(np.sum(fitted**2)), rel=1e-9)


def test_anderson_darling_statistic_is_its_integral():
    u = np.random.default_rng(0).random(7)
    ends = [0, *np.sort(u), 1]
    pieces = [
        integrate.quad(lambda x, k=k: (k / 7 - x) ** 2 / (x * (1 - x)), ends[k], ends[k + 1])[0] for k in range(8)
    ]
    assert anderson_darling_statistic(u) == pytest.approx(7 * sum(pieces), rel=1e-6)
    assert anderson_darling_pvalue([0.0, 1.0]) < 1e-6  # rounded to the ends


@pytest.mark.parametrize("x", [0.5, 1.0, 1.933, 2.492, 3.070, 3.857, 6.0, 8.0, 10.0, 15.0])
def test_anderson_darling_limit(x):
    """Of the sum of chi-square variables over j (j + 1), by inversion of its characteristic function (Imhof 1961)."""
    weights = 1 / (np.arange(1.0, 1001) * np.arange(2.0, 1002))
    least = x - (1 - np.sum(weights))  # the rest hardly varies

    def integrand(u):
        angle = 0.5 * np.sum(np.arctan(weights * u)) - 0.5 * least * u
        return np.sin(angle) / (u * np.exp(0.25 * np.sum(np.log1p((weights * u) ** 2))))

    ends = np.r_[1e-12, np.arange(10, 201, 10)]
    whole = sum(integrate.quad(integrand, a, b)[0] for a, b in pairwise(ends))
    assert limit_tail(x) == pytest.approx(0.5 + whole / np.pi, rel=0.04, abs=3e-5)
    if 0.01 < limit_tail(x) < 0.2:
        assert limit_tail(x) == pytest.approx(0.5 + whole / np.pi, rel=2e-3)


def test_each_check_sees_what_it_looks_for():
    seen = {
        checks.distances: ("scale", 0.8),
        checks.jarque_bera: ("outliers", 8.0),
        checks.anderson_darling: ("location", 0.4),
        checks.neyman: ("skew", 2.0),
        checks.largest_correlation: ("one pair", 0.4),
        checks.regression: ("shrinkage", 0.7),
    }
    for check, (flaw, size) in seen.items():
        assert check(*flawed(400, 3, flaw, size, rng=0)) <= 1e-4  # the smallest that 9999 draws can give
