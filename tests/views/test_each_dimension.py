"""The view of a shift of single dimensions: what it computes, what it sees, and what it refuses."""

import numpy as np
import pytest

import scorecal as sc
from scorecal.views import EachDimension, View
from scorecal.views.frame import frame_of


def correlated(n, d, rng, shift=0.0):
    """Gaussians with correlations of .9, in unequal units, whose first dimension is off by a part of its spread."""
    sd = np.exp(rng.normal(size=(n, 1)) * 0.2) * 10.0 ** np.arange(d)
    covariance = sd[:, :, None] * sd[:, None, :] * (0.1 * np.eye(d) + 0.9)
    mean = rng.normal(size=(n, d)) * sd
    y = mean + np.einsum("nab,nb->na", np.linalg.cholesky(covariance), rng.normal(size=(n, d)))
    return sc.Gaussian(mean + shift * sd * np.eye(d)[0], covariance=covariance), y


def features(predictions, y):
    frame = frame_of(predictions, y, 0.0)
    scores = frame.whitened[1][0, ...]
    return EachDimension().combine(scores, frame, "whitened", slice(0, len(scores)))


def test_features_are_scores_of_a_shift_of_one_dimension_in_units_of_their_spread():
    predictions, y = correlated(30, 3, np.random.default_rng(0))
    mean, covariance = predictions.moments()
    precision = np.linalg.inv(covariance)
    scores = -np.einsum("nab,nb->na", precision, y - mean) / np.sqrt(np.einsum("nkk->nk", precision))
    np.testing.assert_allclose(features(predictions, y), scores, atol=1e-9)


def test_features_are_errors_less_what_the_other_dimensions_tell_of_them():
    predictions, y = correlated(30, 2, np.random.default_rng(0))
    mean, c = predictions.moments()
    gap = y - mean
    left = gap[:, 0] - c[:, 0, 1] / c[:, 1, 1] * gap[:, 1]
    spread = np.sqrt(c[:, 0, 0] - c[:, 0, 1] ** 2 / c[:, 1, 1])
    np.testing.assert_allclose(features(predictions, y)[:, 0], -left / spread, atol=1e-9)


def test_scores_alone_give_the_same_features():
    predictions, y = correlated(30, 3, np.random.default_rng(0))
    blind = sc.ScoreFunction(predictions.score, 30, 3)
    np.testing.assert_allclose(features(blind, y), features(predictions, y), atol=1e-5)


def test_it_sees_a_shift_of_one_of_several_correlated_dimensions():
    """A shift of .15 sd in 100 rows: seen by one dimension given the others, and hardly by each for itself."""
    one = sc.kernels.Constant()
    views = [
        View("given the others", "bias", one, EachDimension(), largest=True),
        View("for itself", "bias", one, coordinates="marginal", largest=True),
    ]
    found = {view.name: 0 for view in views}
    for seed in range(40):
        data = correlated(100, 3, np.random.default_rng(seed), shift=0.15)
        for view in sc.calibration_test(*data, views=views, n_resamples=99, rng=0).views:
            found[view.name] += view.pvalue <= 0.05
    assert found["given the others"] >= 35
    assert found["for itself"] <= 20


@pytest.mark.parametrize(
    ("kernel", "coordinates"), [(sc.kernels.Constant(), "marginal"), (sc.kernels.Trace(), "whitened")]
)
def test_other_coordinates_and_kernels_are_refused(kernel, coordinates):
    with pytest.raises(ValueError, match="`EachDimension` is for whitened coordinates"):
        View("a", "bias", kernel, EachDimension(), coordinates)
