"""Results of the test with given p-values, where what follows from them is looked at, and not the test."""

from dataclasses import replace
from functools import cache

import numpy as np

import scorecal as sc


@cache
def _result():
    rng = np.random.default_rng(0)
    return sc.calibration_test(sc.Gaussian(np.zeros((10, 1)), 1.0), rng.normal(size=10), n_resamples=19, rng=0)


def verdict(n, pvalue=0.001, n_clusters=None):
    """A result for n rows, or so many clusters of them, with this p-value."""
    message = f"Calibration is {'rejected' if pvalue <= 0.05 else 'not rejected'}."
    return replace(_result(), n=n, n_clusters=n_clusters or n, pvalue=pvalue, message=message, seen=())
