"""A mixture density network in torch: before training, after it, and over-fitted
================================================================================

You have a network that returns a `torch.distributions` object. This script takes it to a p-value, and looks where it is
wrong. No scores are written by hand.
"""

# %%
# The data
# --------
# A number x in [-2, 2] and a response that takes one of two branches. The test gets 500 pairs that no network was
# trained on: a network has bent itself towards its training targets, so a test on those means nothing.

import torch
from torch.distributions import Categorical, MixtureSameFamily, Normal

import scorecal as sc

SEED = 0
torch.manual_seed(SEED)


def simulate(n):
    x = 4.0 * torch.rand(n, 1) - 2.0
    branch = torch.where(torch.rand(n, 1) < 0.3, 1.0, -1.0)
    return x, torch.sin(2.0 * x) + 0.6 * branch + 0.3 * torch.randn(n, 1)


x_test, y_test = simulate(500)


# %%
# The model
# ---------
# Three Gaussians for each x, their weights, means and widths from two hidden layers. What it returns has batch shape
# (n,): one distribution for each row of x.


class MDN(torch.nn.Module):
    def __init__(self, width=32, n_components=3):
        super().__init__()
        self.layers = torch.nn.Sequential(
            torch.nn.Linear(1, width), torch.nn.Tanh(), torch.nn.Linear(width, width), torch.nn.Tanh()
        )
        self.heads = torch.nn.Linear(width, 3 * n_components)

    def forward(self, x):
        logits, means, log_scales = self.heads(self.layers(x)).chunk(3, dim=-1)
        return MixtureSameFamily(Categorical(logits=logits), Normal(means, log_scales.exp()))


def train(model, x, y, n_steps, learning_rate=5e-3):
    optimiser = torch.optim.Adam(model.parameters(), lr=learning_rate)
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimiser, n_steps)
    for _ in range(n_steps):
        optimiser.zero_grad()
        loss = -model(x).log_prob(y[:, 0]).mean()
        loss.backward()
        optimiser.step()
        schedule.step()
    return model


# %%
# From the model to a p-value
# ---------------------------
# `from_torch` sees that these are mixtures of Gaussians, and returns a `GaussianMixture` with its closed forms. The
# p-value is the probability of a statistic at least this large if every target were a draw from its prediction.


def report(name, model, x=x_test, y=y_test):
    with torch.no_grad():
        predictions = sc.from_torch(model(x))  # GaussianMixture(n=500, dim=1, 3 components)
    by_scores = sc.kccsd_test(predictions, y, rng=0)
    by_expectations = sc.skce_test(predictions, y, rng=0)
    coverage = sc.expected_coverage(predictions, y, rng=0)
    print(
        f"{name:<12} kccsd p = {by_scores.pvalue:.3f}   skce p = {by_expectations.pvalue:.3f}   "
        f"90 % regions hold {coverage.curve(0.9):.0%}"
    )
    return by_scores, by_expectations, coverage


model = MDN()
untrained, *_ = report("untrained", model)

x, y = simulate(4000)
train(model, x, y, 800)
trained, trained_skce, trained_coverage = report("trained", model)

# %%
# Not rejected is not proven right: 500 pairs gave no evidence against it. Two things can go wrong from here.
#
# Over-confident
# --------------
# The same network, on 40 pairs, trained for long and without any regularisation: it learns its targets by heart and
# claims to know them exactly.

x_few, y_few = simulate(40)
overfit, overfit_skce, overfit_coverage = report("over-fitted", train(MDN(), x_few, y_few, 1500))

# %%
# The regions hold far less than they claim, and the SKCE rejects. The score test may or may not, as the seed has it:
# scores of very narrow Gaussians are enormous, a handful of rows decides the statistic and its null distribution alike,
# and little can be told from so few. So: use `kccsd_test` where there is nothing but a score, or where bias is the
# worry; use `skce_test` where, as here, expectations have closed forms or samples are cheap; and look at
# `expected_coverage` for the widths whenever it can be had.
#
# Wrong in one place
# ------------------
# The good network goes into service, and later a sensor drifts: for x > 1 the targets come out 0.5 lower.

new_x, new_y = simulate(500)
new_y = torch.where(new_x > 1.0, new_y - 0.5, new_y)
drifted, *_ = report("drifted", model, new_x, new_y)

# %%
# Each row has its share of the statistic, and they add up to it. They are large where many rows are wrong in the same
# way. (On the over-fitted network they would show the few rows with enormous scores, and nothing else.)

shares = {}
for low in (-2.0, -1.0, 0.0, 1.0):
    inside = ((new_x >= low) & (new_x < low + 1.0))[:, 0].numpy()
    shares[low] = drifted.contributions[inside].sum() / drifted.statistic
    print(f"x in [{low:2.0f}, {low + 1:2.0f}]: {inside.mean():4.0%} of the rows, {shares[low]:4.0%} of the statistic")

# %%
# What was told above, checked:

assert untrained.rejects()
assert not trained.rejects()
assert not trained_skce.rejects()
assert trained_coverage.conservative()
assert overfit_skce.rejects()
assert not overfit_coverage.conservative()
assert drifted.rejects()
assert max(shares, key=shares.get) == 1.0
