"""Predictions in JAX on a CPU are judged in NumPy, with the numbers of NumPy."""

import jax
import jax.numpy as jnp
import numpy as np
import numpyro.distributions as dist
import pytest

import scorecal as sc
from scorecal.predictions import HasDensity, HasMoments, Samplable, on_host

N = 60
RNG = np.random.default_rng(0)
MEAN, Y = RNG.normal(size=(2, N, 2))
SCALE = np.exp(0.2 * RNG.normal(size=N))
P = RNG.dirichlet(np.ones(3), size=N)
BASE = RNG.normal(size=(40, 2))

CLOSED = {
    "Gaussian": (lambda array: sc.Gaussian(array(MEAN), array(SCALE)), Y),
    "mixture": (
        lambda array: sc.GaussianMixture(array(P), array(RNG_MEANS), array(np.ones((N, 3)))),
        Y,
    ),
    "classes": (lambda array: sc.Categorical(array(P)), np.arange(N) % 3),
    "scores": (
        lambda array: sc.Scores(array(MEAN - Y), array(MEAN[:, None] - BASE), array(BASE)),
        Y,
    ),
}
RNG_MEANS = np.random.default_rng(1).normal(size=(N, 3, 2))


@pytest.mark.parametrize("kind", CLOSED)
def test_numbers_are_those_of_numpy(kind):
    make, y = CLOSED[kind]
    in_jax = make(jnp.asarray), jnp.asarray(y)  # in float32, unless JAX is told otherwise
    in_numpy = make(lambda values: np.asarray(jnp.asarray(values))), np.asarray(in_jax[1])
    here, there = (sc.calibration_test(*each, n_resamples=99, rng=0) for each in (in_numpy, in_jax))
    assert (there.statistic, there.pvalue) == (here.statistic, here.pvalue)
    assert sc.diagnose(*in_jax, rng=0).message == sc.diagnose(*in_numpy, rng=0).message


def test_models_keep_what_they_can_do():
    model = dist.Gamma(3.0 + jnp.abs(jnp.asarray(MEAN[:, 0])), 1.0)
    given = sc.from_numpyro(model)
    moved, y = on_host(given, jnp.ones(N))
    assert isinstance(y, np.ndarray)
    able = [isinstance(moved, ability) for ability in (Samplable, HasDensity, HasMoments)]
    assert able == [True, True, False]
    points = np.full((N, 1), 2.0)
    for asked, answered in ((given.score, moved.score), (given.log_prob, moved.log_prob)):
        found = answered(points)
        assert isinstance(found, np.ndarray)
        np.testing.assert_array_equal(found, np.asarray(asked(jnp.asarray(points))))
    np.testing.assert_array_equal(moved.sample(2, 0), np.asarray(given.sample(2, 0)))
    assert isinstance(moved.support.low, np.ndarray)
    assert repr(moved) == repr(given)
    assert sc.calibration_test(given, model.sample(jax.random.key(0)), n_resamples=19, rng=0).pvalue > 0.05


def test_log_densities_have_no_draws():
    given = sc.LogDensity(lambda y, x: -0.5 * jnp.sum((y - x) ** 2), jnp.asarray(MEAN), dim=2)
    moved, _ = on_host(given, jnp.asarray(Y))
    assert not isinstance(moved, Samplable)
    assert sc.calibration_test(given, jnp.asarray(Y), n_resamples=19, rng=0).n == N


def test_half_precision_counts_as_float32():
    short = jnp.asarray(MEAN, dtype=jnp.bfloat16), jnp.asarray(Y, dtype=jnp.bfloat16)
    found = sc.calibration_test(sc.Gaussian(short[0], 1.0), short[1], n_resamples=19, rng=0)
    wide = [np.asarray(part.astype(jnp.float32)) for part in short]
    assert found.statistic == sc.calibration_test(sc.Gaussian(wide[0], 1.0), wide[1], n_resamples=19, rng=0).statistic


def test_classes_of_a_user_keep_what_they_say():
    class Shifted(sc.Gaussian):
        def __init__(self, mean):
            super().__init__(mean + 1.0, 1.0)

    class Model:
        n, dim, cannot_see = N, 2, ("the sea",)

        def score(self, y):
            assert isinstance(y, jax.Array)
            return jnp.asarray(MEAN) - y

        def cautions(self, y):
            return ("Mind the step.",)

    own = Shifted(jnp.asarray(MEAN))
    assert on_host(own, jnp.asarray(Y))[0] is own
    found = sc.calibration_test(Model(), jnp.asarray(Y), n_resamples=19, rng=0)
    assert "the sea" in found.cannot_see
    assert "Mind the step." in found.warnings


def test_others_are_left_as_they_are():
    plain, in_jax = sc.Gaussian(MEAN, SCALE), sc.Gaussian(jnp.asarray(MEAN), 1.0)
    assert on_host(in_jax, Y)[0] is in_jax  # other functions refuse a mixture of libraries
    assert on_host(plain, Y) == (plain, Y)
    members = sc.from_samples(RNG.normal(size=(N, 5)))
    y = jnp.asarray(Y[:, 0])
    assert on_host(members, y)[0] is members

    def traced(mean):
        predictions = sc.Gaussian(mean, 1.0)
        assert on_host(predictions, mean) == (predictions, mean)
        return mean

    jax.jit(traced)(jnp.asarray(MEAN))
