"""The contract of predictions, for every class and every adapter: shapes, scores, draws and moments agree."""

import jax
import jax.numpy as jnp
import numpy as np
import numpyro.distributions as numpyro
import pytest
import scipy.stats
import torch
from flowjax.distributions import Normal
from flowjax.flows import coupling_flow
from ngboost.distns import LogNormal
from sbi.inference import DirectPosterior
from sbi.neural_nets import posterior_nn
from sklearn.linear_model import BayesianRidge

import scorecal as sc
from scorecal._lib.arrays import to_numpy

N, M = 6, 3
MEAN = np.linspace(-1.0, 1.0, 2 * N).reshape(N, 2)


def flow():
    jax.config.update("jax_enable_x64", True)
    made = coupling_flow(jax.random.key(0), base_dist=Normal(jnp.zeros(2)), cond_dim=1, flow_layers=1, nn_width=4)
    return sc.from_flowjax(made, jnp.asarray(MEAN[:, :1]))


def posterior():
    torch.manual_seed(0)
    theta = torch.randn(100, 2)
    x = theta + 0.5 * torch.randn(100, 2)
    prior = torch.distributions.MultivariateNormal(torch.zeros(2), torch.eye(2))
    return sc.from_sbi(DirectPosterior(posterior_nn("mdn")(theta, x), prior), x[:N])


MAKE = {
    "isotropic": lambda: sc.Gaussian(MEAN, 0.7),
    "diagonal": lambda: sc.Gaussian(MEAN, np.full((N, 2), 0.7)),
    "full": lambda: sc.Gaussian(MEAN, covariance=[[1.0, 0.3], [0.3, 0.5]]),
    "mixture": lambda: sc.GaussianMixture(np.full((N, 2), 0.5), np.stack([MEAN, -MEAN], 1), np.full((N, 2), 0.8)),
    "noisy": lambda: sc.Gaussian(MEAN, 0.7).noisy(0.5),
    "function": lambda: sc.ScoreFunction(lambda y: MEAN - y, N, 2),
    "log-density": lambda: sc.LogDensity(lambda y, x: -((y - x) ** 4).sum(), torch.as_tensor(MEAN), 2),
    "torch": lambda: sc.from_torch(
        torch.distributions.Independent(torch.distributions.StudentT(9.0, torch.as_tensor(MEAN)), 1)
    ),
    "numpyro": lambda: sc.from_numpyro(numpyro.StudentT(9.0, jnp.asarray(MEAN)).to_event(1)),
    "scipy": lambda: sc.from_scipy(scipy.stats.t(9.0, MEAN)),
    "ngboost": lambda: sc.from_ngboost(LogNormal(np.stack([MEAN[:, 0], np.zeros(N)]))),
    "sklearn": lambda: sc.from_sklearn(BayesianRidge().fit(MEAN, MEAN[:, 0] + np.arange(N) % 2), MEAN),
    "flowjax": flow,
    "sbi": posterior,
}


@pytest.fixture(params=MAKE)
def predictions(request):
    return MAKE[request.param]()


def points(predictions, values):
    """Of the library of the predictions, and inside of their support."""
    held = predictions.score(torch.zeros(N, predictions.dim)) if isinstance(predictions, sc.LogDensity) else None
    values = np.exp(0.3 * values) if getattr(predictions, "support", None) is not None else values
    kind = f"{type(predictions).__name__} {predictions!r}"
    if isinstance(held, torch.Tensor) or "Torch" in kind or "Sbi" in kind:
        return torch.as_tensor(values, dtype=torch.float32 if "Sbi" in kind else torch.float64)
    return jnp.asarray(values) if "Numpyro" in kind else values


def test_shapes_and_broadcasting(predictions):
    n, d = predictions.n, predictions.dim
    assert n == N
    rng = np.random.default_rng(0)
    if isinstance(predictions, sc.LogDensity) and not isinstance(predictions.x, torch.Tensor):
        own, shared = jnp.asarray(rng.normal(size=(n, d))), jnp.asarray(rng.normal(size=(M, 1, d)))
    else:
        own, shared = (points(predictions, rng.normal(size=shape)) for shape in ((n, d), (M, 1, d)))
    assert tuple(predictions.score(own).shape) == (n, d)
    everywhere = to_numpy(predictions.score(shared))
    assert everywhere.shape == (M, n, d)
    first = predictions.score(shared[0, ...] + 0.0 * own)
    np.testing.assert_allclose(everywhere[0], to_numpy(first), rtol=2e-4, atol=2e-5)
    assert repr(predictions).startswith(type(predictions).__name__)


def test_scores_are_slopes_of_the_log_density(predictions):
    if not hasattr(predictions, "log_prob"):
        return
    single = type(predictions).__name__.startswith("Sbi")
    step = 1e-2 if single else 1e-5
    rng = np.random.default_rng(1)
    y = rng.normal(size=(N, predictions.dim))
    jax_own = isinstance(predictions, sc.LogDensity) and not isinstance(predictions.x, torch.Tensor)
    y = jnp.asarray(y) if jax_own else points(predictions, y)
    scores = to_numpy(predictions.score(y))
    for k in range(predictions.dim):
        one = np.eye(predictions.dim)[k] * step
        shift = torch.as_tensor(one, dtype=y.dtype) if isinstance(y, torch.Tensor) else one
        slope = to_numpy(predictions.log_prob(y + shift) - predictions.log_prob(y - shift)) / (2 * step)
        np.testing.assert_allclose(scores[:, k], slope, rtol=2e-2 if single else 1e-4, atol=2e-2 if single else 1e-5)


def test_draws_and_moments(predictions):
    if not hasattr(predictions, "sample"):
        return
    draws = to_numpy(predictions.sample(4000, 0))
    assert draws.shape == (4000, N, predictions.dim)
    np.testing.assert_array_equal(draws, to_numpy(predictions.sample(4000, 0)))
    if hasattr(predictions, "moments"):
        mean, covariance = map(to_numpy, predictions.moments())
        sd = np.sqrt(np.diagonal(covariance, axis1=1, axis2=2))
        assert np.all(np.abs(draws.mean(axis=0) - mean) < 5 * sd / 4000**0.5)
        centred = draws - mean
        found = np.einsum("sna,snb->nab", centred, centred) / 4000
        np.testing.assert_allclose(found, covariance, atol=8 * np.max(covariance) / 4000**0.5)
