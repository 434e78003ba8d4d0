"""Expected coverage: exact for Gaussians, uniform when calibrated, and what it does and does not see."""

import numpy as np
import pytest
from scipy import stats

import scorecal as sc

RNG = np.random.default_rng(3)
N, D = 500, 3
MEAN = RNG.normal(size=(N, D))
ROOT = RNG.normal(size=(N, D, D))
COVARIANCE = ROOT @ np.swapaxes(ROOT, 1, 2) + 0.2 * np.eye(D)
GAUSSIANS = {
    "isotropic": sc.Gaussian(MEAN, RNG.uniform(0.5, 2, N)),
    "diagonal": sc.Gaussian(MEAN, RNG.uniform(0.5, 2, (N, D))),
    "full": sc.Gaussian(MEAN, covariance=COVARIANCE),
}


@pytest.mark.parametrize("kind", GAUSSIANS)
def test_levels_of_gaussians_are_exact(kind):
    predictions = GAUSSIANS[kind]
    y = predictions.sample(1, rng=0)[0]
    _, covariance = predictions.moments()
    gap = y - predictions.mean
    squared = np.einsum("ia,iab,ib->i", gap, np.linalg.inv(covariance), gap)
    result = sc.expected_coverage(predictions, y)
    np.testing.assert_allclose(result.levels, stats.chi2.cdf(squared, D), rtol=1e-10)
    assert stats.kstest(result.levels, "uniform").pvalue > 1e-3
    drawn = sc.expected_coverage(predictions, y, n_samples=20_000, rng=1)
    assert np.max(np.abs(drawn.levels - result.levels)) < 5 * 0.5 / np.sqrt(20_000) + 1e-4


def test_highest_density_regions_of_a_mixture():
    """With two equal modes the region of level 1/2 is two intervals; the level of a point is a sum of both."""
    mixture = sc.GaussianMixture([[0.5, 0.5]] * 2, [[-4.0, 4.0]] * 2, [[1.0, 1.0]] * 2)
    result = sc.expected_coverage(mixture, [[4.0 + 0.6745], [0.0]], n_samples=100_000, rng=0)
    assert result.levels[0] == pytest.approx(0.5, abs=0.01)
    assert result.levels[1] > 0.999


def test_curve_and_band():
    coverage = sc.Coverage(np.asarray([0.1, 0.4, 0.4, 0.9]), 1.0, 4)
    np.testing.assert_array_equal(coverage.curve([0.0, 0.1, 0.5, 1.0]), [0.0, 0.25, 0.75, 1.0])
    misses = 0
    grid = np.linspace(0, 1, 201)
    for repetition in range(400):
        levels = np.random.default_rng([5, repetition]).random(100)
        lower, upper = sc.Coverage(levels, 1.0, 100).band(grid)
        misses += bool(np.any((grid < lower) | (grid > upper)))
    assert misses <= stats.binom.ppf(0.995, 400, 0.05)


def test_verdict():
    y = GAUSSIANS["full"].sample(1, rng=4)[0]

    def verdict(factor):
        return sc.expected_coverage(sc.Gaussian(MEAN, covariance=factor**2 * COVARIANCE), y)

    assert verdict(1.0).conservative()
    assert not verdict(0.8).conservative()
    assert verdict(0.8).curve(0.9) < 0.85
    assert verdict(1.3).conservative()  # too wide is conservative, though not calibrated


def test_calibrated_predictions_are_called_over_confident_rarely():
    false = 0
    for repetition in range(400):
        rng = np.random.default_rng([6, repetition])
        predictions, y = sc.experiments.mgm(100, 0.0, rng=rng)
        false += not sc.expected_coverage(predictions, y).conservative()
    assert false <= stats.binom.ppf(0.995, 400, 0.05)
