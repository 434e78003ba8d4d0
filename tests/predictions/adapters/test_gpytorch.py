"""Joint Gaussians of gpytorch: each point given those before it, verdicts, refusals."""

import numpy as np
import pytest
import torch
from scipy import special

import scorecal as sc

X = torch.linspace(0.0, 10.0, 100, dtype=torch.float64)
SMOOTH = torch.exp(-0.5 * (X[:, None] - X) ** 2) + 0.1 * torch.eye(100)


def normal(mean, covariance):
    from gpytorch.distributions import MultivariateNormal

    return MultivariateNormal(mean, covariance)


def one_draw(distribution, n_draws=1, seed=0):
    """Draws (n_draws, ...) of the whole process, by a factor of our own."""
    mean, covariance = distribution.mean.numpy(), distribution.covariance_matrix.numpy()
    noise = np.random.default_rng(seed).normal(size=(n_draws, len(covariance)))
    return mean + (noise @ np.linalg.cholesky(covariance).T).reshape(n_draws, *mean.shape)


def scores_one_by_one(mean, covariance, y):
    """Standardise each number given all before it, by the formula for conditional Gaussians."""
    z = []
    for k in range(len(y)):
        known, cross = covariance[:k, :k], covariance[k, :k]
        weights = np.linalg.solve(known, cross)
        expected = mean[k] + weights @ (y[:k] - mean[:k])
        z.append((y[k] - expected) / np.sqrt(covariance[k, k] - weights @ cross))
    return np.array(z)


def test_each_point_is_judged_given_those_before_it():
    distribution = normal(torch.sin(X), SMOOTH)
    predictions, (y,) = sc.as_predictions(distribution), one_draw(distribution)
    below, at = predictions.cdf_bounds(y[:, None])
    np.testing.assert_array_equal(below, at)
    expected = scores_one_by_one(torch.sin(X).numpy(), SMOOTH.numpy(), y)
    np.testing.assert_allclose(special.ndtri(at[:, 0]), expected, rtol=1e-7, atol=1e-7)


@pytest.mark.parametrize("interleaved", [True, False])
def test_outputs_that_depend_on_each_other(interleaved):
    from gpytorch.distributions import MultitaskMultivariateNormal

    rng = np.random.default_rng(1)
    factor, mean = rng.normal(size=(8, 8)), rng.normal(size=(4, 2))
    covariance = factor @ factor.T + np.eye(8)
    distribution = MultitaskMultivariateNormal(*map(torch.asarray, (mean, covariance)), interleaved=interleaved)
    predictions, y = sc.as_predictions(distribution), rng.normal(size=(4, 2))
    assert (predictions.n, predictions.dim) == (4, 2)
    order = np.arange(8) if interleaved else np.arange(8).reshape(2, 4).T.ravel()
    expected = scores_one_by_one(mean.ravel(), covariance[np.ix_(order, order)], y.ravel()).reshape(4, 2)
    np.testing.assert_allclose(special.ndtri(predictions.cdf_bounds(y)[1]), expected, rtol=1e-7)
    # Its draws have these covariances; its `log_prob` (1.15) has others, unless interleaved.
    noise = torch.eye(8, dtype=torch.float64).reshape(8, 4, 2)
    moved = (distribution.rsample(torch.Size([8]), base_samples=noise).numpy() - mean).reshape(8, 8)
    np.testing.assert_allclose(moved.T @ moved, covariance[np.ix_(order, order)], atol=1e-10)


def test_a_batch_of_processes_is_a_row_for_each():
    factor = torch.asarray(np.random.default_rng(2).normal(size=(5, 3, 3)))
    mean, covariance = factor[:, 0], factor @ factor.mT + torch.eye(3)
    predictions = sc.as_predictions(normal(mean, covariance))
    assert repr(predictions) == "Gaussian(n=5, dim=3, full)"
    torch.testing.assert_close(predictions.covariance, covariance)


def test_from_the_model_to_the_verdict():
    import gpytorch

    class Process(gpytorch.models.ExactGP):
        def __init__(self, x, y, likelihood):
            super().__init__(x, y, likelihood)
            self.mean_module = gpytorch.means.ZeroMean()
            self.covar_module = gpytorch.kernels.RBFKernel()

        def forward(self, x):
            return gpytorch.distributions.MultivariateNormal(self.mean_module(x), self.covar_module(x))

    rng = np.random.default_rng(3)
    x = torch.asarray(rng.uniform(0.0, 12.0, size=160))
    y = torch.sin(2.0 * x) + 0.3 * torch.asarray(rng.normal(size=160))
    likelihood = gpytorch.likelihoods.GaussianLikelihood().double()
    model = Process(x[:80], y[:80], likelihood).double()
    model.initialize(**{"covar_module.lengthscale": 0.8})
    for noise, rejected in ((0.09, False), (0.03, True)):
        likelihood.noise = noise
        model.eval()
        likelihood.eval()
        with torch.no_grad():
            predictions = sc.as_predictions(likelihood(model(x[80:])))
        assert sc.calibration_test(predictions, y[80:], rng=0).rejects(0.01) == rejected


@pytest.mark.slow
def test_the_level_where_errors_are_correlated():
    """Single points, as if they were independent, are rejected nearly always; one after the other as the level says."""
    distribution = normal(torch.sin(X), SMOOTH)
    draws = one_draw(distribution, 200)
    joint, alone = sc.as_predictions(distribution), sc.Gaussian(distribution.mean.numpy(), distribution.stddev.numpy())
    rejected = [
        [sc.calibration_test(each, y, n_resamples=99, rng=k).rejects() for k, y in enumerate(draws)]
        for each in (joint, alone)
    ]
    assert np.mean(rejected[0]) < 0.1
    assert np.mean(rejected[1]) > 0.9


def mistakes():
    from linear_operator import to_linear_operator  # as in gpytorch, which factorises when it has to

    smooth = to_linear_operator(torch.exp(-0.5 * (X[:, None] - X) ** 2))
    return [
        (torch.distributions.Normal(X, 1.0), TypeError, "must be a MultivariateNormal of gpytorch, but is a Normal"),
        (normal(X, smooth), ValueError, "not positive definite.*the latent process without the noise of the targets"),
        (
            normal(torch.zeros(2, 3, 4), torch.eye(4).expand(2, 3, 4, 4)),
            ValueError,
            r"batch shape \(2, 3\) and event shape \(4,\)",
        ),
    ]


@pytest.mark.parametrize("case", range(3))
def test_refusals(case):
    distribution, error, message = mistakes()[case]
    with pytest.raises(error, match=message):
        sc.from_gpytorch(distribution)
