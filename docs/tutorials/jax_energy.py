"""An energy-based model in JAX, of unknown normalising constant
===============================================================

You have a network that gives the energy of a target for an input. You cannot sample from it, and do not know its
normalising constant, which is another one for each input. Coverage, PIT histograms and likelihoods all need one or the
other. The score test needs neither.
"""

# %%
# The data
# --------
# Two-dimensional targets on a bent ridge that moves with the input. The test gets 500 pairs that were not trained on: a
# model has bent itself towards its training targets, so a test on those means nothing.

from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
import optax

import scorecal as sc

SEED = 0


def simulate(rng, n):
    x = rng.uniform(-1.0, 1.0, (n, 1))
    first = x + 0.6 * rng.standard_normal((n, 1))
    second = first**2 - 0.8 + 0.5 * rng.standard_normal((n, 1))
    return jnp.asarray(x), jnp.asarray(np.hstack([first, second]))


rng = np.random.default_rng(SEED)
x, y = simulate(rng, 20_000)
x_test, y_test = simulate(rng, 500)

# %%
# The model
# ---------
# An energy is a small network of (y, x), plus the energy of a wide Gaussian that keeps the tails down. It is trained by
# noise contrast: out of one true target and 15 draws from that Gaussian, say which is the true one. The loss is blind
# to what depends on x alone, so the normalising constant stays unknown.

NOISE_SCALE, N_NOISE, BATCH = 1.5, 15, 128


def initial(key, sizes=(3, 64, 64, 1)):
    keys = jax.random.split(key, len(sizes) - 1)
    return [
        (jax.random.normal(k, (m, n)) / jnp.sqrt(m), jnp.zeros(n))
        for k, m, n in zip(keys, sizes[:-1], sizes[1:], strict=True)
    ]


def network(parameters, y, x):
    z = jnp.concatenate([y, x])
    for weight, bias in parameters[:-1]:
        z = jax.nn.silu(z @ weight + bias)
    weight, bias = parameters[-1]
    return (z @ weight + bias)[0]


def log_density(parameters, y, x):
    return network(parameters, y, x) - 0.5 * jnp.sum((y / NOISE_SCALE) ** 2)


def loss(parameters, y, x, noise):
    candidates = jnp.concatenate([y[:, None, :], noise], axis=1)  # log-density minus that of the noise: the network
    of_one = jax.vmap(network, (None, 0, None))
    logits = jax.vmap(of_one, (None, 0, 0))(parameters, candidates, x)
    return -jnp.mean(jax.nn.log_softmax(logits)[:, 0])


def train(n_steps, key):
    parameters = initial(key)
    optimiser = optax.adam(optax.cosine_decay_schedule(3e-3, n_steps))

    @jax.jit
    def step(carry, key):
        parameters, state = carry
        rows, noise = jax.random.split(key)
        rows = jax.random.randint(rows, (BATCH,), 0, len(x))
        noise = NOISE_SCALE * jax.random.normal(noise, (BATCH, N_NOISE, 2))
        slope = jax.grad(loss)(parameters, y[rows], x[rows], noise)
        change, state = optimiser.update(slope, state)
        return (optax.apply_updates(parameters, change), state), None

    keys = jax.random.split(key, n_steps)
    return jax.lax.scan(step, (parameters, optimiser.init(parameters)), keys)[0][0]


# %%
# From the model to a p-value
# ---------------------------
# `LogDensity` takes the log-density of *one* target and *one* input, up to a constant, as a function; the inputs, one
# row for each prediction; and the dimension of the targets. It differentiates and batches the function itself.


def judge(name, log_density):
    predictions = sc.LogDensity(log_density, x_test, dim=2)
    result = sc.kccsd_test(predictions, y_test, rng=0)
    print(f"{name:<24} statistic = {result.statistic:7.4f}   p = {result.pvalue:.3f}")
    return result


key = jax.random.key(SEED)
early, good = train(30, key), train(600, key)
stopped = judge("stopped after 30 steps", partial(log_density, early))
trained = judge("trained", partial(log_density, good))

# %%
# The p-value is the probability of a statistic at least this large if every target were a draw from its prediction.
# With the default 999 bootstrap draws it cannot be smaller than 0.001. The statistic is 0 in the mean if all is well,
# hence often negative. A large p-value is no proof: 500 pairs gave no evidence against the model.
#
# What it sees, and what it does not
# ----------------------------------
# A shift of all predictions is easy to see. Densities that are too sharp or too flat are harder. Here the density is
# raised to a power, which moves no mode: its square is found out, but its power of 1.25, which makes predictions about
# a tenth too narrow, is not. Where predictions differ much more from each other than each is wide, it sees less still.
# Coverage would show it, but it needs samples, which this model does not give without Markov chains.

shifted = judge("shifted by 0.2", lambda y, x: log_density(good, y - jnp.array([0.2, 0.0]), x))
squared = judge("to the power of 2", lambda y, x: 2.0 * log_density(good, y, x))
sharper = judge("to the power of 1.25", lambda y, x: 1.25 * log_density(good, y, x))

# %%
# What was told above, checked:

assert stopped.rejects()
assert not trained.rejects()
assert shifted.rejects()
assert squared.rejects()
assert not sharper.rejects()
