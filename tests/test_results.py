"""Ranks of a statistic among its null draws."""

import numpy as np
import pytest

import scorecal as sc
from scorecal.results import calibration_result


@pytest.mark.parametrize(("size", "step"), [(1.0, 2.2e-16), (1e-310, 5e-324)])
def test_draws_that_differ_by_rounding_only_are_equal(size, step):
    """The smallest numbers are multiples of 5e-324, however small they are compared to that."""
    null = np.array([size - 3 * step, size, -size, -2 * size])
    assert calibration_result(size, null, np.full(4, size / 4), {}, 2.2e-16).pvalue == pytest.approx(3 / 5)


def test_draws_that_overflow_to_either_side_are_reported_once():
    with pytest.raises(ValueError, match="overflowed"):
        calibration_result(1.0, np.array([np.inf, -np.inf]), np.full(2, 0.5), {}, 2.2e-16)


def test_warnings_and_the_null_distribution_are_printed():
    rng = np.random.default_rng(0)
    mean = rng.normal(size=(60, 1))
    y = np.round(mean + rng.normal(size=(60, 1)))
    result = sc.calibration_test(sc.Gaussian(mean, 1.0), y, null="signs", n_resamples=99, rng=0)
    text = str(result)
    assert f"Warning: {result.warnings[0]}\n" in text
    error = f"{result.pvalue_error:.2g}"
    assert text.endswith(f"Null distribution: signs, 99 draws; Monte Carlo error of the p-value {error}.")
    assert "Warning:" not in str(sc.calibration_test(sc.Gaussian(mean, 1.0), y + 0.1 * mean, n_resamples=99, rng=0))
    by_t = sc.kccsd_test(sc.Gaussian(mean, 1.0), y, estimator="linear", n_resamples=99, rng=0)
    assert by_t.null_sentence == "Null distribution: student-t, 99 draws. Pairs of rows: linear."
