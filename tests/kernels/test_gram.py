"""Gram matrices from their definition; H of the test symmetric and positive semi-definite for whatever kernels."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from kernel_checks import MEAN, PREDICTIONS, N

import scorecal as sc
from scorecal.kernels.gram import distribution_gram

K = sc.kernels


@pytest.mark.parametrize("outer", ["gaussian", "imq", "linear"])
def test_outer_functions(outer):
    predictions = PREDICTIONS["full"]
    gram, bandwidths = distribution_gram(K.GFD(outer=outer), predictions, MEAN, np.random.default_rng(0))
    features, _ = K.GFD().distance(predictions, MEAN, np.random.default_rng(0))
    x = features.features / float(bandwidths["distribution"])
    t = np.sum((x[:, None] - x[None]) ** 2, axis=-1)
    expected = {"gaussian": np.exp(-t / 2), "imq": 1 / (1 + t), "linear": x @ x.T}[outer]
    np.testing.assert_allclose(gram(slice(0, N), slice(0, N)), expected, rtol=1e-9)


@pytest.mark.parametrize("kernel", [K.Wasserstein(), K.MMD(K.Gaussian(0.3)), K.MMD(K.IMQ(0.3), n_samples=3)])
def test_an_offset_of_the_units_costs_no_digit(kernel):
    """Means on a grid that float32 holds exactly, here and 4096 away."""
    mean = (np.round(64 * np.random.default_rng(1).normal(size=(20, 2))) / 64).astype(np.float32)

    def found(offset):
        predictions = sc.Gaussian(mean + np.float32(offset), np.float32(0.25))
        gram, _ = distribution_gram(kernel, predictions, predictions.mean, OnGrid())
        return gram(slice(0, 20), slice(0, 20))

    np.testing.assert_allclose(found(4096), found(0), rtol=2e-5)


class OnGrid(np.random.Generator):
    """Draws that float32 holds exactly at every offset."""

    def __init__(self):
        super().__init__(np.random.PCG64(0))

    def standard_normal(self, size):
        return np.round(16 * super().standard_normal(size)) / 16


ALL_KERNELS = st.sampled_from(
    [
        K.GFD(),
        K.GFD(base="match"),
        K.GFD(n_base=3, outer="imq"),
        K.GFD(outer="linear"),
        K.KGFD(),
        K.KGFD(K.IMQ(), n_base=4),
        K.MMD(),
        K.MMD(n_samples=2),
        K.Wasserstein(n_samples=3),
    ]
)


@settings(max_examples=60, deadline=None)
@given(
    seed=st.integers(0, 2**32 - 1),
    n=st.integers(2, 12),
    d=st.integers(1, 4),
    spread=st.sampled_from([0.0, 1e-6, 1.0, 1e3]),
    kind=st.sampled_from(["isotropic", "diagonal", "full"]),
    distribution=ALL_KERNELS,
    target=st.sampled_from([K.Gaussian(), K.IMQ(), K.Gaussian(0.1), K.IMQ(10.0, c=2.0, beta=-0.8)]),
)
def test_pair_function_is_symmetric_and_positive_semidefinite(seed, n, d, spread, kind, distribution, target):
    from scorecal._kccsd import kccsd_statistic
    from scorecal.coordinates import identity

    rng = np.random.default_rng(seed)
    mean = spread * rng.normal(size=(n, d))
    if kind == "full":
        root = rng.normal(size=(n, d, d))
        predictions = sc.Gaussian(mean, covariance=root @ np.swapaxes(root, 1, 2) + 0.1 * np.eye(d))
    else:
        predictions = sc.Gaussian(mean, rng.uniform(0.3, 3.0, n if kind == "isotropic" else (n, d)))
    y = mean + rng.normal(size=(n, d))
    function, *_ = kccsd_statistic(predictions, y, distribution, target, identity, rng)
    H = function(slice(0, n), slice(0, n))
    size = np.abs(H).max()
    np.testing.assert_allclose(H, H.T, atol=1e-9 * size)
    assert np.linalg.eigvalsh((H + H.T) / 2).min() >= -1e-8 * n * size
