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
