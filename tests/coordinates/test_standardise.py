"""Standardised coordinates: the same in all units, closed forms kept, scores carried along."""

import numpy as np
import pytest
from posteriors import box_posterior, linear_gaussian

import scorecal as sc


def test_standardised_coordinates_do_not_depend_on_units():
    """Nor on the origin: those of the prior, or of the predictions."""
    statistics = []
    for offset, unit in ((0.0, 1.0), (30.0, 1.0), (-5.0, 100.0)):
        predictions, y = linear_gaussian(200, np.random.default_rng(0), offset, unit)
        coordinates = sc.coordinates.standardise("prior")
        result = sc.kccsd_test(predictions, y, coordinates=coordinates, rng=0)
        assert result.coordinates == 'standardise("prior")'
        statistics.append(result.statistic)
        # Closed forms stay: exact GFD of standardised Gaussians
        mean = offset + unit * np.random.default_rng(1).normal(size=(200, 2))
        gaussian = sc.Gaussian(mean, unit * np.linspace(0.5, 1.5, 400).reshape(200, 2))
        target = mean + unit * np.random.default_rng(2).normal(size=(200, 2))
        for form in (gaussian, sc.Gaussian(gaussian.mean, covariance=gaussian.moments()[1])):
            statistics.append(sc.kccsd(form, target, coordinates=sc.coordinates.standardise()))
    assert statistics[0::3] == pytest.approx([statistics[0]] * 3, rel=1e-8)
    assert statistics[1::3] == pytest.approx([statistics[1]] * 3, rel=1e-8)
    assert statistics[2::3] == pytest.approx([statistics[1]] * 3, rel=1e-8)


def test_standardised_predictions_carry_their_scores():
    """A mixture in closed form against the same one as a function."""
    rng = np.random.default_rng(0)
    mixture = sc.GaussianMixture(
        rng.dirichlet([2.0, 2.0], size=50), 5.0 + rng.normal(size=(50, 2, 3)), 0.5 + rng.random(size=(50, 2, 3))
    )
    y = mixture.sample(1, rng)[0]
    moved, z, scores = sc.coordinates.standardise()(mixture, y)
    assert isinstance(moved, sc.GaussianMixture)
    means, covariances = moved.moments()
    np.testing.assert_allclose(np.mean(means, axis=0), 0.0, atol=1e-12)
    total = np.mean(covariances, axis=0) + means.T @ means / 50
    np.testing.assert_allclose(np.diag(total), 1.0)
    step = 1e-6
    for k in range(3):
        e = step * np.eye(3)[k]
        np.testing.assert_allclose(
            scores[:, k], (moved.log_prob(z + e) - moved.log_prob(z - e)) / (2 * step), rtol=1e-5, atol=1e-5
        )


def test_bad_standardise():
    with pytest.raises(ValueError, match='`by` must be "predictions" or "prior"'):
        sc.coordinates.standardise("targets")
    predictions, y = box_posterior(10, np.random.default_rng(0))
    with pytest.raises(TypeError, match="carry a `prior`"):
        sc.kccsd_test(predictions, y, coordinates=sc.coordinates.standardise("prior"), rng=0)
    with pytest.raises(TypeError, match=r"cannot be sampled.*standardise\(.prior.\)"):
        sc.kccsd_test(predictions, y, coordinates=sc.coordinates.standardise(), rng=0)
    with pytest.raises(ValueError, match="`prior` must be one distribution"):
        sc.ScoreFunction(predictions.score, 10, 2, prior=sc.Gaussian(np.zeros((2, 2)), 1.0))
