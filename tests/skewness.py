"""The correction for skewness as a black box, and numbers of which it sees a given sum and a given skewness."""

import numpy as np
from scipy import optimize

import scorecal as sc

BIAS = sc.views.View("bias", "bias", sc.kernels.Constant())


def corrected(f):
    """The size of the sum of f in units of its root mean square, corrected: of bias, where targets are -f."""
    n, square = len(f), np.sum(f**2)
    predictions = sc.Gaussian(np.zeros((n, 1)), 1.0)
    found = sc.calibration_test(predictions, -f[:, None], views=[BIAS], null="signs", n_resamples=1, rng=0)
    found = found.views[0].statistic
    return np.sqrt((found * n * (n - 1) + square) / square)


def numbers_with(t, k, n=4000):
    """Such that their sum is t, and that of their cubes k, in units of their root sum of squares: all alike but one."""

    def rows(unknown):
        return np.append(unknown[0] + np.where(np.arange(n) % 2, 1.0, -1.0), np.cbrt(unknown[1]) * n**0.5)

    def gaps(unknown):
        f = rows(unknown)
        unit = np.sum(f**2) ** 0.5
        return np.sum(f) / unit - t, np.sum(f**3) / unit**3 - k

    found = optimize.root(gaps, (t / n**0.5, k - 3.0 * t / n), tol=1e-14)
    assert np.max(np.abs(gaps(found.x))) < 1e-10
    return rows(found.x)
