"""The contract of kernels between predictions: symmetric, positive semi-definite, one Gram matrix everywhere."""

import numpy as np
import pytest

import scorecal as sc

K = sc.kernels
KERNELS = [
    *(K.GFD(outer=outer) for outer in ("gaussian", "imq", "linear")),
    K.GFD(n_base=5),
    K.GFD(base="match"),
    K.KGFD(),
    K.KGFD(n_base=5),
    K.KGFD(K.Diffusion()),
    K.MMD(),
    K.MMD(n_samples=5),
    K.Wasserstein(),
    K.Wasserstein(n_samples=5, outer="imq"),
    K.Constant(),
]


@pytest.mark.parametrize("kernel", KERNELS, ids=repr)
def test_gram_matrix(kernel):
    predictions, y = sc.experiments.hgm(30, 1.0, rng=0)
    gram = sc.gram_matrix(kernel, predictions, rng=3)
    np.testing.assert_allclose(gram, gram.T, rtol=1e-12, atol=1e-12)
    assert np.linalg.eigvalsh(gram).min() > -1e-9 * np.abs(gram).max()
    if kernel.outer != "linear":
        np.testing.assert_allclose(np.diag(gram), 1.0, rtol=1e-9)
    # The KCCSD with the constant kernel on targets is the U-statistic of k(P_i, P_j) s_i.s_j.
    s = predictions.score(y)
    h = gram * (s @ s.T)
    value = (np.sum(h) - np.trace(h)) / (30 * 29)
    found = sc.kccsd(predictions, y, distribution_kernel=kernel, target_kernel=K.Constant(), rng=3)
    if not isinstance(kernel, K.GFD) or kernel.base != "match":  # which draws its base on another stream there
        assert float(found) == pytest.approx(value, rel=1e-7, abs=1e-9)
    both = sc.gram_matrix(kernel, predictions, predictions, rng=3)
    assert both.shape == (30, 30)
