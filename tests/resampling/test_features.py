"""The correction for skewness by what it is for: a skewed sum becomes as good as normal, and keeps its order."""

import numpy as np
import pytest
from scipy import stats
from skewness import corrected, numbers_with

import scorecal as sc
from scorecal.pairwise import Features, Units
from scorecal.resampling import ComputeOptions, RandomSigns, u_statistics
from scorecal.resampling.clusters import clusters_of
from scorecal.resampling.features import normalised, statistic_of_sums


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


# Known units ----------------------------------------------------------------------------------------------------------


def gamma_values(skewness, z):
    """Sums of mean 0 and variance 1, of a gamma variable of this skewness, at the quantiles of normal numbers z."""
    shape = 4.0 / skewness**2
    low, high = (stats.gamma(shape).ppf(stats.norm.cdf(z)), stats.gamma(shape).isf(stats.norm.sf(z)))
    return (np.where(z < 0, low, high) - shape) / shape**0.5


@pytest.mark.parametrize("skewness", [0.01, 0.4, 1.0, 2.0, 2.8])
def test_gamma_variables_become_normal(skewness):
    """To what Wilson and Hilferty's formula errs by, in standard errors: .03 k up to 2 of them, .13 k up to 5."""
    z = np.array([-1.0, 0.0, 1.0, 2.0, 3.0, 4.0, 5.0])
    t = gamma_values(skewness, z)
    square, cube = np.full(7, 9.0), np.full(7, 27.0 * skewness)  # in units of 3
    found = normalised(3.0 * t, Units(square, cube)) / 3.0
    np.testing.assert_allclose(found[:4], z[:4], rtol=0, atol=0.03 * skewness)
    np.testing.assert_allclose(found[4:], z[4:], rtol=0, atol=0.13 * skewness)
    np.testing.assert_allclose(normalised(-3.0 * t, Units(square, -cube)) / 3.0, -found, rtol=1e-12)
    assert np.all(np.diff(normalised(np.linspace(-9.0, 30.0, 500), Units(np.full(500, 9.0), np.full(500, 27.0)))) >= 0)


def test_sums_that_are_not_skewed_stay_what_they_are():
    t = np.linspace(-5.0, 5.0, 11)
    units = [Units(np.ones(11), np.full(11, skewness)) for skewness in (0.0, 0.99e-4, 1.01e-4)]
    without, below, above = (normalised(t, each) for each in units)
    np.testing.assert_array_equal(without, t)
    np.testing.assert_array_equal(below, t)
    np.testing.assert_allclose(above, t, atol=5e-4)  # k (t^2 - 1) / 6


@pytest.mark.parametrize("largest", [False, True])
def test_data_are_treated_as_draws_are(largest):
    """The statistic of rows is that of their sums, for any features and units, and of its definition."""
    rng = np.random.default_rng(0)
    f = rng.gamma(1.0, size=(30, 4)) - 1.0
    f[:, 3] = 0.0
    units = Units(30.0 * np.array([1.0, 2.0, 0.5, 0.0]), 30.0 * np.array([2.0, 0.0, -0.3, 0.0]))
    found = u_statistics([Features(lambda rows: f[rows, :], largest, unskewed=True, units=units)], f)
    of_sums = statistic_of_sums(largest, np.sum(f, axis=0)[:, None], units, 30)
    assert found.statistic[0] == pytest.approx(of_sums[0], rel=1e-12)
    assert np.sum(found.contributions[0]) == pytest.approx(found.statistic[0])
    squared = normalised(np.sum(f[:, :3], axis=0), Units(*(part[:3] for part in units))) ** 2
    expected = np.max(squared / units.squares[:3]) - 1.0 if largest else np.sum(squared - units.squares[:3]) / 30.0
    assert found.statistic[0] == pytest.approx(expected / 29.0)
    p = found.laws[0].log_pvalues(of_sums)
    one = stats.chi2(1).logsf(np.max(squared / units.squares[:3]))
    assert not largest or p[0] == pytest.approx(np.log(-np.expm1(3.0 * np.log1p(-np.exp(one)))))


def test_one_huge_row_does_not_make_draws_equal():
    """Draws that are corrected for skewness are then a large constant plus small differences."""
    rng = np.random.default_rng(0)
    f = 1.0 + 0.1 * rng.standard_normal((300, 1))
    f[0] = 1e8
    signs = RandomSigns().draw(300, 999, rng)
    features = [Features(lambda rows: f[rows], unskewed=True)]
    full, mixed = (
        u_statistics(features, f, signs, options=ComputeOptions(precision=precision), tile=64)
        for precision in ("full", "mixed")
    )
    np.testing.assert_array_equal(mixed.null, full.null)
    assert mixed.precisions == full.precisions
    assert len(np.unique(mixed.null)) > 900


@pytest.mark.parametrize("arguments", [{}, {"horizon": 3}])
def test_a_feature_that_is_zero_is_never_the_largest(arguments):
    rng = np.random.default_rng(0)
    clusters = clusters_of(None, arguments.get("horizon"), 90)
    signs = RandomSigns().draw(90 if clusters is None else clusters.n_clusters, 9, rng)
    for _ in range(20):
        f = rng.standard_normal((90, 1))
        alone, beside = (
            u_statistics(
                [Features(lambda rows, each=each: each[rows], largest=True)],
                f,
                signs,
                options=ComputeOptions(clusters=clusters),
            )
            for each in (f, np.concatenate([np.zeros((90, 1)), f], axis=1))
        )
        np.testing.assert_allclose(beside.null, alone.null)
        np.testing.assert_allclose(beside.contributions, alone.contributions)


def test_blocks_of_many_features_have_fewer_rows():
    """Those seen by the function take no more than `memory`; the statistic changes by rounding."""
    values, seen = np.random.default_rng(0).normal(size=(2000, 3)), []

    def function(rows):
        seen.append(rows.stop - rows.start)
        return np.tile(values[rows], (1, 500))

    found = [
        u_statistics([Features(function)], values, options=ComputeOptions(memory=memory)).statistic[0]
        for memory in (None, 2**24)
    ]
    assert max(seen) == 2000
    within = seen[seen.index(1, 1) :]  # one row is asked for first, to count the features
    assert max(within) <= 2**24 / (8 * 1500) < 4 * 384
    assert set(within) != set(seen)
    assert found[1] == pytest.approx(found[0], rel=1e-12)
