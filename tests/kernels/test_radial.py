"""Profiles of radial kernels against autodiff."""

import jax
import numpy as np
import pytest

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
