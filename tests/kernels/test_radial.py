"""Profiles of radial kernels against autodiff."""

import jax
import numpy as np
import pytest
from scipy.integrate import quad
from scipy.stats import gamma

import scorecal as sc

jax.config.update("jax_enable_x64", True)
K = sc.kernels


@pytest.mark.parametrize("kernel", [K.Gaussian(1.0), K.IMQ(1.0), K.IMQ(1.0, c=0.5, beta=-0.9)], ids=str)
def test_profile_against_autodiff(kernel):
    for t in (0.1, 1.0, 7.0):
        value, v, r = (float(part) for part in kernel.profile(np.asarray(t), 2.0))

        def f(x):
            return jax.numpy.exp(-x / 2) if isinstance(kernel, K.Gaussian) else (kernel.c**2 + x) ** kernel.beta

        first, second = jax.grad(f)(t), jax.grad(jax.grad(f))(t)
        assert value == pytest.approx(float(f(t)), rel=1e-12)
        assert kernel.slope * v == pytest.approx(float(first / f(t)), rel=1e-12)
        assert kernel.offset + r / 2.0 == pytest.approx(float(t * second / first), rel=1e-12)


@pytest.mark.parametrize("kernel", [K.Gaussian(1.0), K.IMQ(1.0), K.IMQ(1.0, c=0.5, beta=-0.9)], ids=str)
def test_waves_have_the_kernel_as_their_mean(kernel):
    """Drawn ones; and, for the mixture that IMQ is, the integral over its scales."""
    x = np.array([[0.3, 0.1, -0.2], [1.0, -1.0, 0.5], [0.0, 2.0, 2.0]])
    value = kernel.profile(np.sum(x**2, axis=1))[0]
    waves = kernel.at_zero * np.cos(x @ kernel.frequencies(3, 40_000, np.random.default_rng(0)))
    assert np.all(np.abs(waves.mean(axis=1) - value) < 4.0 * waves.std(axis=1) / 200.0)
    if isinstance(kernel, K.IMQ):
        law = gamma(-kernel.beta, scale=kernel.c**-2)
        for t in (0.1, 1.0, 7.0):
            # With u = v^2 the density is bounded at zero for beta < -1/2, and integrable before that.
            mixed, _ = quad(lambda v, t=t: 2.0 * v * law.pdf(v * v) * np.exp(-v * v * t), 0.0, np.inf)
            assert kernel.at_zero * mixed == pytest.approx(float(kernel.profile(np.asarray(t))[0]), rel=1e-6)
