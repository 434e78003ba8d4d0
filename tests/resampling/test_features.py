"""The correction for skewness by what it is for: a skewed sum becomes as good as normal, and keeps its order."""

import numpy as np
import pytest
from scipy import stats
from skewness import corrected, numbers_with

import scorecal as sc


def test_a_skewed_sum_becomes_normal():
    """Sums of 100 numbers of skewness 2, 200,000 times: below a point as often as a normal number below its image.

    To the first order, that is: what is left is of the order of k^2, and without a correction .05 to .3 would be.
    """
    rng, n, points = np.random.default_rng(0), 100, np.array([-2.0, -1.0, 0.5, 1.0, 2.0])
    below = np.zeros(len(points))
    for _ in range(10):
        f = rng.exponential(size=(20_000, n)) - 1.0
        sums = np.sum(f, axis=1) / np.sqrt(np.sum(f**2, axis=1))
        below += np.sum(sums[:, None] <= points, axis=0)
    images = [np.sign(t) * corrected(numbers_with(t, 2.0 / n**0.5)) for t in points]
    np.testing.assert_allclose(images, stats.norm.ppf(below / 200_000), rtol=0, atol=0.02)


def test_the_order_of_sums_is_kept():
    """The image grows with the sum, and is flat in one place only, where the sum is -3 / k."""
    k = 0.29
    sums = np.concatenate([np.arange(-16.0, -0.9, 0.5), np.arange(1.0, 16.1, 0.5)])
    images = np.array([np.sign(t) * corrected(numbers_with(t, k)) for t in sums])
    assert np.all(np.diff(images) > 0)
    ahead, behind = (corrected(numbers_with(-3.0 / k + step, k)) for step in (0.5, -0.5))
    assert 0 < behind - ahead < 0.005


@pytest.mark.parametrize("t", [-2.0, 1.0, 4.0])
def test_no_more_than_some_skewness_is_corrected_and_both_signs_alike(t):
    most = corrected(numbers_with(t, 0.3))
    assert corrected(numbers_with(t, 0.25)) != pytest.approx(most, rel=1e-4)
    for k in (0.31, 0.6):
        assert corrected(numbers_with(t, k)) == pytest.approx(most)
    for k in (0.0, 0.2, 0.6):
        assert corrected(numbers_with(-t, -k)) == pytest.approx(corrected(numbers_with(t, k)))
    assert corrected(numbers_with(t, 0.0)) == pytest.approx(abs(t))


@pytest.mark.parametrize("kernel", [sc.kernels.Constant(), sc.kernels.Linear()], ids=["Constant", "Linear"])
def test_equal_signs_are_ties_even_if_one_row_dominates(kernel):
    """Draws whose signs are all equal are the statistic itself, although sums in another order round differently."""
    n, b, one = 5, 199, sc.kernels.Constant()
    for seed in range(60):
        y = np.random.default_rng(seed).normal(size=(n, 1))
        y[0] *= 1000.0
        found = sc.kccsd_test(
            sc.Gaussian(np.zeros((n, 1)), 1.0),
            y,
            target_kernel=kernel,
            distribution_kernel=one,
            n_resamples=b,
            rng=seed,
        )
        bits = np.frombuffer(np.random.default_rng(seed).bytes(-(-n * b // 8)), np.uint8)
        n_plus = np.sum(np.unpackbits(bits)[: n * b].reshape(n, b), axis=0)
        assert np.all(found.null_distribution[(n_plus == 0) | (n_plus == n)] == found.statistic)
