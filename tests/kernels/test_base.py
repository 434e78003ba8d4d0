"""Base measures: matched moments, those of the predictions' own points or prior, and the standard normal otherwise."""

import numpy as np
from kernel_checks import BASES, MEAN, PREDICTIONS, D, distances
from posteriors import linear_gaussian

import scorecal as sc

K = sc.kernels
RNG = np.random.default_rng(14)


def test_matched_base_has_the_moments_of_the_predictions():
    predictions = PREDICTIONS["full"]
    from scorecal.kernels.base import base_measure

    base = base_measure("match", predictions, MEAN, None)
    draws = np.reshape(predictions.sample(100_000, rng=0), (-1, D))
    np.testing.assert_allclose(base.mean[0], draws.mean(axis=0), atol=0.02)
    np.testing.assert_allclose(base.covariance[0], np.cov(draws.T), atol=0.03)


def test_base_of_the_predictions_is_used_and_the_standard_normal_otherwise():
    points = RNG.normal(size=(6, D))
    predictions = PREDICTIONS["full"]
    at_base = np.swapaxes(predictions.score(points[:, None, :]), 0, 1)
    scores = sc.Scores(predictions.score(MEAN + 1.0), at_base, points)
    own, _ = K.GFD().distance(scores, MEAN, np.random.default_rng(0))
    given_, _ = K.GFD(base=points).distance(predictions, MEAN, np.random.default_rng(0))
    np.testing.assert_allclose(own.features, given_.features)
    np.testing.assert_allclose(distances(K.GFD(), predictions), distances(K.GFD(BASES["standard"]), predictions))


def test_the_prior_is_the_base_measure():
    predictions, y = linear_gaussian(100, np.random.default_rng(0), offset=30.0)
    bare = sc.ScoreFunction(lambda z: np.arctan(predictions.score(z)), 100, 2)  # the base matters: not affine
    carried = sc.ScoreFunction(bare.score, 100, 2, prior=predictions.prior)
    for kernel in (sc.kernels.GFD, sc.kernels.KGFD):
        given = sc.kccsd(bare, y, distribution_kernel=kernel(base=predictions.prior), rng=0)
        assert sc.kccsd(carried, y, distribution_kernel=kernel(), rng=0) == given
        assert sc.kccsd(bare, y, distribution_kernel=kernel(), rng=0) != given
    gram = sc.gram_matrix(sc.kernels.GFD(), carried, rng=0)
    np.testing.assert_array_equal(gram, sc.gram_matrix(sc.kernels.GFD(predictions.prior), bare, rng=0))


def test_the_match_of_predictions_known_by_draws():
    """Of a mixture, in closed form and from draws."""
    rng = np.random.default_rng(0)
    mixture = sc.GaussianMixture(np.ones((500, 1)), rng.normal(size=(500, 1, 2)), np.full((500, 1), 0.5))
    exact = sc.kernels.base.base_measure("match", mixture, mixture.means, rng)
    drawn = sc.coordinates.unconstrain(sc.coordinates.Box())(mixture, mixture.sample(1, rng)[0])[0]
    assert not hasattr(drawn, "moments")
    found = sc.kernels.base.base_measure("match", drawn, mixture.means, rng)
    for a, b in zip(exact.moments(), found.moments(), strict=True):
        np.testing.assert_allclose(a, b, atol=0.06)
