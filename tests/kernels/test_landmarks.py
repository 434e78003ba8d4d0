"""Embeddings of predictions by their distances to some of them."""

import numpy as np
import pytest

import scorecal as sc
from scorecal.kernels import Euclidean
from scorecal.kernels.landmarks import landmark_embedding
from scorecal.predictions import Gaussian

RNG = np.random.default_rng(0)
N = 40


class OnlyDistances:
    """Squared distances between points, without their coordinates."""

    floats_per_pair = 3

    def __init__(self, points):
        self.euclidean, self.n = Euclidean(points), len(points)

    def pairs(self, i, j):
        return self.euclidean.pairs(i, j)

    def block(self, rows, cols):
        return self.euclidean.block(rows, cols)


def squared_distances(points):
    return Euclidean(points).block(slice(0, len(points)), slice(0, len(points)))


def embedded(distance, n_landmarks, n=N):
    rows, width = landmark_embedding(distance, n_landmarks, np.zeros(()), np.random.default_rng(1))
    found = np.concatenate([rows(slice(0, 7)), rows(slice(7, n))])
    assert found.shape == (n, width)
    return found


@pytest.mark.parametrize("shift", [0.0, 1e3])
def test_points_in_the_span_of_landmarks_keep_their_distances(shift):
    points = shift + RNG.normal(size=(N, 4))
    found = embedded(OnlyDistances(points), 8)
    assert found.shape[1] == 4
    np.testing.assert_allclose(squared_distances(found), squared_distances(points), rtol=1e-7)


def test_others_come_no_farther_apart_and_landmarks_keep_theirs():
    points = RNG.normal(size=(N, 20))
    found, chosen = embedded(OnlyDistances(points), 6), np.random.default_rng(1).choice(N, 6, replace=False)
    between, given = squared_distances(found), squared_distances(points)
    assert np.all(between <= given * (1.0 + 1e-9))
    np.testing.assert_allclose(between[np.ix_(chosen, chosen)], given[np.ix_(chosen, chosen)], rtol=1e-9, atol=1e-9)


def test_discrepancies_between_gaussians():
    """A smooth kernel: 30 landmarks leave little of the distances out."""
    predictions = Gaussian(RNG.normal(size=(N, 2)), np.exp(0.3 * RNG.normal(size=N)))
    distance, _ = sc.kernels.MMD(sc.kernels.Gaussian(1.5)).distance(predictions, predictions.mean, RNG)
    found, given = embedded(distance, 30), distance.block(slice(0, N), slice(0, N))
    np.testing.assert_allclose(squared_distances(found), given, atol=1e-3 * given.max())


def test_predictions_that_are_all_alike():
    assert np.all(embedded(OnlyDistances(np.ones((N, 3))), 5) == 0.0)
