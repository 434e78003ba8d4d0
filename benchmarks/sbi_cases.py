"""Posteriors of sbi for `sbi_peers.py`: exact, wrong in a known way, and trained."""

import math
from dataclasses import dataclass
from functools import cache
from typing import Any

import torch
from exact_sbi import GaussianEstimator
from sbi.inference import NLE, NPE, DirectPosterior, MCMCPosterior
from sbi.inference.potentials import likelihood_estimator_based_potential
from sbi.utils import BoxUniform

N_PAIRS = 200
RADIUS, NOISE_OF_RADIUS = 0.1, 0.01  # of two moons
LINEAR, BOX, MOONS = "linear-Gaussian", "bounded prior", "two moons"
SHIFT = 0.3  # in sd of the posterior
# name: factor of the sd, shift in sd of the posterior, factor of the mean's distance from the prior mean
ERRORS = {
    "none": (1.0, 0.0, 1.0),
    "std x 0.8": (0.8, 0.0, 1.0),
    "shift": (1.0, SHIFT, 1.0),
    "gain 0.8": (1.0, 0.0, 0.8),
}
TRAINED = ("NPE, 500 simulations", "NPE, 5000 simulations", "NLE, 5000 simulations")


@dataclass(frozen=True)
class Case:
    """A posterior, and one with the same distribution that is quick to draw from; None where there is none."""

    problem: str
    family: str
    error: str
    posterior: Any
    to_draw_from: Any

    @property
    def key(self) -> tuple[str, str, str]:
        return self.problem, self.family, self.error


def pairs(problem: str, seed: int, n: int = N_PAIRS) -> tuple[torch.Tensor, torch.Tensor]:
    """Parameters from the prior and simulations from them; leaves torch's generator seeded by `seed` alone."""
    torch.manual_seed(seed)
    theta = prior_of(problem).sample((n,))
    if problem == MOONS:
        return theta, two_moons(theta)
    return theta, theta + noise_sd(problem) * torch.randn_like(theta)


def prior_of(problem: str) -> Any:
    if problem == LINEAR:
        return torch.distributions.MultivariateNormal(torch.zeros(3), torch.eye(3))
    if problem == BOX:
        return BoxUniform(torch.zeros(2), torch.ones(2))
    return BoxUniform(-torch.ones(2), torch.ones(2))


def noise_sd(problem: str) -> float:
    """For the linear one, such that the posterior's sd is half the prior's."""
    return 3**-0.5 if problem == LINEAR else 0.3


def two_moons(theta: torch.Tensor) -> torch.Tensor:
    angle = math.pi * (torch.rand(len(theta)) - 0.5)
    radius = RADIUS + NOISE_OF_RADIUS * torch.randn(len(theta))
    first, second = theta.T
    return torch.stack(
        [
            radius * angle.cos() + 0.25 - (first + second).abs() / 2**0.5,
            radius * angle.sin() + (second - first) / 2**0.5,
        ],
        dim=1,
    )


class BoxedGaussian(GaussianEstimator):
    """Draws from its Gaussian cut off at the unit box, so that `DirectPosterior` has nothing to reject.

    The posterior is the same. By rejection, sbi's `sample_batched` goes on for all x until the x farthest outside the
    box has its draws: minutes to hours for one data set.
    """

    def sample(self, sample_shape, condition):
        normal = self._normal(condition.double())
        low, high = normal.cdf(torch.zeros_like(normal.loc)), normal.cdf(torch.ones_like(normal.loc))
        uniform = torch.rand((*sample_shape, *normal.loc.shape), dtype=torch.float64)
        return normal.icdf(low + (high - low) * uniform).clamp(0.0, 1.0).to(condition.dtype)


def gaussian_case(problem: str, family: str, error: str) -> Case:
    """The exact posterior, or likelihood, with the error in it.

    An erroneous likelihood is N(m + (theta - m) / gain + offset, (factor sd)^2), m the prior mean: its maximum is
    shifted, or pulled towards m. What posterior that makes has a closed form, which the tests that need draws get.
    """
    factor, shift, gain = ERRORS[error]
    prior, sd = prior_of(problem), noise_sd(problem)
    dim = prior.event_shape[0]
    centre = 0.0 if problem == LINEAR else 0.5
    slope, posterior_sd = (1 / (1 + sd**2), 0.5) if problem == LINEAR else (1.0, sd)
    if family == "NPE":
        sd_theta, pull, add = factor * posterior_sd, slope * gain, centre * (1 - slope * gain) + shift * posterior_sd
        posterior = DirectPosterior(GaussianEstimator(dim, sd_theta, pull, add), prior)
    else:
        offset = -shift * posterior_sd / slope
        likelihood = GaussianEstimator(dim, factor * sd, 1 / gain, centre * (1 - 1 / gain) + offset)
        potential, transform = likelihood_estimator_based_potential(likelihood, prior, None)
        posterior = MCMCPosterior(potential, proposal=prior, theta_transform=transform)
        variance = (factor * sd * gain) ** 2  # of the likelihood, as a function of theta
        weight = 1 / (1 + variance) if problem == LINEAR else 1.0
        sd_theta, pull = (weight * variance) ** 0.5, weight * gain
        add = centre - pull * (centre + offset)
    drawn = (GaussianEstimator if problem == LINEAR else BoxedGaussian)(dim, sd_theta, pull, add)
    return Case(problem, family, error, posterior, DirectPosterior(drawn, prior))


@cache
def trained_case(name: str) -> Case:
    """Two moons, trained by sbi: its defaults but for the flow (nsf), on simulations from a seed that no pairs use."""
    family, n = name[:3], int(name.split()[1])
    theta, x = pairs(MOONS, seed=10**6, n=n)
    trainer = (NPE if family == "NPE" else NLE)(prior_of(MOONS), density_estimator="nsf", tracker=NoTracker())
    trainer.append_simulations(theta, x).train(show_train_summary=False)
    posterior = trainer.build_posterior()
    return Case(MOONS, name, "as trained", posterior, posterior if family == "NPE" else None)


class NoTracker:
    """In sbi's interface; its own tracker writes `sbi-logs/` to the working directory."""

    log_dir = None

    def log_metric(self, name, value, step=None):
        pass

    def log_metrics(self, metrics, step=None):
        pass

    def log_params(self, params):
        pass

    def add_figure(self, name, figure, step=None):
        pass

    def flush(self):
        pass
