"""Ensembles of sbi as it samples them: evidences of the members against quadrature, level on its own draws."""

import warnings
from dataclasses import replace

import numpy as np
import pytest
import torch
from exact_sbi import GaussianEstimator
from sbi.inference import NLE, NPE, NRE, DirectPosterior, EnsemblePosterior, ImportanceSamplingPosterior
from sbi.inference.potentials import likelihood_estimator_based_potential
from sbi.utils import BoxUniform
from sbi_cases import NoTracker

import scorecal as sc
from scorecal.predictions.adapters.sbi.density import log_densities

pytestmark = pytest.mark.filterwarnings("ignore::UserWarning:sbi", "ignore::UserWarning:nflows")

N, N_SIDE = 40, 60


def prior_of(dim, bounded):
    if bounded:
        return BoxUniform(torch.zeros(dim), torch.ones(dim))
    return torch.distributions.MultivariateNormal(0.5 * torch.ones(dim), 0.09 * torch.eye(dim))


def trained(method, prior, noise):
    theta = prior.sample((300,))
    trainer = method(prior, tracker=NoTracker(), show_progress_bars=False)
    trainer.append_simulations(theta, theta + noise * torch.randn_like(theta)).train(
        max_num_epochs=10, training_batch_size=50, show_train_summary=False
    )
    return trainer.build_posterior()


def by_quadrature(ensemble, prior, points, volume, theta, x):
    """Logarithms of the mixture of normalised members at theta (n, d), from sbi's own potentials."""
    found = []
    for member in ensemble.posteriors:
        column = []
        for place, row in zip(theta, x, strict=True):
            potential = member.potential(torch.cat([place[None], points]), x=row[None]).double()
            column.append(potential[0] - torch.logsumexp(potential[1:], 0) - np.log(volume))
        found.append(torch.stack(column))
    return torch.logsumexp(torch.log(ensemble.weights)[:, None] + torch.stack(found), dim=0)


QUICK = [(NLE, 2, True), (NLE, 1, False), (NPE, 1, True)]
OTHERS = [(NLE, 1, True), (NRE, 1, True), (NRE, 1, False), (NRE, 2, True), (NPE, 1, False), (NPE, 2, True)]


@pytest.mark.parametrize(
    ("method", "dim", "bounded"), [*QUICK, *(pytest.param(*case, marks=pytest.mark.slow) for case in OTHERS)]
)
def test_density_against_quadrature(method, dim, bounded):
    """The members were trained on different noise, so that their evidences differ.

    An evidence from 50 effective draws has an error of 14 %, and the mixture no larger one.
    """
    prior = prior_of(dim, bounded)
    with torch.random.fork_rng(), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the training was cut short
        torch.manual_seed(0)
        ensemble = EnsemblePosterior([trained(method, prior, noise) for noise in (0.1, 0.4)], weights=[0.3, 0.7])
        theta = prior.sample((N,))
        x = theta + 0.2 * torch.randn_like(theta)
    low, high = (0.0, 1.0) if bounded else (-1.5, 2.5)
    n_side = N_SIDE if dim == 2 else 2000
    side = low + (high - low) * (torch.arange(n_side) + 0.5) / n_side
    points = torch.cartesian_prod(*[side] * dim).reshape(-1, dim)
    expected = by_quadrature(ensemble, prior, points, ((high - low) / n_side) ** dim, theta, x)
    errors = sc.from_sbi(ensemble, x).log_prob(theta).double() - expected
    of_potential = torch.stack([ensemble.potential(t[None], x=row[None])[0] for t, row in zip(theta, x, strict=True)])
    assert errors.abs().max() < 3.5 * 0.14
    assert errors.abs().mean() < 0.14
    if bounded or method is not NPE:  # sbi's potential, of members that are not normalised, is another mixture
        assert (of_potential - expected).std() > 0.15


def gaussian_member(scale, shift, normalised=False):
    """On the unit box, with likelihood N(theta + shift, scale^2); a draw is one of 64 proposals, by weight."""
    prior = prior_of(2, True)
    if normalised:
        return DirectPosterior(GaussianEstimator(2, scale, 1.0, -shift), prior)
    likelihood = GaussianEstimator(2, scale, 1.0, shift)
    potential, transform = likelihood_estimator_based_potential(likelihood, prior, None)
    return ImportanceSamplingPosterior(potential, prior, transform, method="sir", oversampling_factor=64)


def gaussian_ensemble(normalised):
    return EnsemblePosterior([gaussian_member(0.1, 0.0, normalised), gaussian_member(0.3, 0.5, normalised)])


def drawn_by_sbi(ensemble, x, n_sets):
    """Data sets (n_sets, n, 2), each row from its own mixture, as sbi samples it."""
    with torch.random.fork_rng():
        torch.manual_seed(0)
        draws = [ensemble.sample((n_sets,), x=row[None], show_progress_bars=False) for row in x]
    # sbi gives the draws of one member after those of another
    order = np.random.default_rng(0).permuted(np.tile(np.arange(n_sets), (len(x), 1)), axis=1)
    inside = torch.stack([of_row[torch.as_tensor(k)] for of_row, k in zip(draws, order, strict=True)], dim=1)
    return inside.clamp(1e-6, 1.0 - 1e-6)


def count_rejections(predictions, targets):
    return sum(sc.calibration_test(predictions, y, n_resamples=199, rng=k).rejects() for k, y in enumerate(targets))


def as_before(predictions, ensemble, x):
    """The mixture by sbi's potential, of the members' densities as they are."""
    parts = [log_densities(member, x) for member in ensemble.posteriors]
    weights = torch.log(ensemble.weights)[:, None, None]
    return replace(
        predictions,
        log_densities=lambda theta, rows: torch.logsumexp(
            weights + torch.stack([part.evaluate(theta, rows) for part in parts]), dim=0
        ),
    )


@pytest.mark.slow
@pytest.mark.parametrize("normalised", [False, True])
def test_level_on_what_sbi_samples(normalised):
    """At most 35 of 400 data sets in 99.9 % of studies; by the potential, far more are rejected."""
    ensemble = gaussian_ensemble(normalised)
    x = 0.1 + 0.8 * torch.rand(60, 2, generator=torch.Generator().manual_seed(0))
    targets = drawn_by_sbi(ensemble, x, 400)
    predictions = sc.from_sbi(ensemble, x)
    assert count_rejections(predictions, targets) <= 35
    assert count_rejections(as_before(predictions, ensemble, x), targets[:100]) >= 12


def test_shares_of_the_members_on_what_sbi_samples():
    """How often a draw comes from the first member, given the draw, has the mean of its weight."""
    ensemble = gaussian_ensemble(False)
    x = 0.1 + 0.8 * torch.rand(40, 2, generator=torch.Generator().manual_seed(0))
    targets = drawn_by_sbi(ensemble, x, 200)
    predictions, first = sc.from_sbi(ensemble, x), sc.from_sbi(ensemble.posteriors[0], x)

    def share(predictions, log_evidence):
        return torch.exp(np.log(0.5) + first.log_prob(targets) - log_evidence - predictions.log_prob(targets)).mean()

    exact = torch.distributions.Normal(x, 0.1)
    log_evidence = (exact.cdf(torch.ones(2)) - exact.cdf(torch.zeros(2))).log().sum(dim=1)
    assert abs(share(predictions, log_evidence) - 0.5) < 0.02
    assert abs(share(as_before(predictions, ensemble, x), 0.0) - 0.5) > 0.06


def test_evidences_that_cannot_be_estimated_are_told():
    """A likelihood that is 1000 times narrower than the prior in ten dimensions, and a flow that is never inside it."""
    prior, x = prior_of(10, True), 0.5 * torch.ones(3, 10)
    potential, transform = likelihood_estimator_based_potential(GaussianEstimator(10, 1e-3), prior, None)
    narrow = ImportanceSamplingPosterior(potential, prior, transform)
    outside = DirectPosterior(GaussianEstimator(10, 0.1, 1.0, 5.0), prior)
    for member in (narrow, outside):
        with pytest.warns(UserWarning, match="for 3 of 3 rows of `x` these are known roughly"):
            predictions = sc.from_sbi(EnsemblePosterior([member, member]), x)
        assert bool(predictions.score(x).isfinite().all())
