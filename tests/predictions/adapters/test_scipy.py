"""Distributions of `scipy.stats`: scores against finite differences and by hand, verdicts, refusals."""

import numpy as np
import pytest
import torch
from adapter_checks import LOC, SHAPE, N, check_scores, check_verdicts, log_normal, points_in
from scipy import stats

import scorecal as sc

RNG = np.random.default_rng(6)
LOC2, SHAPE2 = RNG.normal(size=(N, 2)), np.exp(0.5 * RNG.normal(size=(N, 2)))

# Frozen distribution, log-density by hand up to constants, points in its support.

KINDS = {
    "norm": (stats.norm(LOC, 0.7), lambda y: -0.5 * ((y[..., 0] - LOC) / 0.7) ** 2, "real"),
    "norm of many": (stats.norm(LOC2, scale=SHAPE2), lambda y: (-0.5 * ((y - LOC2) / SHAPE2) ** 2).sum(-1), "real"),
    "t": (stats.t(3.0, LOC2), lambda y: (-2.0 * np.log(1 + (y - LOC2) ** 2 / 3)).sum(-1), "real"),
    "cauchy": (stats.cauchy(LOC), lambda y: -np.log(1 + (y[..., 0] - LOC) ** 2), "real"),
    "laplace": (stats.laplace(LOC), lambda y: -np.abs(y[..., 0] - LOC), "real"),
    "logistic": (stats.logistic(LOC), lambda y: LOC - y[..., 0] - 2 * np.log1p(np.exp(LOC - y[..., 0])), "real"),
    "gamma": (stats.gamma(SHAPE), lambda y: (SHAPE - 1) * np.log(y[..., 0]) - y[..., 0], "positive"),
    "gamma of many": (stats.gamma(SHAPE2), lambda y: ((SHAPE2 - 1) * np.log(y) - y).sum(-1), "positive"),
    "lognorm": (stats.lognorm(1.0, scale=SHAPE), lambda y: log_normal(np.log(y[..., 0]), np.log(SHAPE)), "positive"),
    "expon": (stats.expon(scale=SHAPE), lambda y: -y[..., 0] / SHAPE, "positive"),
    "beta": (stats.beta(SHAPE, 2.0), lambda y: (SHAPE - 1) * np.log(y[..., 0]) + np.log(1 - y[..., 0]), "unit"),
    "uniform": (stats.uniform(-SHAPE, 1 + 2 * SHAPE), lambda y: 0.0 * y[..., 0] * SHAPE, "unit"),
}  # fmt: skip


@pytest.mark.parametrize("kind", KINDS)
def test_scores_against_finite_differences(kind):
    frozen, log_density, where = KINDS[kind]
    predictions = sc.from_scipy(frozen)
    points = points_in(where, predictions.dim)
    assert predictions.n == N
    assert isinstance(predictions, sc.Gaussian) == (frozen.dist.name == "norm")
    assert (getattr(predictions, "support", None) is None) == (where == "real")
    check_scores(predictions, log_density, points, step=1e-6 if where == "unit" else 1e-5)
    constant = predictions.log_prob(points) - log_density(points)
    np.testing.assert_allclose(constant, np.broadcast_to(constant[0], constant.shape), atol=1e-12)


WIDE = np.exp(RNG.normal(size=2000))


@pytest.mark.parametrize(
    ("frozen", "score"),
    [
        (stats.gamma(WIDE, scale=WIDE), lambda y: (WIDE - 1) / y - 1 / WIDE),
        (stats.gamma(1e4 * WIDE, scale=1e-4), lambda y: (1e4 * WIDE - 1) / y - 1e4),
        (stats.gamma(0.2 * WIDE), lambda y: (0.2 * WIDE - 1) / y - 1),
        (stats.beta(WIDE, 0.7), lambda y: (WIDE - 1) / y + 0.3 / (1 - y)),
        (stats.lognorm(1e-3, scale=1e3 * WIDE), lambda y: -(1 + 1e6 * np.log(y / (1e3 * WIDE))) / y),
        (stats.lognorm(3.0 * WIDE), lambda y: -(1 + np.log(y) / (3.0 * WIDE) ** 2) / y),
        (stats.t(3, loc=1e6 * WIDE), lambda y: -4 * (y - 1e6 * WIDE) / (3 + (y - 1e6 * WIDE) ** 2)),
        (stats.cauchy(0, WIDE), lambda y: -2 * y / (WIDE**2 + y**2)),
        (stats.laplace_asymmetric(2.0, loc=WIDE), lambda y: np.where(y > WIDE, -2.0, 0.5)),
        (stats.weibull_min(WIDE), lambda y: (WIDE - 1) / y - WIDE * y ** (WIDE - 1)),
        (stats.truncnorm(-WIDE, 2 * WIDE), lambda y: -y),
        (stats.invgamma(1 + WIDE), lambda y: -(2 + WIDE) / y + 1 / y**2),
    ],
)
def test_scores_are_precise_wherever_draws_fall(frozen, score):
    predictions = sc.from_scipy(frozen)
    y = predictions.sample(1, rng=0)[0]
    first, third = frozen.ppf(0.25), frozen.ppf(0.75)
    width = np.minimum(third - first, np.minimum(y[:, 0] - frozen.support()[0], frozen.support()[1] - y[:, 0]))
    expected = score(y[:, 0])  # near zero, errors are measured in units of the width of the density there
    error = np.abs(predictions.score(y)[:, 0] - expected) / np.maximum(np.abs(expected), 1 / width)
    assert error.max() < 1e-6


def test_scores_close_to_kinks_and_ends():
    gaps = 10.0 ** -np.arange(1, 8)[:, None, None]
    laplace, gamma = sc.from_scipy(stats.laplace([0.3])), sc.from_scipy(stats.gamma([2.5]))
    uniform = sc.from_scipy(stats.uniform([1.0], 2.0))
    for side in (-1.0, 1.0):
        gap = (0.3 + side * gaps) - 0.3
        np.testing.assert_allclose(laplace.score(0.3 + gap), -side * np.ones(gaps.shape), rtol=1e-6)
    np.testing.assert_allclose(gamma.score(gaps), 1.5 / gaps - 1, rtol=1e-6)
    np.testing.assert_allclose(uniform.score(1.0 + gaps), 0.0 * gaps, atol=1e-6)


def test_scores_that_are_not_found_are_nan():
    outside = sc.from_scipy(stats.gamma([2.0, 2.0])).score(np.asarray([[-1.0], [0.0]]))
    too_fine = sc.from_scipy(stats.t(3.0, loc=1e12, scale=np.full(N, 1e-3))).score(np.full((N, 1), 1e12))
    noisy = sc.from_scipy(stats.gamma(np.full(N, 1e12))).score(np.full((N, 1), 1e12 + 1e6))
    for scores in (outside, too_fine, noisy):
        assert np.isnan(scores).all()
    with pytest.raises(ValueError, match=r"`predictions.score\(y\)` must be finite"):
        sc.kccsd_test(sc.from_scipy(stats.t(3.0, loc=1e12, scale=np.full(N, 1e-3))), 1e12 + LOC, rng=0)


def test_draws():
    predictions = sc.from_scipy(stats.gamma(SHAPE2))
    draws = predictions.sample(4000, rng=0)
    assert draws.shape == (4000, N, 2)
    assert np.array_equal(draws, predictions.sample(4000, rng=0))
    np.testing.assert_allclose(draws.mean(axis=0), SHAPE2, atol=5 * np.sqrt(SHAPE2.max() / 4000))


def scipy_verdicts():
    rng, n = np.random.default_rng(11), 300
    a, b = np.exp(0.5 * rng.normal(size=(2, n)))
    low, u = 3.0 * rng.normal(size=n), rng.uniform(size=n)
    return {
        "gamma": (stats.gamma(a, scale=b), lambda y: 0.7 * y),
        "beta": (stats.beta(1 + a, 1 + b), lambda y: y**1.4),
        "uniform": (stats.uniform(low, b), lambda y: (low + b * np.sqrt(u))[:, None]),
        "lognorm": (stats.lognorm(a, scale=b), lambda y: 1.5 * y),
        "gamma of many": (stats.gamma(np.stack([a, b], axis=1)), lambda y: 0.7 * y),
    }


@pytest.mark.parametrize("kind", scipy_verdicts())
def test_on_bounded_supports(kind):
    frozen, spoil = scipy_verdicts()[kind]
    predictions = sc.from_scipy(frozen)
    y = predictions.sample(1, rng=1)[0]
    check_verdicts(predictions, y, spoil(y))


def test_ends_may_differ_between_rows():
    support = sc.from_scipy(stats.genextreme(np.asarray([-0.5, 0.5]))).support
    np.testing.assert_allclose(support.low, [[-2.0], [-np.inf]])
    np.testing.assert_allclose(support.high, [[np.inf], [2.0]])
    assert sc.from_scipy(stats.genextreme(np.zeros(2))).support is None


@pytest.mark.parametrize(
    ("make", "error", "message"),
    [
        (lambda: stats.multivariate_normal([0.0, 0.0]), TypeError, r"use `sc.Gaussian\(mean, covariance=...\)`"),
        (lambda: stats.dirichlet([1.0, 2.0]), TypeError, "many variables; for n predictions use `sc.ScoreFunction`"),
        (lambda: stats.gamma, TypeError, r"gamma without parameters; freeze it: `scipy.stats.gamma\(...\)`"),
        (lambda: stats.Normal(mu=LOC, sigma=1.0), TypeError, "new-style random variable of scipy, Normal; freeze the"),
        (lambda: stats.gamma(2.0), ValueError, r"must have parameters of shape .* but they have \(\)"),
        (lambda: stats.gamma(np.ones((2, 3, 4))), ValueError, r"but they have \(2, 3, 4\)"),
        (lambda: stats.gamma(np.ones((0,))), ValueError, r"but they have \(0,\)"),
        (lambda: stats.gamma(2.0, scale=[1.0, -1.0]), ValueError, r"first at index \(1,\)"),
        (lambda: stats.norm([0.0, np.nan]), ValueError, r"first at index \(1,\)"),
        (lambda: stats.vonmises(SHAPE), TypeError, "use `scipy.stats.vonmises_line`"),
        (lambda: stats.rv_histogram(np.histogram(LOC))(loc=LOC), TypeError, "constant between jumps"),
        (lambda: stats.gaussian_kde(LOC), TypeError, "must be a frozen distribution .* but is a gaussian_kde"),
        (lambda: 3, TypeError, "must be a frozen distribution of `scipy.stats`, but is a int"),
    ],
)  # fmt: skip
def test_refusals(make, error, message):
    with pytest.raises(error, match=message):
        sc.from_scipy(make())


def test_targets_of_another_library():
    with pytest.raises(TypeError, match="`y` must be a NumPy array"):
        sc.kccsd_test(sc.from_scipy(stats.t(SHAPE)), torch.asarray(LOC), rng=0)
