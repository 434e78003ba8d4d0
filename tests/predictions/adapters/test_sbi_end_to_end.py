"""From sbi's trainers to the report: every method on every problem, trained for a few seconds.

Two moons, SLCP and the Gaussian with a uniform prior are those of the benchmark of Lueckmann et al. (2021).
"""

import math
import re
import warnings

import numpy as np
import pytest
import torch
from sbi import inference
from sbi.utils import BoxUniform
from sbi_cases import NoTracker, two_moons
from torch import distributions

import scorecal as sc
from scorecal.coordinates.locate import locate
from scorecal.coordinates.location_spread import location_and_spread
from scorecal.report import report_html

N, N_SIMULATIONS, N_EPOCHS, N_SAMPLED = 100, 1000, 15, 5
# What sbi says of its own networks and chains is no business of these tests.
pytestmark = pytest.mark.filterwarnings("ignore::UserWarning:sbi", "ignore::UserWarning:nflows")


def slcp(theta):
    """Four draws from a Gaussian, whose two standard deviations are squares."""
    first, second, rho = theta[:, None, 2] ** 2, theta[:, None, 3] ** 2, torch.tanh(theta[:, None, 4])
    e, f = torch.randn(2, len(theta), 4)
    spread = torch.stack([first * e, second * (rho * e + (1.0 - rho**2).sqrt() * f)], dim=2)
    return (theta[:, None, :2] + spread).flatten(1)


def waiting_times(rate):
    """Logarithms of five waiting times, in order."""
    return distributions.Exponential(rate.expand(-1, 5)).sample().log().sort(dim=1).values


def box(dim, end):
    return BoxUniform(-end * torch.ones(dim), end * torch.ones(dim))


def half_line(prior):
    return distributions.Independent(prior, 1)


PROBLEMS = {
    "two moons": (lambda: box(2, 1.0), two_moons),
    "SLCP": (lambda: box(5, 3.0), slcp),
    "Gaussian, uniform prior": (lambda: box(10, 1.0), lambda theta: theta + math.sqrt(0.1) * torch.randn(theta.shape)),
    "rate, gamma prior": (lambda: half_line(distributions.Gamma(2 * torch.ones(1), torch.ones(1))), waiting_times),
    "rate, log-normal prior": (
        lambda: half_line(distributions.LogNormal(torch.zeros(1), torch.ones(1))),
        waiting_times,
    ),
    "rate, half-normal prior": (lambda: half_line(distributions.HalfNormal(torch.ones(1))), waiting_times),
}
METHODS = ("NPE", "NLE", "NRE", "NPSE", "FMPE", "ensemble of NPE")
NOISED = ("NPSE", "FMPE")
QUICK = [("two moons", "FMPE"), ("rate, gamma prior", "NPE"), ("rate, half-normal prior", "NRE")]


def trained(method, prior, theta, x):
    if method.startswith("ensemble"):
        return inference.EnsemblePosterior([trained("NPE", prior, theta, x) for _ in range(2)])
    trainer = getattr(inference, method)(prior, tracker=NoTracker(), show_progress_bars=False)
    trainer.append_simulations(theta, x).train(max_num_epochs=N_EPOCHS, show_train_summary=False)
    return trainer.build_posterior()


def made(problem, method, n=N):
    """A posterior, new observations, and the parameters that they were simulated from."""
    make_prior, simulate = PROBLEMS[problem]
    with torch.random.fork_rng(), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the training was cut short
        torch.manual_seed(0)
        prior = make_prior()
        theta = prior.sample((N_SIMULATIONS,))
        posterior = trained(method, prior, theta, simulate(theta))
        truth = prior.sample((n,))
        return posterior, simulate(truth), truth


def share_without_spread(predictions, truth):
    located = locate(None, predictions, truth, np.random.default_rng(0))
    *_, unfitted = location_and_spread(located.predictions, located.targets)
    return np.mean(unfitted)


def check_report(problem, method):
    posterior, x, truth = made(problem, method)
    predictions = sc.from_sbi(posterior, x)
    result = sc.calibration_test(predictions, truth, n_resamples=99, rng=0)
    assert re.fullmatch(r"Calibration is (not )?rejected \(p = [\d.]+, n = 100\)(: .+)?\.", result.message, re.DOTALL)
    mapped = "noised by 0.3 prior sd" if method in NOISED else "unconstrain(Box("
    assert result.coordinates.startswith(mapped)
    assert result.coordinates.endswith("whiten()")
    assert share_without_spread(predictions, truth) <= 0.02
    diagnosis = sc.diagnose(predictions, truth, n_resamples=99, rng=0)
    assert all(np.isfinite(estimate.value) for estimate in diagnosis.bias)
    page = report_html(result, diagnosis, predictions=predictions, y=truth)
    assert f"(p = {result.pvalue:.3g}, {N} predictions)" in page
    assert not re.search(
        r"\b(nan|inf)\b", re.sub(r"<style>.*?</style>|<svg.*?</svg>|Box\([^)]*\)", "", page, flags=re.S)
    )


@pytest.mark.parametrize(("problem", "method"), QUICK)
def test_from_the_trainer_to_the_report_in_a_moment(problem, method):
    check_report(problem, method)


@pytest.mark.slow
@pytest.mark.parametrize(("problem", "method"), [(p, m) for p in PROBLEMS for m in METHODS if (p, m) not in QUICK])
def test_from_the_trainer_to_the_report(problem, method):
    check_report(problem, method)


@pytest.mark.slow
@pytest.mark.parametrize("problem", ["two moons", "rate, gamma prior"])
@pytest.mark.parametrize("method", METHODS)
def test_moments_may_come_from_draws(problem, method):
    """Of few observations: Markov chains and diffusions take their time."""
    posterior, x, truth = made(problem, method, N_SAMPLED)
    predictions = sc.from_sbi(posterior, x, moments=50)
    assert predictions.spread_of.shape == (50, *truth.shape)
    assert share_without_spread(predictions, truth) == 0.0
    assert 0.0 < sc.calibration_test(predictions, truth, n_resamples=19, rng=0).pvalue <= 1.0
