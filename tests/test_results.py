"""Ranks of a statistic among its null draws."""

import numpy as np
import pytest

from scorecal.results import calibration_result


@pytest.mark.parametrize(("size", "step"), [(1.0, 2.2e-16), (1e-310, 5e-324)])
def test_draws_that_differ_by_rounding_only_are_equal(size, step):
    """The smallest numbers are multiples of 5e-324, however small they are compared to that."""
    null = np.array([size - 3 * step, size, -size, -2 * size])
    assert calibration_result(size, null, np.full(4, size / 4), {}, 2.2e-16).pvalue == pytest.approx(3 / 5)


def test_draws_that_overflow_to_either_side_are_reported_once():
    with pytest.raises(ValueError, match="overflowed"):
        calibration_result(1.0, np.array([np.inf, -np.inf]), np.full(2, 0.5), {}, 2.2e-16)
