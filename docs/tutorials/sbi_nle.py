"""A likelihood of sbi (NLE): its posteriors tested without sampling them
========================================================================

You have trained `NLE` on your simulator. To draw from its posterior takes a Markov chain for each observation, which
makes rank and coverage tests, over hundreds of observations, slow. The score test draws nothing.
"""

# %%
# The simulator
# -------------
# Two parameters with a normal prior; two noisy numbers.

import contextlib
import tempfile
import time

import torch
from sbi.inference import NLE

import scorecal as sc

SEED = 0
torch.manual_seed(SEED)

prior = torch.distributions.MultivariateNormal(torch.zeros(2), torch.eye(2))


def simulate(theta):
    first, second = theta.T
    x = torch.stack([first + 0.3 * second**2, second - 0.5 * first], dim=1)
    return x + 0.5 * torch.randn_like(x)


# %%
# Two likelihoods
# ---------------
# The same simulations and network; one training is stopped after a single pass, as by a wrong setting. (sbi writes a
# log of each training to the current directory; here that is a temporary one.)

theta = prior.sample((4000,))
x = simulate(theta)


def train(**settings):
    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
        inference = NLE(prior, density_estimator="mdn", show_progress_bars=False)
        inference.append_simulations(theta, x).train(learning_rate=1e-3, **settings)
    return inference.build_posterior()


posterior, spoiled = train(), train(max_num_epochs=1)

# %%
# The test
# --------
# On 500 new pairs: the network has bent itself towards its training pairs, so a test on those means nothing. The score
# of a posterior is that of likelihood plus prior. The evidence, which NLE does not know, has no gradient in theta.

theta_test = prior.sample((500,))
x_test = simulate(theta_test)

start = time.perf_counter()
result = sc.kccsd_test(sc.from_sbi(posterior, x_test), theta_test, rng=0)
test_seconds = time.perf_counter() - start
spoiled_result = sc.kccsd_test(sc.from_sbi(spoiled, x_test), theta_test, rng=0)

print(f"trained: p = {result.pvalue:.3f}")
print(f"stopped: p = {spoiled_result.pvalue:.3f}")

# %%
# The p-value is the probability of a statistic at least this large if every parameter were a draw from its posterior.
# With the default 999 bootstrap draws it cannot be smaller than 0.001. Not rejected is no proof: 500 pairs gave no
# evidence against it.
#
# What sampling would take
# ------------------------
# sbi's slice sampler, as it comes, for 20 draws at one of the 500 observations:

start = time.perf_counter()
posterior.sample((20,), x=x_test[:1], show_progress_bars=False)
mcmc_seconds = time.perf_counter() - start

print(f"the test, 500 observations: {test_seconds:.1f} s")
print(f"MCMC, 20 draws, 1 observation: {mcmc_seconds:.1f} s")

# %%
# Rank or coverage tests want some hundred draws at some hundred observations. Most of the time of a short chain is its
# warm-up, so further draws cost less than these did, but one after another 500 observations cost 500 times as much as
# one. sbi can run chains for many observations side by side, which helps; all of them must still have converged.
#
# Draws are worth their time where the width of the posteriors is in doubt: the test sees posteriors in the wrong place
# well, and those that are too wide or too narrow less well. It can be run first, and on every network.
#
# What was told above, checked:

assert spoiled_result.rejects()
assert not result.rejects()
assert result.coordinates == "identity"
