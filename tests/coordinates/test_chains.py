"""Moved targets must be like the observed ones if predictions are calibrated, and forget them."""

import numpy as np
import pytest
import torch
from scipy.special import log_ndtr
from scipy.stats import chisquare, ks_2samp

import scorecal as sc
from scorecal.coordinates.chains import can_be_moved, chains_from
from scorecal.coordinates.whiten import whitening_of

SKEW = 6.0


def gumbel(x):
    return np.expm1(-x)


def skew_normal(x):
    return -x + SKEW * np.exp(-0.5 * (SKEW * x) ** 2 - log_ndtr(SKEW * x)) / np.sqrt(2 * np.pi)


def student(x):
    return -4.0 * x / (3.0 + x**2)


DRAW = {
    gumbel: lambda rng, shape: rng.gumbel(size=shape),
    skew_normal: lambda rng, shape: (
        (SKEW * np.abs(rng.normal(size=shape)) + rng.normal(size=shape)) / np.sqrt(1.0 + SKEW**2)
    ),
    student: lambda rng, shape: rng.standard_t(3, shape),
}


def data(score, n, dim, rng):
    """Predictions of independent dimensions, with their own locations and scales, and calibrated targets."""
    mean, scale = 3.0 * rng.normal(size=(n, dim)), np.exp(0.5 * rng.normal(size=(n, 1)))
    y = mean + scale * DRAW[score](rng, (n, dim))
    predictions = sc.ScoreFunction(lambda points: score((points - mean) / scale) / scale, n, dim)
    return predictions, y, sc.Gaussian(mean, scale + 0.0 * mean)


def moved(predictions, y, about, n_draws=1, seed=0):
    """Targets (n_draws, n, d), moved in the units of Gaussians."""
    rng = np.random.default_rng(seed)
    return chains_from(predictions, whitening_of(about, y), y, rng).sample(n_draws, rng)


@pytest.mark.parametrize("score", DRAW, ids=lambda score: score.__name__)
@pytest.mark.parametrize("dim", [1, 4])
def test_moved_targets_have_the_distribution_of_the_predictions(score, dim):
    predictions, y, about = data(score, 3000, dim, np.random.default_rng(1))
    found = (moved(predictions, y, about)[0] - about.mean) / about.scale
    others = DRAW[score](np.random.default_rng(2), (20_000, 1))
    for k in range(dim):
        assert ks_2samp(found[:, k], others[:, 0]).pvalue > 0.001


def test_moved_targets_forget_the_observed_ones():
    rng = np.random.default_rng(0)
    mean = rng.normal(size=(2000, 1))
    predictions = sc.ScoreFunction(lambda y: mean - y, 2000, 1)
    y = mean + 0.5 * rng.normal(size=(2000, 1))  # too narrow
    found = moved(predictions, y, sc.Gaussian(mean, 1.0), 3) - mean
    np.testing.assert_allclose(np.std(found, axis=1), 1.0, atol=0.06)
    assert abs(np.corrcoef(found[0, :, 0], (y - mean)[:, 0])[0, 1]) < 0.08
    assert abs(np.corrcoef(found[0, :, 0], found[1, :, 0])[0, 1]) < 0.08


def test_ranks_among_moved_targets_are_uniform_for_few_and_skewed_rows():
    """The sum of scores of three rows, most skewed, for which no sign is as likely as its opposite."""
    ranks = []
    for seed in range(400):
        predictions, y, about = data(skew_normal, 3, 1, np.random.default_rng(seed))
        draws = np.concatenate([y[None], moved(predictions, y, about, 9, seed)])
        sums = np.sum(predictions.score(draws), axis=(1, 2))
        ranks.append(np.sum(sums[1:] > sums[0]))
    assert chisquare(np.bincount(ranks, minlength=10)).pvalue > 0.001


class WithDensity:
    """Gaussians that cannot be sampled, with a density."""

    def __init__(self, mean):
        self.mean, (self.n, self.dim) = mean, mean.shape

    def score(self, y):
        return self.mean - y

    def log_prob(self, y):
        return -0.5 * np.sum((y - self.mean) ** 2, axis=-1)


def test_the_integral_of_a_score_stands_for_its_density():
    mean = np.random.default_rng(0).normal(size=(50, 3))
    y = 2.0 * mean + 3.0
    both = WithDensity(mean)
    scores_only = sc.ScoreFunction(both.score, 50, 3)
    about = sc.Gaussian(mean + 0.5, 1.5)  # not those of the predictions, so that steps are refused
    np.testing.assert_allclose(moved(both, y, about, 4), moved(scores_only, y, about, 4), rtol=1e-8)


def test_points_without_a_density_are_refused():
    class Exponential(WithDensity):
        def score(self, y):
            return np.where(y > 0, -1.0, np.nan) + 0.0 * self.mean

        def log_prob(self, y):
            return np.where(y > 0, -y, -np.inf)[..., 0] + 0.0 * self.mean[:, 0]

    predictions = Exponential(np.zeros((500, 1)))
    y = np.random.default_rng(0).exponential(size=(500, 1))
    found = moved(predictions, y, sc.Gaussian(np.ones((500, 1)), 1.0), 2)
    assert np.all(found > 0)
    assert np.mean(found) == pytest.approx(1.0, abs=0.1)


def test_torch_arrays_are_moved_without_a_graph():
    mean = torch.zeros(20, 2, dtype=torch.float64, requires_grad=True)
    predictions = sc.ScoreFunction(lambda y: mean - y, 20, 2)
    y = torch.ones(20, 2, dtype=torch.float64)
    found = moved(predictions, y, sc.Gaussian(torch.zeros(20, 2, dtype=torch.float64), 1.0), 3)
    assert isinstance(found, torch.Tensor)
    assert not found.requires_grad
    assert found.shape == (3, 20, 2)


def test_who_can_be_moved():
    mean = np.zeros((5, 1))
    assert can_be_moved(sc.ScoreFunction(lambda y: mean - y, 5, 1))
    for other in (sc.Gaussian(mean, 1.0), sc.Scores(mean), None):
        assert not can_be_moved(other)


def test_steps_that_cannot_be_integrated_are_refused():
    """A narrow peak on a broad one: without refusals, a fixed rule of integration would empty or fill the peak."""
    n, narrow = 4000, 0.02
    rng = np.random.default_rng(0)

    def score(y):
        peak, base = np.exp(-0.5 * (y / narrow) ** 2) / narrow, np.exp(-0.5 * y**2)
        return -(peak * y / narrow**2 + base * y) / (peak + base) + np.zeros((n, 1))

    y = np.where(rng.random((n, 1)) < 0.5, narrow, 1.0) * rng.normal(size=(n, 1))
    about = sc.Gaussian(np.zeros((n, 1)), 0.7)
    found = moved(sc.ScoreFunction(score, n, 1), y, about)[0]
    assert np.mean(found != y) > 0.3
    assert ks_2samp(found[:, 0], y[:, 0]).pvalue > 0.001
