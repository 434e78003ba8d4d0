"""The second-order median: of pairs against draws, a root finder and 60 digits; of all, against the median of all."""

import numpy as np
import pytest
from kernel_checks import MEAN, PREDICTIONS, SCALE, D
from scipy import optimize, special, stats

import scorecal as sc
from scorecal.kernels.second_order import isotropic_pair_medians, second_order_median


def test_isotropic_pair_medians_against_draws():
    rng = np.random.default_rng(0)
    gap, scale, scale2, d = np.asarray([0.0, 2.0, 30.0]), np.asarray([1.0, 0.2, 1.0]), np.asarray([1.0, 3.0, 0.5]), 3
    medians = isotropic_pair_medians(gap, scale, scale2, d)
    for k in range(3):
        side = rng.integers(0, 2, (2, 400_000))
        x = rng.normal(size=(2, 400_000, d)) * np.where(side, scale2[k], scale[k])[..., None]
        x[..., 0] += side * gap[k]
        below = np.mean(np.linalg.norm(x[0] - x[1], axis=-1) <= medians[k])
        assert abs(below - 0.5) < 5 * 0.5 / np.sqrt(400_000)


def test_second_order_median_takes_at_most_six_evaluations_a_pair(monkeypatch):
    sizes = []
    cdf = special.chndtr
    monkeypatch.setattr(special, "chndtr", lambda x, d, noncentrality: sizes.append(x.size) or cdf(x, d, noncentrality))
    rng = np.random.default_rng(0)
    scale = np.exp(rng.normal(size=140) * 2)
    second_order_median(sc.Gaussian(rng.normal(size=(140, 3)) * 5, scale))
    assert 1 <= sum(sizes) / (140 * 139 / 2) <= 6


@pytest.mark.parametrize("spread", [0.0, 0.1, 0.7])
@pytest.mark.parametrize(("n", "d"), [(2, 1), (3, 2), (12, 3), (13, 1), (60, 1), (61, 2), (62, 5)])
def test_second_order_median_is_the_median_of_the_pair_medians(n, d, spread):
    """Quickselect against the median of all; below 65 pairs it has nothing to do."""
    rng = np.random.default_rng(n)
    mean, scale = 3.0 * rng.normal(size=(n, d)), np.exp(spread * rng.normal(size=n))
    i, j = np.triu_indices(n, 1)
    medians = isotropic_pair_medians(np.linalg.norm(mean[i] - mean[j], axis=1), scale[i], scale[j], d)
    assert second_order_median(sc.Gaussian(mean, scale)) == pytest.approx(np.median(medians), rel=1e-8)


@pytest.mark.parametrize("d", [1, 2, 5])
def test_second_order_median_of_narrow_predictions(d):
    """It has a limit as they shrink to points, where a cdf cannot tell the distances between two of them apart."""
    rng = np.random.default_rng(7)
    mean, scale = rng.normal(size=(60, d)), np.exp(0.3 * rng.normal(size=60))
    i, j = np.triu_indices(60, 1)
    gap = np.linalg.norm(mean[i] - mean[j], axis=1)
    found = [second_order_median(sc.Gaussian(mean, size * scale)) for size in (1e-2, 1e-3, 1e-4)]
    for size, value in zip((1e-2, 1e-3, 1e-4), found, strict=True):
        medians = isotropic_pair_medians(gap, size * scale[i], size * scale[j], d)
        assert np.mean(medians < value * 0.998) <= 0.5 <= np.mean(medians <= value * 1.002)
    # Tails of exp(-r^2 / (4 s^2)), s the wider one, and exp(-(gap - r)^2 / (2 (s^2 + s'^2))) balance at the limit.
    wider, both = np.maximum(scale[i], scale[j]), np.hypot(scale[i], scale[j])
    limit = np.median(gap / (1.0 + both / (np.sqrt(2.0) * wider)))
    np.testing.assert_allclose(found[0], limit, rtol=0.01)
    np.testing.assert_allclose(found[1:], limit, rtol=0.001)


@pytest.mark.parametrize(("distance", "rtol"), [(2, 1e-9), (19, 1e-9), (21, 1e-4), (40, 1e-4), (80, 5e-3), (500, 5e-3)])
@pytest.mark.parametrize("scale2", [1.0, 20.0])
def test_pair_median_in_the_far_tail(distance, rtol, scale2):
    """Against 60 digits, for d = 3, where all cdfs are elementary; beyond 20 standard deviations ours is asymptotic."""
    from mpmath import erfc, exp, mp, ncdf, npdf, pi, sqrt

    with mp.workdps(60):
        both = sqrt(1 + mp.mpf(scale2) ** 2)
        gap = distance * both

        def beyond(r, scale):
            x = r / (sqrt(2) * scale)
            return erfc(x / sqrt(2)) + sqrt(2 / pi) * x * exp(-x * x / 2)

        def excess(r):
            x, centre = r / both, mp.mpf(distance)
            between = ncdf(x - centre) - ncdf(-x - centre) - (npdf(x - centre) - npdf(x + centre)) / centre
            return between / 2 - (beyond(r, 1) + beyond(r, scale2)) / 4

        low, high = mp.mpf(0), gap + 5 * both
        for _ in range(150):
            middle = (low + high) / 2
            low, high = (low, middle) if excess(middle) > 0 else (middle, high)
    found = isotropic_pair_medians(np.asarray([float(gap)]), np.ones(1), np.asarray([scale2]), 3)
    assert found[0] == pytest.approx(float(middle), rel=rtol)


def test_second_order_median_of_equal_predictions():
    """No probe can tell the pairs apart."""
    expected = np.sqrt(2.0 * stats.chi2.ppf(0.5, 2))
    assert second_order_median(sc.Gaussian(np.zeros((100, 2)), 1.0)) == pytest.approx(expected, rel=1e-8)


def test_root_of_the_pair_median_is_found():
    rng = np.random.default_rng(3)
    scale, scale2, gap = np.exp(rng.normal(size=(3, 200)) * 2)
    medians = isotropic_pair_medians(gap, scale, scale2, 2)
    for k in range(0, 200, 20):

        def excess(r, k=k):
            both = scale[k] ** 2 + scale2[k] ** 2
            return (
                0.25 * stats.chi2.cdf(r**2 / (2 * scale[k] ** 2), 2)
                + 0.25 * stats.chi2.cdf(r**2 / (2 * scale2[k] ** 2), 2)
                + 0.5 * stats.ncx2.cdf(r**2 / both, 2, gap[k] ** 2 / both)
                - 0.5
            )

        if abs(excess(medians[k] * 1.01) - excess(medians[k])) > 1e-6:  # otherwise any value in the gap is a median
            assert medians[k] == pytest.approx(optimize.brentq(excess, 1e-6, 1e6, xtol=1e-12), rel=1e-5)


def test_second_order_median_from_draws_is_near_the_exact_one():
    exact = second_order_median(PREDICTIONS["isotropic"])
    drawn = second_order_median(sc.Gaussian(MEAN, np.repeat(SCALE[:, :1], D, axis=1)))
    assert drawn == pytest.approx(exact, rel=0.1)


def test_second_order_median_of_a_large_batch_uses_a_subset():
    rng = np.random.default_rng(0)
    mean = rng.normal(size=(2000, 2))
    assert second_order_median(sc.Gaussian(mean, 1.0)) == pytest.approx(
        second_order_median(sc.Gaussian(mean[:140], 1.0)), rel=0.1
    )
