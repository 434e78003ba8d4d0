"""Operator-valued kernels against derivatives taken by JAX from equation A.1, index by index."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import torch

import scorecal as sc
from scorecal._kccsd import kccsd_statistic
from scorecal.coordinates import identity

jax.config.update("jax_enable_x64", True)
K = sc.kernels
RNG = np.random.default_rng(4)
N, D = 6, 3
MEAN = RNG.normal(size=(N, D))
SCALE = RNG.uniform(0.5, 2.0, N)
Y = MEAN + RNG.normal(size=(N, D))
ROOT = RNG.normal(size=(2, D, D))
B = ROOT @ np.swapaxes(ROOT, 1, 2)
ROTATION = np.linalg.qr(RNG.normal(size=(D, D)))[0]


def pairs(predictions, y, kernel, target=None):
    function, *_ = kccsd_statistic(predictions, y, kernel, target, identity, np.random.default_rng(0))
    return np.asarray(function(slice(0, N), slice(0, N)))


def by_definition(a):
    """Equation A.1 for all i, j: every index and derivative written out; row index i of A goes with (p', y')."""
    scores, targets = jnp.asarray(sc.Gaussian(MEAN, SCALE).score(Y)), jnp.asarray(Y)

    def entry(i, j):
        s, s2, y, y2 = scores[i], scores[j], targets[i], targets[j]
        A = a(i, y, j, y2)
        A_y = jax.jacrev(lambda u: a(i, u, j, y2))(y)
        A_y2 = jax.jacrev(lambda v: a(i, y, j, v))(y2)
        A_both = jax.jacrev(lambda v: jax.jacrev(lambda u: a(i, u, j, v))(y))(y2)
        total = 0.0
        for row in range(D):
            for column in range(D):
                total += s2[row] * s[column] * A[row, column] + s2[row] * A_y[row, column, column]
                total += s[column] * A_y2[row, column, row] + A_both[row, column, column, row]
        return total

    everything = jnp.arange(N)
    return jax.jit(jax.vmap(lambda i: jax.vmap(lambda j: entry(i, j))(everything)))(everything)


@pytest.mark.parametrize("target", [K.Gaussian(1.5), K.IMQ(1.5), K.IMQ(1.5, c=0.6, beta=-0.3)], ids=str)
def test_matrices_against_autodiff(target):
    kernels = [K.GFD(bandwidth=2.0), K.MMD(K.Gaussian(1.0), bandwidth=0.5)]
    predictions = sc.Gaussian(MEAN, SCALE)
    H = pairs(predictions, Y, K.Operator(list(zip(kernels, B, strict=True))), target)
    from scorecal.kernels.gram import distribution_gram

    whole = slice(0, N)
    grams = [
        jnp.asarray(distribution_gram(k, predictions, Y, np.random.default_rng(0))[0](whole, whole)) for k in kernels
    ]

    def a(i, y, j, y2):
        t = jnp.sum((y - y2) ** 2) / 1.5**2
        f = jnp.exp(-t / 2) if isinstance(target, K.Gaussian) else (target.c**2 + t) ** target.beta
        return f * sum(gram[i, j] * matrix for gram, matrix in zip(grams, B, strict=True))

    np.testing.assert_allclose(H, by_definition(a), rtol=1e-9, atol=1e-11)


@pytest.mark.parametrize("kernel", [K.GFD(), K.KGFD(), K.MMD(), K.GFD(n_base=4)], ids=lambda k: type(k).__name__)
@pytest.mark.parametrize("target", [K.Gaussian(), K.IMQ()], ids=str)
def test_identity_matrix_is_the_scalar_statistic(kernel, target):
    predictions = sc.Gaussian(MEAN, SCALE)
    operator = K.Operator([(kernel, np.eye(D))])
    plain = sc.kccsd_test(predictions, Y, distribution_kernel=kernel, target_kernel=target, n_resamples=20, rng=0)
    other = sc.kccsd_test(predictions, Y, distribution_kernel=operator, target_kernel=target, n_resamples=20, rng=0)
    assert other.statistic == pytest.approx(plain.statistic, rel=1e-10)
    np.testing.assert_allclose(other.null_distribution, plain.null_distribution, rtol=1e-9, atol=1e-14)
    assert dict(other.bandwidths) == pytest.approx(dict(plain.bandwidths))


def asymmetric(xp):
    """A(x, x') = F(x')' F(x) with a matrix F of features: a kernel, whose values are not symmetric matrices."""
    turn = xp.asarray(ROTATION)

    def features(p, y):
        first = xp.sin(y + p[0])[:, None] * turn
        second = xp.exp(-xp.sum((y - p[1]) ** 2) / 4) * xp.cos(y)[None, :] * turn.T
        return first + second

    def function(p, y, p2, y2):
        return features(p2, y2).T @ features(p, y)

    return function


@pytest.mark.parametrize("library", ["jax", "torch"])
def test_function_against_the_definition(library):
    xp = jnp if library == "jax" else torch
    convert = jnp.asarray if library == "jax" else torch.tensor
    features = np.stack([SCALE, MEAN[:, 0]], axis=1)
    kernel = K.OperatorFunction(asymmetric(xp), convert(features))
    H = pairs(sc.Gaussian(convert(MEAN), convert(SCALE)), convert(Y), kernel)
    function, rows = asymmetric(jnp), jnp.asarray(features)
    expected = by_definition(lambda i, y, j, y2: function(rows[i], y, rows[j], y2))
    assert not np.allclose(
        function(features[0], Y[0], features[1], Y[1]), function(features[0], Y[0], features[1], Y[1]).T
    )
    np.testing.assert_allclose(H, expected, rtol=1e-9, atol=1e-11)
    np.testing.assert_allclose(H, H.T, rtol=1e-9, atol=1e-11)
    assert np.linalg.eigvalsh(H).min() > -1e-9 * np.abs(H).max()


def test_function_reduces_to_the_scalar_case():
    predictions = sc.Gaussian(jnp.asarray(MEAN), jnp.asarray(SCALE))

    def function(p, y, p2, y2):
        return jnp.exp(-jnp.sum((p - p2) ** 2) / 2 - jnp.sum((y - y2) ** 2) / 2) * jnp.eye(D)

    features = K.GFD().distance(predictions, predictions.mean, np.random.default_rng(0))[0].features
    options = {"n_resamples": 30, "rng": 1}
    by_function = sc.kccsd_test(
        predictions, jnp.asarray(Y), distribution_kernel=K.OperatorFunction(function, features), **options
    )
    closed = sc.kccsd_test(
        predictions, jnp.asarray(Y), distribution_kernel=K.GFD(bandwidth=1.0), target_kernel=K.Gaussian(1.0), **options
    )
    np.testing.assert_allclose(by_function.null_distribution, closed.null_distribution, rtol=1e-9, atol=1e-13)
    assert by_function.pvalue == closed.pvalue


def test_matrix_chooses_what_is_looked_at():
    """A shift of the first dimension is seen by a matrix on it and not by one on the others."""
    predictions, y = sc.experiments.mgm(400, 0.4, c="first", rng=3)
    first, others = np.diag([1.0, 0, 0, 0, 0]), np.diag([0.0, 1, 1, 1, 1])
    assert sc.kccsd_test(predictions, y, distribution_kernel=K.Operator([(K.GFD(), first)]), rng=0).pvalue <= 0.01
    assert sc.kccsd_test(predictions, y, distribution_kernel=K.Operator([(K.GFD(), others)]), rng=0).pvalue > 0.05
