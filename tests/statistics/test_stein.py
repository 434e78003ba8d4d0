"""The Stein pair function against derivatives taken by JAX, straight from equations 9 and 10."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import scorecal as sc
from scorecal.kernels.gram import EmbeddingGram
from scorecal.pairwise import products
from scorecal.statistics.stein import stein_pairs

jax.config.update("jax_enable_x64", True)
K = sc.kernels
RNG = np.random.default_rng(2)
N, D = 6, 3
Y = 3.0 + RNG.normal(size=(N, D))
S = RNG.normal(size=(N, D))
FEATURES = RNG.normal(size=(N, 4))


def direct(kernel, sigma):
    """h from derivatives of l at all (y_i, y_j)."""

    def l(y, z):  # noqa: E743 - the paper's name
        t = jnp.sum((y - z) ** 2) / sigma**2
        return jnp.exp(-t / 2) if isinstance(kernel, K.Gaussian) else (kernel.c**2 + t) ** kernel.beta

    def h(y, s, z, s2):
        trace = jnp.trace(jax.jacfwd(jax.grad(l, argnums=0), argnums=1)(y, z))
        return l(y, z) * s @ s2 + trace + s @ jax.grad(l, argnums=1)(y, z) + s2 @ jax.grad(l, argnums=0)(y, z)

    return jax.jit(jax.vmap(lambda y, s: jax.vmap(lambda z, s2: h(y, s, z, s2))(Y, S)))(Y, S)


@pytest.mark.parametrize("outer", ["gaussian", "imq"])
@pytest.mark.parametrize("kernel", [K.Gaussian(), K.IMQ(), K.IMQ(c=0.7, beta=-0.3)], ids=str)
def test_against_autodiff(kernel, outer):
    sigma = 1.7
    function = stein_pairs(Y, S, kernel, np.asarray(sigma), EmbeddingGram(FEATURES, outer))
    t = np.sum((FEATURES[:, None] - FEATURES[None]) ** 2, axis=-1)
    k = np.exp(-t / 2) if outer == "gaussian" else 1 / (1 + t)
    H = function(slice(0, N), slice(0, N))
    np.testing.assert_allclose(H, k * direct(kernel, sigma), rtol=1e-10, atol=1e-12)


def test_mean_is_zero_exactly_when_calibrated():
    """E h(p, Y, p', y') over Y ~ p is zero for every p' and y': the identity on which everything rests."""
    rng = np.random.default_rng(0)
    predictions = sc.Gaussian(np.full((200_001, 2), 0.3), 1.4)
    y = predictions.sample(1, rng)[0]
    for kernel in (K.Gaussian(), K.IMQ()):
        for shift, calibrated in ((0.0, True), (0.2, False)):
            scores = predictions.score(y + shift)
            function = stein_pairs(y + shift, scores, kernel, np.asarray(1.0), EmbeddingGram(0 * y, "gaussian"))
            rows = function(slice(0, 8), slice(8, 200_001))
            z = rows.mean(axis=1) / (rows.std(axis=1) / np.sqrt(rows.shape[1]))
            assert np.all(np.abs(z) < 4.5) if calibrated else np.max(np.abs(z)) > 10


@pytest.mark.parametrize("kernel", [K.Gaussian(), K.IMQ()], ids=str)
@pytest.mark.parametrize("estimator", ["complete", "incomplete", "linear"])
def test_factors_of_a_long_table_are_made_block_by_block(monkeypatch, kernel, estimator):
    predictions, y = sc.experiments.hgm(300, 1.0, rng=0)

    def result():
        between = K.GFD(n_base=4)
        options = {"estimator": estimator, "n_resamples": 19, "precision": "full", "rng": 0}
        return sc.kccsd_test(predictions, y, target_kernel=kernel, distribution_kernel=between, **options)

    held = result()
    monkeypatch.setattr(products, "_MOST_HELD", 0)
    by_block = result()
    assert by_block.statistic == pytest.approx(held.statistic, rel=1e-10)
    np.testing.assert_allclose(by_block.null_distribution, held.null_distribution, rtol=1e-8, atol=1e-12)
