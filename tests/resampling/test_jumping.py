"""Signs by row number: the bits that one long sequence has."""

import json

import numpy as np
import pytest

from scorecal.resampling import RandomSigns
from scorecal.resampling.jumping import JumpingSigns, jumping_signs


def bits(signs, n):
    return np.unpackbits(signs.packed, count=n * signs.n_resamples).reshape(n, signs.n_resamples)


@pytest.mark.parametrize("n_resamples", [1, 8, 99, 199, 1000])
@pytest.mark.parametrize("half_a_word_is_left", [False, True])
def test_signs_of_some_rows_are_those_of_all(n_resamples, half_a_word_is_left):
    rng, n = np.random.default_rng(3), 301
    rng.standard_normal(7)
    if half_a_word_is_left:
        rng.integers(0, 2**32, dtype=np.uint32)
    jumping = jumping_signs(rng, n_resamples)
    jumping = JumpingSigns(json.loads(json.dumps(jumping.state)), n_resamples)  # as from a file
    every = bits(RandomSigns().draw(n, n_resamples, rng), n)
    for start, stop in [(0, n), (0, 1), (1, 2), (5, 77), (8, 16), (150, n), (n - 1, n), (3, 4)]:
        some = jumping.rows(start, stop)
        some.check_rows(stop - start)
        np.testing.assert_array_equal(bits(some, stop - start), every[start:stop])


def test_a_far_jump_takes_no_time():
    here, there = jumping_signs(np.random.default_rng(0), 999), 10**12
    np.testing.assert_array_equal(
        bits(here.rows(there, there + 20), 20)[7:], bits(here.rows(there + 7, there + 20), 13)
    )


def test_generators_that_cannot_jump_are_refused():
    with pytest.raises(TypeError, match="MT19937"):
        jumping_signs(np.random.Generator(np.random.MT19937(0)), 99)
