"""`from_numpyro`: closed forms where they exist, scores against finite differences, refusals that say what to do."""

import jax
import numpy as np
import numpyro.distributions as nd
import pytest
from pairwise import pairwise

import scorecal as sc
from scorecal.predictions.supports import as_support

jax.config.update("jax_enable_x64", True)
RNG = np.random.default_rng(8)
N = 6


def array(*shape, positive=False):
    values = jax.numpy.asarray(RNG.normal(size=shape))
    return jax.numpy.exp(values) if positive else values


def covariance():
    factor = array(N, 2, 2)
    return factor @ factor.mT + jax.numpy.eye(2)


def weights():
    return nd.Categorical(logits=array(N, 4))


KINDS = {
    "normal": (lambda: nd.Normal(array(N), array(N, positive=True)), 1, sc.Gaussian),
    "normal with one scale": (lambda: nd.Normal(array(N), 2.0), 1, sc.Gaussian),
    "independent normal": (lambda: nd.Normal(array(N, 3), 0.5).to_event(1), 3, sc.Gaussian),
    "full normal": (lambda: nd.MultivariateNormal(array(N, 2), covariance()), 2, sc.Gaussian),
    "mixture": (
        lambda: nd.MixtureSameFamily(weights(), nd.Normal(array(N, 4, 2), 0.7).to_event(1)),
        2,
        sc.GaussianMixture,
    ),
    "mixture on R": (lambda: nd.MixtureSameFamily(weights(), nd.Normal(array(N, 4), 0.7)), 1, sc.GaussianMixture),
    "Student": (lambda: nd.StudentT(5.0, array(N, 3), 0.5).to_event(1), 3, None),
    "Laplace on R": (lambda: nd.Laplace(array(N), array(N, positive=True)), 1, None),
    "mixture of Students": (lambda: nd.MixtureSameFamily(weights(), nd.StudentT(4.0, array(N, 4))), 1, None),
}


@pytest.mark.parametrize(("kind", "lead", "shared"), pairwise(list(KINDS), [(), (5,)], [False, True]))
def test_scores_against_finite_differences(kind, lead, shared):
    make, dim, _ = KINDS[kind]
    distribution = make()
    predictions = sc.from_numpyro(distribution)
    y = array(*lead, 1 if shared else N, dim)
    scores = predictions.score(y)
    assert tuple(scores.shape) == (*lead, N, dim)

    @jax.jit
    def log_prob(y):
        y = jax.numpy.broadcast_to(y, (*y.shape[:-2], N, dim))
        return distribution.log_prob(y if distribution.event_shape else y[..., 0])

    step = 1e-5
    for k in range(dim):
        shift = step * np.eye(dim)[k]
        slope = (log_prob(y + shift) - log_prob(y - shift)) / (2 * step)
        np.testing.assert_allclose(scores[..., k], slope, rtol=1e-6, atol=1e-6)
    np.testing.assert_allclose(predictions.log_prob(y), log_prob(y), rtol=1e-10)


@pytest.mark.parametrize("kind", KINDS)
def test_closed_forms_are_kept(kind):
    make, dim, expected = KINDS[kind]
    predictions = sc.from_numpyro(make())
    assert (predictions.n, predictions.dim) == (N, dim)
    assert expected is None or type(predictions) is expected


@pytest.mark.parametrize("kind", ["Student", "Laplace on R"])
def test_draws_have_the_distribution(kind):
    predictions = sc.from_numpyro(KINDS[kind][0]())
    draws = predictions.sample(20_000, rng=0)
    assert tuple(draws.shape) == (20_000, N, predictions.dim)
    assert bool((draws == predictions.sample(20_000, rng=0)).all())
    # Stein's identity: E s(Y).Y = -d, with an error bar.
    products = np.asarray((predictions.score(draws) * draws).sum(axis=-1) + predictions.dim)
    assert abs(products.mean() / (products.std() / products.size**0.5)) < 4


def test_the_whole_test():
    mean = array(100, 2)
    y = mean + jax.numpy.asarray(RNG.standard_t(5.0, size=(100, 2)))
    assert sc.kccsd_test(sc.from_numpyro(nd.StudentT(5.0, mean).to_event(1)), y, rng=0).pvalue > 0.05
    assert sc.kccsd_test(sc.from_numpyro(nd.StudentT(5.0, mean + 0.7).to_event(1)), y, rng=0).pvalue == 0.001


@pytest.mark.parametrize(
    ("make", "error", "message"),
    [
        (lambda: 3, TypeError, "must be a `numpyro.distributions.Distribution`, but is a int"),
        (lambda: nd.Normal(array(N, 3), 1.0), ValueError, r"wrap it: `distribution.to_event\(1\)`"),
        (lambda: nd.Normal(0.0, 1.0), ValueError, r"must have batch shape \(n,\)"),
        (lambda: nd.LKJCholesky(3, array(N, positive=True)), ValueError, "event shape"),
    ],
)
def test_refusals(make, error, message):
    with pytest.raises(error, match=message):
        sc.from_numpyro(make())


def test_targets_of_another_library():
    with pytest.raises(TypeError, match="must be a JAX array"):
        sc.kccsd_test(sc.from_numpyro(KINDS["Laplace on R"][0]()), np.asarray(array(N)), rng=0)


def test_without_numpyro(monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "numpyro.distributions", None)
    with pytest.raises(ImportError, match=r"\.\[numpyro\]"):
        sc.from_numpyro(None)


@pytest.mark.parametrize(
    ("distribution", "low", "high"),
    [(nd.Beta(1.0, 2.0), 0.0, 1.0), (nd.Gamma(1.0, 1.0), 0.0, np.inf), (nd.Normal(0.0, 1.0), -np.inf, np.inf)],
)
def test_supports_of_numpyro_can_be_unconstrained(distribution, low, high):
    found = as_support(distribution.support)
    assert (float(found.low), float(found.high)) == (low, high)
    assert isinstance(as_support(nd.Dirichlet(array(3, positive=True)).support), sc.coordinates.Simplex)


def test_heavy_tails_are_fitted_and_judged():
    """No closed form: locations and spreads are fitted to scores, and a sentinel value is seen among draws."""
    rng = np.random.default_rng(0)
    mean = rng.normal(size=300)
    y = mean + rng.standard_t(5, 300)
    y[3] = -999.0
    predictions = sc.from_numpyro(nd.StudentT(5.0, jax.numpy.asarray(mean), 1.0))
    found = sc.diagnose(predictions, jax.numpy.asarray(y), n_resamples=99, rng=0)
    assert found.result.seen[0] == "outliers"
    assert found.extremes[0].row == 3
