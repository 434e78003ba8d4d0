"""Two moons: bounded parameters, two narrow crescents, and a network that is trained for a few seconds."""

import math
import warnings

import numpy as np
import pytest
import torch

import scorecal as sc
from scorecal.coordinates.locate import locate
from scorecal.coordinates.location_spread import location_and_spread

inference = pytest.importorskip("sbi.inference")
N = 100


def simulate(theta, generator):
    angle = math.pi * (torch.rand(len(theta), generator=generator) - 0.5)
    radius = 0.01 * torch.randn(len(theta), generator=generator) + 0.1
    crescent = torch.stack([radius * torch.cos(angle) + 0.25, radius * torch.sin(angle)], dim=1)
    first, second = theta.T
    return crescent + torch.stack([-torch.abs(first + second), second - first], dim=1) / math.sqrt(2.0)


@pytest.fixture(scope="module")
def trained():
    generator = torch.Generator().manual_seed(0)
    with torch.random.fork_rng(), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        torch.manual_seed(0)
        prior = torch.distributions.Independent(torch.distributions.Uniform(-torch.ones(2), torch.ones(2)), 1)
        theta = prior.sample((1500,))
        trainer = inference.NPE(prior, show_progress_bars=False)
        trainer.append_simulations(theta, simulate(theta, generator)).train(max_num_epochs=25)
        posterior, truth = trainer.build_posterior(), prior.sample((N,))
    return sc.from_sbi(posterior, simulate(truth, generator)), truth


def test_all_of_it_runs_and_nearly_all_rows_are_judged(trained):
    predictions, truth = trained
    result = sc.calibration_test(predictions, truth, n_resamples=99, rng=0)
    assert 0.0 < result.pvalue <= 1.0
    located = locate(None, predictions, truth, np.random.default_rng(0))
    *_, unfitted = location_and_spread(located.predictions, located.targets)
    assert np.mean(unfitted) <= 0.02
    assert np.isfinite(sc.diagnose(predictions, truth, n_resamples=99, rng=0).bias[0].value)


def test_points_of_the_fit_stay_inside_the_support_in_single_precision(trained):
    """Nearer to an end than float32 can tell, where the density of sbi would be zero."""
    predictions, _ = trained
    edge = torch.full((1, N, 2), 1.0 - 1e-12, dtype=torch.float64)
    assert torch.all(torch.isfinite(predictions.score(edge)))
    assert torch.all(torch.isnan(predictions.score(edge + 1e-6)))


def test_moments_may_come_from_draws(trained):
    """In the coordinates of the test; all rows have a spread, and none is fitted."""
    predictions, truth = trained
    given = sc.from_sbi(predictions.posterior, predictions.x, moments=200)
    located = locate(None, given, truth, np.random.default_rng(0))
    mean, covariance, unfitted = location_and_spread(located.predictions, located.targets)
    assert not np.any(unfitted)
    draws = given.sample(2000, 1)
    mapped = torch.log1p(draws) - torch.log1p(-draws)
    error = torch.sqrt(torch.var(mapped, dim=0) / 200)
    assert torch.mean((torch.abs(torch.mean(mapped, dim=0) - mean) < 4.0 * error).double()) > 0.98
    assert np.mean(np.asarray(torch.diagonal(covariance, dim1=1, dim2=2) / torch.var(mapped, dim=0)) < 2.0) > 0.9
    assert 0.0 < sc.calibration_test(given, truth, n_resamples=99, rng=0).pvalue <= 1.0


def test_moments_that_make_no_sense_are_refused(trained):
    predictions, _ = trained
    pair = (torch.zeros(N, 2), torch.eye(2).expand(N, 2, 2))
    with pytest.raises(ValueError, match="must be a number of draws where the prior is bounded"):
        sc.from_sbi(predictions.posterior, predictions.x, moments=pair)
    with pytest.raises(ValueError, match="`moments` must be an integer of at least 6"):
        sc.from_sbi(predictions.posterior, predictions.x, moments=2)
