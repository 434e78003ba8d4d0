"""Test functions for the correlation of many dimensions."""

import numpy as np

from scorecal._lib.dimensions import pairs_of
from scorecal.statistics.many_dimensions import CommonCross, SomeCross
from scorecal.statistics.test_functions import Cross
from scorecal.views.normal_moments import normal_moments

RNG = np.random.default_rng(0)
D = 40
TARGETS, SCORES = RNG.normal(size=(2, 30, D))


def all_pairs() -> np.ndarray:
    found = np.zeros((30, D, D))
    found[:, *np.triu_indices(D, 1)] = Cross().features(TARGETS, SCORES)
    return found


def test_some_pairs_have_the_features_of_these_among_all():
    np.testing.assert_allclose(SomeCross().features(TARGETS, SCORES), all_pairs()[:, *pairs_of(D)])


def test_common_features_are_sums_over_all_pairs_and_over_neighbours():
    every = np.sum(all_pairs(), axis=(1, 2)) / (D * (D - 1) / 2) ** 0.5
    near = np.sum(np.diagonal(all_pairs(), 1, axis1=1, axis2=2), axis=1) / (D - 1) ** 0.5
    np.testing.assert_allclose(CommonCross().features(TARGETS, SCORES), np.stack([every, near], axis=1))


def test_moments_for_normal_targets_are_those_of_draws():
    z = np.random.default_rng(1).normal(size=(50_000, 5))
    for kernel in (CommonCross(), SomeCross()):
        squares, cubes = normal_moments(kernel, 5)
        features = kernel.features(z, -z)
        error = 5.0 * np.std(features**3, axis=0) / len(z) ** 0.5
        np.testing.assert_allclose(np.mean(features**2, axis=0), squares, rtol=0.05)
        assert np.all(np.abs(np.mean(features**3, axis=0) - cubes) < error)
