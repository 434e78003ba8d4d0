"""Conditional distributions of flowjax: scores against finite differences and a closed form, verdicts, refusals."""

import re

import numpy as np
import pytest
from adapter_checks import N, check_scores, check_verdicts, flow
from backends import make_backend, to_numpy

import scorecal as sc

RNG = np.random.default_rng(9)
WEIGHTS = RNG.normal(size=(3, 2))


def shift(weights, dim):
    """N(weights' x, I)."""
    import jax
    from flowjax.bijections import AdditiveCondition
    from flowjax.distributions import Normal, Transformed

    jax.config.update("jax_enable_x64", True)
    weights = jax.numpy.asarray(weights)
    bijection = AdditiveCondition(lambda x: x @ weights if x.ndim else x * weights, dim, weights.shape[:-1])
    return Transformed(Normal(jax.numpy.zeros(dim)), bijection)


@pytest.mark.parametrize("dim", [1, 2])
def test_scores_against_finite_differences(dim):
    import jax

    distribution, x = flow(dim), make_backend("jax").array(RNG.normal(size=(N, 3)))
    batched = jax.jit(lambda y: distribution.log_prob(y, x))

    def log_density(y):
        shape = y.shape[:-2]
        return to_numpy(batched(np.broadcast_to(y, (5, N, dim))))[(slice(None),) if shape else (0,)]

    check_scores(sc.from_flowjax(distribution, x), log_density, RNG.normal(size=(5, N, dim)), jax.numpy.asarray)


@pytest.mark.parametrize("dim", [(), (1,), (2,)])
def test_scores_against_a_closed_form(dim):
    array = make_backend("jax").array
    x = RNG.normal(size=(N, 3) if dim else N)
    weights = WEIGHTS[:, : dim[0]] if dim else np.asarray(2.0)
    mean = np.reshape(x @ weights if dim else x * weights, (N, -1))
    predictions = sc.from_flowjax(shift(weights, dim), array(x))
    check_scores(predictions, lambda y: -0.5 * np.sum((y - mean) ** 2, axis=-1), RNG.normal(size=(5, N, mean.shape[1])),
                 array)  # fmt: skip


def test_verdicts():
    array = make_backend("jax").array
    rng = np.random.default_rng(13)
    x = rng.normal(size=(200, 3))
    y = x @ WEIGHTS + rng.normal(size=(200, 2))
    check_verdicts(sc.from_flowjax(shift(WEIGHTS, (2,)), array(x)), array(y), array(y + 0.5), coordinates="identity")


def test_refusals():
    from flowjax.distributions import Normal

    array = make_backend("jax").array
    with pytest.raises(TypeError, match="must be a distribution of flowjax, but is a int"):
        sc.from_flowjax(3, array(np.ones((N, 3))))
    with pytest.raises(ValueError, match="has no condition"):
        sc.from_flowjax(Normal(array(np.zeros(2))), array(np.ones((N, 3))))
    with pytest.raises(TypeError, match="`condition` must be a JAX array, but is a ndarray"):
        sc.from_flowjax(flow(2), np.ones((N, 3)))
    for shape in ((N, 2), (3,), (0, 3), (N, 1, 3)):
        with pytest.raises(ValueError, match=re.escape("`condition` must have shape (n, 3), n at least 1")):
            sc.from_flowjax(flow(2), array(np.ones(shape)))
