"""Scores against autodiff of the log-density, log-densities against quadrature, draws against moments."""

import jax
import numpy as np
import pytest
from scipy import stats
from scipy.integrate import quad

import scorecal as sc

jax.config.update("jax_enable_x64", True)
RNG = np.random.default_rng(5)
N, D, M = 4, 3, 6
MEAN = RNG.normal(size=(N, D))
ROOT = RNG.normal(size=(N, D, D))
COVARIANCE = ROOT @ np.swapaxes(ROOT, 1, 2) + 0.3 * np.eye(D)


def make(kind, asarray=np.asarray):
    if kind == "isotropic":
        return sc.Gaussian(asarray(MEAN), asarray(RNG_SCALE[:, 0]))
    if kind == "diagonal":
        return sc.Gaussian(asarray(MEAN), asarray(RNG_SCALE))
    if kind == "full":
        return sc.Gaussian(asarray(MEAN), covariance=asarray(COVARIANCE))
    if kind == "mixture":
        return sc.GaussianMixture(asarray(WEIGHTS), asarray(MEANS), asarray(SCALES[..., 0]))
    return sc.GaussianMixture(asarray(WEIGHTS), asarray(MEANS), asarray(SCALES))


RNG_SCALE = RNG.uniform(0.5, 2.0, (N, D))
WEIGHTS = RNG.dirichlet(np.ones(2), N)
MEANS = RNG.normal(size=(N, 2, D))
SCALES = RNG.uniform(0.5, 2.0, (N, 2, D))
KINDS = ["isotropic", "diagonal", "full", "mixture", "diagonal mixture"]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("shape", [(N, D), (M, 1, D), (M, N, D)], ids=str)
def test_score_is_the_gradient_of_the_log_density(kind, shape):
    y = RNG.normal(size=shape)
    predictions = make(kind, jax.numpy.asarray)
    full = np.broadcast_to(y, (*shape[:-2], N, D))
    gradient = jax.jit(jax.grad(lambda point: predictions.log_prob(point).sum()))(jax.numpy.asarray(full))
    actual = make(kind).score(y)
    assert actual.shape == full.shape
    np.testing.assert_allclose(actual, gradient, rtol=1e-11, atol=1e-12)


@pytest.mark.parametrize("kind", KINDS)
def test_log_density_against_scipy(kind):
    y = RNG.normal(size=(N, D))
    predictions = make(kind)
    if "mixture" in kind:
        scales = SCALES if kind == "diagonal mixture" else np.broadcast_to(SCALES[..., :1], SCALES.shape)
        density = np.sum(WEIGHTS * np.prod(stats.norm.pdf(y[:, None, :], MEANS, scales), axis=-1), axis=-1)
    else:
        _, covariance = predictions.moments()
        density = [stats.multivariate_normal(MEAN[i], covariance[i]).pdf(y[i]) for i in range(N)]
    np.testing.assert_allclose(np.exp(predictions.log_prob(y)), density, rtol=1e-11)


@pytest.mark.parametrize("kind", KINDS)
def test_draws_have_the_moments(kind):
    predictions = make(kind)
    draws = predictions.sample(100_000, rng=1)
    assert draws.shape == (100_000, N, D)
    mean, covariance = predictions.moments()
    assert covariance.shape == (N, D, D)
    for i in range(N):
        standard_error = np.sqrt(np.diag(covariance[i]) / 100_000)
        assert np.all(np.abs(draws[:, i].mean(axis=0) - mean[i]) < 5 * standard_error)
        products = (draws[:, i, :, None] - mean[i][:, None]) * (draws[:, i, None, :] - mean[i])
        standard_error = products.std(axis=0) / np.sqrt(100_000)
        assert np.all(np.abs(products.mean(axis=0) - covariance[i]) < 5 * standard_error)


def test_mixture_on_the_line_integrates_to_one():
    mixture = sc.GaussianMixture([[0.3, 0.7]], [[-1.0, 2.0]], [[0.5, 1.5]])
    mass, _ = quad(lambda t: float(np.exp(mixture.log_prob(np.asarray([[t]]))[0])), -20, 20)
    assert mass == pytest.approx(1.0, abs=1e-8)


def test_empty_component_does_not_count():
    mixture = sc.GaussianMixture([[0.0, 1.0]], [[[5.0], [1.0]]], [[0.1, 2.0]])
    y = np.asarray([[5.0]])
    np.testing.assert_allclose(mixture.score(y), sc.Gaussian([1.0], 2.0).score(y), rtol=1e-12)


@pytest.mark.parametrize(("dtype", "far"), [("f4", 14.0), ("f8", 40.0)])
def test_empty_component_does_not_count_from_afar(dtype, far):
    mixture = sc.GaussianMixture(*(np.asarray(part, dtype) for part in ([[0.0, 1.0]], [[[far], [0.0]]], [[1.0, 1.0]])))
    assert mixture.score(np.asarray([[far]], dtype))[0, 0] == -far


def test_scores_answers_where_it_can():
    at_targets, at_base, points = RNG.normal(size=(N, D)), RNG.normal(size=(N, M, D)), RNG.normal(size=(M, D))
    scores = sc.Scores(at_targets, at_base, points)
    assert scores.score(np.zeros((N, D))) is scores.at_targets
    np.testing.assert_array_equal(scores.score(points[:, None, :]), np.swapaxes(at_base, 0, 1))
    with pytest.raises(ValueError, match="only, not at the points"):
        scores.score(points[:, None, :] + 1.0)


def test_models_of_the_paper_are_calibrated_at_zero_and_not_beyond():
    """The standardised residuals of a calibrated model are standard normal."""
    for model, delta in (
        (sc.experiments.mgm, 0.1),
        (sc.experiments.lgm, 0.1),
        (sc.experiments.hgm, 1.0),
        (sc.experiments.qgm, 1.0),
    ):
        residuals = []
        for degree in (0.0, delta):
            predictions, y = model(20_000, degree, rng=7)
            assert y.shape == (predictions.n, predictions.dim)
            residuals.append(((y - predictions.mean) / predictions.scale)[:, 0])
        assert stats.kstest(residuals[0], "norm").pvalue > 1e-3
        assert stats.kstest(residuals[1], "norm").pvalue < 1e-6


def test_shift_of_the_first_dimension_only():
    predictions, y = sc.experiments.mgm(20_000, 0.1, c="first", rng=0)
    bias = np.mean(predictions.mean - y, axis=0)
    np.testing.assert_allclose(bias, [0.1, 0, 0, 0, 0], atol=5 / np.sqrt(20_000))


def test_precisions_of_very_unequal_spreads_keep_their_digits():
    """Against the inverse of a 2 x 2 matrix by hand, in long double; sds of 3e-4 and 800."""
    covariance = np.array([[1e-7, 3.95284708e-04], [3.95284708e-04, 6.30958907e05]])
    exact = covariance.astype(np.longdouble)
    exact = np.array([[exact[1, 1], -exact[0, 1]], [-exact[0, 1], exact[0, 0]]]) / (
        exact[0, 0] * exact[1, 1] - exact[0, 1] ** 2
    )
    found = sc.Gaussian(np.zeros((1, 2)), covariance=covariance).precision[0]
    np.testing.assert_allclose(found, exact.astype(float), rtol=1e-13)
