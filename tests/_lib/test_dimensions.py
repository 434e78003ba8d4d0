"""Which pairs and sums of many dimensions are looked at."""

import numpy as np
import pytest

from scorecal._lib.dimensions import MOST_IN_FULL, are_many, mixtures_of, pairs_of


def test_all_pairs_of_few_dimensions_are_looked_at():
    assert not are_many(MOST_IN_FULL)
    np.testing.assert_array_equal(pairs_of(MOST_IN_FULL), np.triu_indices(MOST_IN_FULL, 1))


@pytest.mark.parametrize("dim", [MOST_IN_FULL + 1, 784])
def test_each_of_many_dimensions_is_paired_with_the_next_one_and_two_others(dim):
    first, second = pairs_of(dim)
    pairs = list(zip(first.tolist(), second.tolist(), strict=True))
    assert len(set(pairs)) == len(pairs)
    assert all(a < b for a, b in pairs)
    assert all((k, k + 1) in pairs for k in range(dim - 1))
    assert 2 * dim - 10 < len(pairs) < 2 * dim
    assert np.min(np.bincount(np.concatenate([first, second]))) >= 2


def test_sums_of_many_dimensions_have_length_1_and_begin_with_the_mean():
    sums = mixtures_of(100, 4)
    np.testing.assert_allclose(np.sum(sums**2, axis=0), 1.0)
    np.testing.assert_allclose(sums[:, 0], 0.1)
