"""A Gaussian process of scikit-learn: is its error bar right?
=============================================================

You have a `GaussianProcessRegressor` and report `mean ± std`. This script takes it to a p-value, with two traps on the
way: the noise that `predict` leaves out, and noise that is not the same everywhere.
"""

# %%
# The data
# --------
# A response on [0, 3], and noise of one size first, of a size that grows with x later. The model sees 600 pairs. The
# test gets 150 others: a model has bent itself towards the targets it was trained on, so a test on those means nothing.
# They are fewer, on purpose. Every fit is a little wrong, and with as many test pairs the test would see that too.

import numpy as np
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import RBF, ConstantKernel, WhiteKernel

import scorecal as sc

SEED = 0


def simulate(rng, n, noise):
    x = rng.uniform(0.0, 3.0, (n, 1))
    return x, np.tanh(x[:, 0] - 1.0) + noise(x[:, 0]) * rng.standard_normal(n)


def constant_noise(x):
    return 0.4 + 0.0 * x


def growing_noise(x):
    return 0.1 + 0.25 * x


def report(name, predictions, y):
    result, coverage = sc.kccsd_test(predictions, y, rng=0), sc.expected_coverage(predictions, y)
    print(f"{name:<40} p = {result.pvalue:.3f}   90 % intervals hold {coverage.curve(0.9):.0%}")
    return result, coverage


# %%
# Trap 1: `alpha` is noise that `predict` leaves out
# --------------------------------------------------
# `alpha` is the variance of the noise on the targets. The standard deviation that `predict` returns is that of the
# function *without* it. As an error bar for the next measurement it is far too small. `sc.from_sklearn` adds `alpha`.
# (The noise of a `WhiteKernel` is already in what `predict` returns, and is not added twice.)

rng = np.random.default_rng(SEED)
x, y = simulate(rng, 600, constant_noise)
x_test, y_test = simulate(rng, 150, constant_noise)

gp = GaussianProcessRegressor(ConstantKernel() * RBF(), alpha=0.4**2).fit(x, y)
mean, std = gp.predict(x_test, return_std=True)
bare, bare_coverage = report("as `predict` returns it", sc.Gaussian(mean, std), y_test)
whole, whole_coverage = report("from_sklearn", sc.from_sklearn(gp, x_test), y_test)

# %%
# The p-value is the probability of a statistic at least this large if every target were a draw from its prediction.
# With the default 999 bootstrap draws it cannot be smaller than 0.001. A large one is no proof: the test did not find
# fault with 150 pairs.
#
# Trap 2: one noise level for data that have many
# -----------------------------------------------
# Now the noise grows with x. The kernel can learn its size, but only one.

x, y = simulate(rng, 600, growing_noise)
x_test, y_test = simulate(rng, 150, growing_noise)

gp = GaussianProcessRegressor(ConstantKernel() * RBF() + WhiteKernel(), normalize_y=True).fit(x, y)
one_level, one_level_coverage = report("growing noise, one level", sc.from_sklearn(gp, x_test), y_test)

# %%
# The coverage looks fine: intervals that are too wide on the left make up for those that are too narrow on the right.
# The test rejects all the same, because it asks for calibration *given the prediction*: where the model says 0.9, does
# the truth scatter as claimed? Here the mean tells how large the noise is, so the fault shows. Where predictions differ
# much more from each other than each is wide, the default test would hardly see it.
#
# Where is it wrong? Standardised errors say it for Gaussians; they should have a standard deviation of 1 everywhere.

predictions = sc.from_sklearn(gp, x_test)
errors = (y_test[:, None] - predictions.mean) / predictions.scale
for low in (0.0, 1.0, 2.0):
    inside = (x_test[:, 0] >= low) & (x_test[:, 0] < low + 1.0)
    print(
        f"x in [{low:.0f}, {low + 1:.0f}]: standardised errors have a standard deviation of {errors[inside].std():.2f}"
    )

# %%
# The way out
# -----------
# A second GP learns the logarithm of the squared residuals. The log of a squared standard normal has mean -1.27, hence
# the constant. Such an `alpha`, one number for each training pair, also makes a better fit of the mean. But it does not
# say what the noise at *new* inputs is, so `from_sklearn` refuses such a model: the sum is then ours to write down.

log_noise = GaussianProcessRegressor(ConstantKernel() * RBF() + WhiteKernel(), normalize_y=True)
log_noise.fit(x, np.log((y - gp.predict(x)) ** 2) + 1.27)
noise, noise_test = np.exp(log_noise.predict(x)), np.exp(log_noise.predict(x_test))

weighted = GaussianProcessRegressor(ConstantKernel() * RBF(), alpha=noise).fit(x, y)
mean, std = weighted.predict(x_test, return_std=True)
own_level, own_level_coverage = report(
    "growing noise, its own level", sc.Gaussian(mean, np.sqrt(std**2 + noise_test)), y_test
)

# %%
# What was told above, checked:

assert bare.rejects()
assert not bare_coverage.conservative()
assert not whole.rejects()
assert whole_coverage.conservative()
assert one_level.rejects()
assert one_level_coverage.conservative()
assert not own_level.rejects()
assert own_level_coverage.conservative()
