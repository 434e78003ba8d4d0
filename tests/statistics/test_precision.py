"""Digits that must not be lost: rows far apart, and predictions of very unequal width."""

import jax
import numpy as np
import pytest
from backends import to_numpy

import scorecal as sc
from scorecal._lib.linalg import norms_cancel
from scorecal.pairwise import Product, half_distances, sum_of_differences

K = sc.kernels
N, D = 60, 2
ALL = slice(0, N)


def clusters(gap, n=N):
    """Calibrated predictions in two places, the second `gap` standard deviations from the first."""
    rng = np.random.default_rng(0)
    mean = rng.normal(size=(n, D)) + np.where(np.arange(n) % 3 == 0, gap, 0.0)[:, None]
    return mean, mean + rng.normal(size=(n, D))


def kccsd_in_long_double(mean, y, phi, widths, kernel):
    """Average of k h over all pairs, from differences in long double, for predictions of unit spread."""
    mean, y, phi = (part.astype(np.longdouble) for part in (mean, y, phi))
    sigma2 = np.longdouble(widths["target"]) ** 2
    s, gap = mean - y, y[:, None] - y[None, :]
    t, d = np.sum(gap**2, axis=-1) / sigma2, y.shape[1]
    if isinstance(kernel, K.Gaussian):
        f, f1, f2 = np.exp(-t / 2), -np.exp(-t / 2) / 2, np.exp(-t / 2) / 4
    else:
        f, f1, f2 = (1 + t) ** -0.5, -((1 + t) ** -1.5) / 2, 0.75 * (1 + t) ** -2.5
    cross = np.sum((s[None, :] - s[:, None]) * gap, axis=-1)
    h = f * (s @ s.T) + (2 * f1 / sigma2) * (cross - d) - 4 * f2 * t / sigma2
    distance = np.sum((phi[:, None] - phi[None, :]) ** 2, axis=-1) / np.longdouble(widths["distribution"]) ** 2
    pairs = np.exp(-distance / 2) * h
    return float((np.sum(pairs) - np.trace(pairs)) / (len(y) * (len(y) - 1)))


@pytest.mark.parametrize("gap", [0.0, 1e4, 1e6, 1e9, 1e11])
@pytest.mark.parametrize("kernel", [K.Gaussian(1.0), K.IMQ(1.0)], ids=["Gaussian", "IMQ"])
def test_clusters_far_apart(backend, gap, kernel):
    """GFD embeds N(m, I) as -m, up to a constant, so that predictions are as far apart as targets."""
    mean, y = clusters(gap)
    expected = kccsd_in_long_double(mean, y, mean, {"target": 1.0, "distribution": 1.0}, kernel)
    predictions = sc.Gaussian(backend.array(mean), backend.array(np.ones(N)))
    found = sc.kccsd(predictions, backend.array(y), target_kernel=kernel, distribution_kernel=K.GFD(bandwidth=1.0))
    # The digits of y - mean itself are lost at 1e11, in proportion.
    assert float(to_numpy(found)) == pytest.approx(expected, rel=1e-6 + 1e-16 * gap * 10, abs=1e-6)


@pytest.mark.parametrize("matrix", [np.eye(D), np.array([[2.0, 0.5], [0.5, 1.0]])], ids=["identity", "matrix"])
def test_clusters_far_apart_with_operators_and_inputs(matrix):
    """All pairs between clusters vanish, so that the far cluster may as well be near: at 50 it is still resolved."""
    near, far = clusters(50.0), clusters(50.0 + 2.0**30)
    between, target = K.GFD(bandwidth=1.0), {"target_kernel": K.Gaussian(1.0)}
    operator = K.Operator([(between, matrix)])
    tests = [
        lambda p, y: sc.kccsd(p, y, distribution_kernel=operator, **target),
        lambda p, y: sc.kcsd(p, y, p.mean, input_kernel=K.Gaussian(1.0), target_kernel=K.IMQ(1.0)),
        lambda p, y: sc.skce(p, y, distribution_kernel=between, **target),
        lambda p, y: sc.skce(p, y, distribution_kernel=between, **target, n_samples=5, rng=1),
    ]
    near, far = ((sc.Gaussian(mean, 1.0), y) for mean, y in (near, far))
    for statistic in tests:
        assert float(statistic(*far)) == pytest.approx(float(statistic(*near)), rel=1e-5, abs=1e-8)


def test_level_of_calibrated_clusters():
    """At most 21 of 200 calibrated data sets are rejected: more have probability .0005. Norms would reject 48."""
    rejected = 0
    for seed in range(200):
        rng = np.random.default_rng(seed)
        mean = rng.normal(size=(N, D)) + np.where(np.arange(N) % 4 == 0, 1e10, 0.0)[:, None]
        y = mean + rng.normal(size=(N, D))
        rejected += sc.kccsd_test(sc.Gaussian(mean, 1.0), y, n_resamples=99, rng=seed).rejects()
    assert 2 <= rejected <= 21


def test_differences_are_used_where_norms_cancel_and_only_there():
    rows = np.random.default_rng(0).normal(size=(N, D))
    rows[0] = 1e6
    assert isinstance(half_distances(rows), Product)
    rows[:2] = [[3e6], [3e6 + 1.0]]
    assert norms_cancel(rows)
    found = half_distances(rows)(ALL, ALL)
    assert found[0, 1] == pytest.approx(-0.5 * D)
    assert found[0, 0] == 0.0


def test_a_prediction_far_from_all_others_is_like_itself():
    mean = np.random.default_rng(0).normal(size=(N, D))
    mean[0] = 1e9
    gram = sc.gram_matrix(K.GFD(bandwidth=1.0), sc.Gaussian(mean, 1.0))
    np.testing.assert_allclose(np.diag(gram), 1.0)
    assert sc.gram_matrix(K.GFD(), sc.Gaussian(np.zeros((1, 2)), 1.0)) == 1.0


@pytest.mark.parametrize("kernel", [K.Gaussian(1.0), K.IMQ(1.0), K.Constant()], ids=["Gaussian", "IMQ", "Constant"])
def test_clusters_far_apart_in_float32(kernel):
    mean, y = (part.astype(np.float32) for part in clusters(1.9e4))
    between = K.GFD(bandwidth=0.1)
    found, expected = (
        sc.kccsd(sc.Gaussian(m, 1.0), z, target_kernel=kernel, distribution_kernel=between)
        for m, z in ((mean, y), (mean.astype(float), y.astype(float)))
    )
    assert float(found) == pytest.approx(float(expected), rel=1e-4, abs=1e-7)


def test_sums_of_differences_agree(backend):
    rng = np.random.default_rng(0)
    a, b = (rng.normal(size=(N, 3)) for _ in range(2))
    expected = np.sum((a[:, None] - a[None, :]) * (b[:, None] - b[None, :]), axis=-1) + 2.0
    for far in (False, True):
        found = sum_of_differences(backend.array(a), backend.array(b), backend.array(2.0), far)(ALL, ALL)
        np.testing.assert_allclose(to_numpy(found), expected, atol=1e-12)


OPERATOR = K.Operator([(K.GFD(bandwidth=1.0), np.array([[2.0, 0.5], [0.5, 1.0]], np.float32))])


@pytest.mark.parametrize("gap", [1e4, 1e6])
@pytest.mark.parametrize(
    ("target", "between"),
    [(K.Gaussian(1.0), K.GFD()), (K.IMQ(1.0), K.GFD(bandwidth=1.0)), (K.Gaussian(1.0), OPERATOR)],
    ids=["Gaussian", "IMQ", "Operator"],
)
def test_jax_without_float64_uses_differences(gap, target, between):
    mean, y = (part.astype(np.float32) for part in clusters(gap))
    kernels = {"target_kernel": target, "distribution_kernel": between}
    expected = sc.kccsd(sc.Gaussian(mean.astype(float), 1.0), y.astype(float), **kernels)
    with jax.enable_x64(False):
        found = sc.kccsd(sc.Gaussian(jax.numpy.asarray(mean), 1.0), jax.numpy.asarray(y), **kernels)
    assert float(found) == pytest.approx(float(expected), rel=1e-3, abs=1e-4)


WIDTHS = {  # one standard deviation, those of one dimension, and all but one row, are 1e-5 of the others
    "one": lambda sd: sd.__setitem__((7, 1), 1e-5),
    "one row": lambda sd: sd.__setitem__(7, 1e-5),
    "a dimension": lambda sd: sd.__setitem__((slice(None), 1), 1e-5),
    "all but one row": lambda sd: (sd.__setitem__(slice(None), 1e-5), sd.__setitem__(7, 1.0)),
}
TESTS = {
    "kccsd_test": lambda p, y: sc.kccsd_test(p, y, rng=1, n_resamples=199),
    "MMD": lambda p, y: sc.kccsd_test(p, y, distribution_kernel=K.MMD(), rng=1, n_resamples=199),
    "whitened": lambda p, y: sc.kccsd_test(p, y, coordinates=sc.coordinates.whiten(), rng=1, n_resamples=199),
    "standardised": lambda p, y: sc.kccsd_test(p, y, coordinates=sc.coordinates.standardise(), rng=1, n_resamples=199),
    "skce_test": lambda p, y: sc.skce_test(p, y, rng=1, n_resamples=199),
    "kcsd_test": lambda p, y: sc.kcsd_test(p, y, y[:, :1], rng=1, n_resamples=199),
}


@pytest.mark.parametrize("test", TESTS)
@pytest.mark.parametrize("widths", WIDTHS)
def test_unequal_widths_in_float32(test, widths):
    """The same float32 numbers, computed as they are and as float64, have the same null distribution."""
    rng = np.random.default_rng(0)
    mean, sd = 3.0 + rng.normal(size=(N, D)), np.ones((N, D))
    WIDTHS[widths](sd)
    data = [part.astype(np.float32) for part in (mean, sd, mean + sd * rng.normal(size=(N, D)))]
    found, expected = (
        TESTS[test](sc.Gaussian(mean, sd), y) for mean, sd, y in (data, [part.astype(float) for part in data])
    )
    unit = expected.null_distribution.std()
    np.testing.assert_allclose(found.null_distribution, expected.null_distribution, rtol=0, atol=2e-3 * unit)
    assert found.statistic == pytest.approx(expected.statistic, rel=0, abs=2e-3 * unit)


def test_views_of_unequal_widths_in_float32():
    rng = np.random.default_rng(0)
    mean, sd = rng.normal(size=(N, D)), np.ones((N, D))
    sd[7, 1] = 1e-5
    data = [part.astype(np.float32) for part in (mean, sd, mean + sd * rng.normal(size=(N, D)))]
    found, expected = (
        sc.calibration_test(sc.Gaussian(mean, sd), y, rng=1, n_resamples=199)
        for mean, sd, y in (data, [part.astype(float) for part in data])
    )
    for one, other in zip(found.views, expected.views, strict=True):
        unit = other.null_distribution.std()
        np.testing.assert_allclose(one.null_distribution, other.null_distribution, rtol=0, atol=1e-2 * unit)
