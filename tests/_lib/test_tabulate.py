import numpy as np
from scipy.special import ndtr

from scorecal._lib.tabulate import tabulate
from scorecal.statistics.rank_functions import RadialRank, Rank


def test_values_between_and_beyond_the_ends():
    x = np.random.default_rng(0).normal(size=1000) * 3.0
    table = tabulate(ndtr, -9.0, 9.0)
    assert np.max(np.abs(table(x) - ndtr(x))) < 1e-8
    np.testing.assert_array_equal(table(np.array([-9.0, -50.0])), ndtr(-9.0))
    np.testing.assert_allclose(table(np.array([9.0, 50.0])), 1.0, rtol=1e-12)


def test_features_of_normal_numbers():
    for d in (1, 2, 30):
        z = np.random.default_rng(d).normal(size=(2000, d)) * np.linspace(0.0, 2.0, 2000)[:, None]
        for kernel in (Rank(1), Rank(2), Rank(3), Rank(4), RadialRank(1), RadialRank(2)):
            np.testing.assert_allclose(kernel.normal_features(z), kernel.features(z, -z), rtol=0, atol=3e-6)
