"""The tests in use today, at their best: with exact ranks and levels where possible.

Each takes predictions of `flaws`, targets and `rng`, and returns a p-value.
"""

from typing import Any

import numpy as np

from ...coverage import expected_coverage
from ...predictions import Gaussian
from .residuals import ranks

_N_DRAWS = 500


def sbc(predictions: Any, y: np.ndarray, rng: Any = None) -> float:
    """Simulation-based calibration with exact ranks: a Kolmogorov-Smirnov test in each dimension, with Bonferroni."""
    pvalues = [_uniformity(values) for values in ranks(predictions, y).T]
    return min(1.0, len(pvalues) * min(pvalues))


def coverage(predictions: Any, y: np.ndarray, rng: Any = None) -> float:
    """Expected coverage: a two-sided Kolmogorov-Smirnov test on the levels of highest-density regions."""
    n_samples = None if isinstance(predictions, Gaussian) else _N_DRAWS
    return _uniformity(expected_coverage(predictions, y, n_samples=n_samples, rng=rng).levels)


def tarp(predictions: Any, y: np.ndarray, rng: Any = None) -> float:
    """Tests of accuracy with random points (TARP): how many draws are nearer to a reference point than the target."""
    rng = np.random.default_rng(rng)
    draws = np.asarray(predictions.sample(_N_DRAWS, rng))
    # Reference points are draws from other predictions: distributed like the targets if all are calibrated.
    points = rng.permutation(np.asarray(predictions.sample(1, rng))[0])
    nearer = np.sum(np.sum((draws - points) ** 2, axis=-1) < np.sum((y - points) ** 2, axis=-1), axis=0)
    return _uniformity((nearer + rng.random(len(y))) / (_N_DRAWS + 1.0))


def _uniformity(values: np.ndarray) -> float:
    from scipy.stats import kstest

    return float(kstest(values, "uniform").pvalue)
