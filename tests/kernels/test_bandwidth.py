"""Median heuristics and the pairs that they look at, against brute force."""

import numpy as np
import pytest

from scorecal.kernels.bandwidth import median_distance, pair_indices
from scorecal.kernels.distances import Euclidean

RNG = np.random.default_rng(13)


def test_median_distance():
    x = RNG.normal(size=(9, 2))
    i, j = np.triu_indices(9, 1)
    expected = np.median(np.linalg.norm(x[i] - x[j], axis=1))
    assert float(median_distance(Euclidean(x), x)) == pytest.approx(expected, rel=1e-14)
    mostly_equal = np.zeros((9, 2))
    mostly_equal[0], mostly_equal[1] = [3, 4], [6, 8]
    assert float(median_distance(Euclidean(mostly_equal), x)) == pytest.approx(5.0)  # of 7 x 5, 7 x 10 and 1 x 5
    assert float(median_distance(Euclidean(0 * x), x)) == 1.0


def test_median_distance_does_not_depend_on_a_first_row_far_from_the_others():
    x = RNG.normal(size=(9, 2)).astype(np.float32)
    x[0] = 1e10
    i, j = np.triu_indices(9, 1)
    expected = np.median(np.linalg.norm(x[i].astype(np.float64) - x[j], axis=1))
    assert float(median_distance(Euclidean(x), x)) == pytest.approx(expected, rel=1e-6)


def test_median_distance_neither_overflows_nor_underflows():
    x = RNG.normal(size=(9, 2)).astype(np.float32)
    expected = float(median_distance(Euclidean(x), x))
    for unit in (np.float32(1e-30), np.float32(1e30)):
        assert float(median_distance(Euclidean(unit * x), x)) / float(unit) == pytest.approx(expected, rel=1e-5)


def test_pairs_beyond_the_cap_are_different_and_valid():
    for n, cap in ((40, 500), (5_000, 100_000), (3_000_000, 1_000)):
        i, j = pair_indices(n, cap)
        assert len(set(zip(i.tolist(), j.tolist(), strict=True))) == cap
        assert np.all((i >= 0) & (i < j) & (j < n))
    assert abs(np.mean(i) / 3_000_000 - 1 / 3) < 0.05
    np.testing.assert_array_equal(np.stack(pair_indices(40, 780)), np.stack(np.triu_indices(40, 1)))


def test_index_of_a_pair_is_its_place_in_the_upper_triangle():
    """All but one of the pairs: the chosen ones must keep the order of `triu_indices`."""
    i, j = pair_indices(30, 434)
    everything = list(zip(*(part.tolist() for part in np.triu_indices(30, 1)), strict=True))
    chosen = list(zip(i.tolist(), j.tolist(), strict=True))
    assert len(chosen) == 434
    assert [pair for pair in everything if pair in set(chosen)] == chosen
