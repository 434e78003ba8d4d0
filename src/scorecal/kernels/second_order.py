"""The second-order median: over pairs of predictions, of the median distance between draws of their equal mixture."""

import math
from functools import partial

import numpy as np

from .._lib.arrays import Array, to_numpy
from ..predictions import Gaussian, Predictions, draw_samples
from .bandwidth import pair_indices

MAX_SECOND_ORDER_PAIRS = 10_000
_N_DRAWS = 64
# Beyond this noncentrality, rounding destroys the lower tail of the cdf, where the median lies; a normal tail is used.
_LARGE_NONCENTRALITY = 400.0
_MAX_PROBES, _FEW_PAIRS = 16, 64


def second_order_median(predictions: Predictions) -> float:
    """Return the second-order median: exact for isotropic Gaussians, otherwise from draws with a fixed seed."""
    i, j = pair_indices(predictions.n, MAX_SECOND_ORDER_PAIRS)
    if isinstance(predictions, Gaussian) and predictions.isotropic:
        mean = to_numpy(predictions.mean).astype(np.float64)
        scale = to_numpy(predictions.scale).astype(np.float64)[:, 0]
        gap = np.linalg.norm(mean[i] - mean[j], axis=1)
        return _median_of_isotropic_pairs(gap, scale[i], scale[j], mean.shape[1])
    return float(np.median(_sampled_pair_medians(predictions, i, j)))


def _median_of_isotropic_pairs(gap: np.ndarray, scale: np.ndarray, scale2: np.ndarray, d: int) -> float:
    """Median of `isotropic_pair_medians`, by quickselect: one value of a pair's cdf compares its median with a probe.

    Only pairs that may still be the median are kept, so that all probes together cost a few evaluations per pair.
    """
    low, high = _bracket(gap, scale, scale2, d)
    ranks = np.asarray([(len(gap) - 1) // 2, len(gap) // 2])
    for _ in range(_MAX_PROBES):
        probe = 0.5 * (np.median(low) + np.median(high))
        below = _excess(probe, gap, scale, scale2, d) >= 0.0
        n_below = np.count_nonzero(below)
        if len(gap) <= _FEW_PAIRS or ranks[0] < n_below <= ranks[1]:  # the probe lies between the two middle values
            break
        kept = below if ranks[1] < n_below else ~below
        ranks = ranks if ranks[1] < n_below else ranks - n_below
        low, high = (np.where(below, low, np.maximum(low, probe)), np.where(below, np.minimum(high, probe), high))
        gap, scale, scale2, low, high = (part[kept] for part in (gap, scale, scale2, low, high))
    return float(np.mean(np.sort(isotropic_pair_medians(gap, scale, scale2, d))[ranks]))


def isotropic_pair_medians(gap: np.ndarray, scale: np.ndarray, scale2: np.ndarray, d: int) -> np.ndarray:
    """Median distance r between draws of (N(m, scale^2) + N(m', scale2^2)) / 2 on R^d, with gap = |m - m'|."""
    from scipy.optimize.elementwise import find_root

    # 18 steps and the two ends: at most 20 evaluations of the noncentral cdf for each pair.
    solution = find_root(
        partial(_excess, d=d),
        _bracket(gap, scale, scale2, d),
        args=(gap, scale, scale2),
        tolerances={"xrtol": 1e-10, "xatol": 0.0},
        maxiter=18,
    )
    return np.asarray(solution.x)


def _excess(r: np.ndarray | np.floating, gap: np.ndarray, scale: np.ndarray, scale2: np.ndarray, d: int) -> np.ndarray:
    """P(distance <= r) - 1/2, written with small terms so that it keeps its sign between distant predictions.

    Both draws come from the first prediction, both from the second, or one from each, with probabilities 1/4, 1/4 and
    1/2. The squared distance is a multiple of a chi-square variable, noncentral in the last case.
    """
    from scipy.special import chdtrc, erfc

    def beyond(scale: np.ndarray) -> np.ndarray:
        """P(distance > r) between two draws of one prediction; d = 1 has a faster form."""
        return np.asarray(erfc(0.5 * r / scale) if d == 1 else chdtrc(d, (r / scale) ** 2 / 2))

    both = np.hypot(scale, scale2)
    within = beyond(scale) + beyond(scale2)
    excess = 0.5 * _noncentral_cdf((r / both) ** 2, d, (gap / both) ** 2) - 0.25 * within
    # Between narrow predictions far apart both terms vanish; their exponents still tell which one is larger.
    exponents = r / (math.sqrt(2.0) * np.maximum(scale, scale2)) - (gap - r) / both
    return np.asarray(np.where(excess == 0.0, 1e-300 * exponents, excess))


def _bracket(gap: np.ndarray, scale: np.ndarray, scale2: np.ndarray, d: int) -> tuple[np.ndarray, np.ndarray]:
    """Lower and upper bounds of the median distance of each pair."""
    from scipy.special import chdtri

    typical = math.sqrt(chdtri(d, 0.5))  # median of a chi variable
    both = np.hypot(scale, scale2)
    within, within2 = math.sqrt(2.0) * typical * scale, math.sqrt(2.0) * typical * scale2
    low = 0.99 * np.minimum(np.minimum(within, within2), typical * both)
    high = 1.01 * np.maximum(np.maximum(within, within2), gap + typical * both)
    return low, high


def _noncentral_cdf(x: np.ndarray, d: int, noncentrality: np.ndarray) -> Array:
    from scipy.special import chndtr, ndtr

    if d == 1:  # the square of a normal variable
        return ndtr(np.sqrt(x) - np.sqrt(noncentrality)) - ndtr(-np.sqrt(x) - np.sqrt(noncentrality))
    near = noncentrality < _LARGE_NONCENTRALITY
    root, centre = np.sqrt(x), np.sqrt(np.where(near, 1.0, noncentrality))
    # The density of a noncentral chi far below its centre is that of a normal, times (root / centre)^((d - 1) / 2).
    far = ndtr(root - centre) * np.minimum(root / centre, 1.0) ** ((d - 1) / 2)
    return np.where(near, chndtr(x, d, np.where(near, noncentrality, 0.0)), far)


def _sampled_pair_medians(predictions: Predictions, i: np.ndarray, j: np.ndarray) -> np.ndarray:
    """Median distance between two draws from the equal mixture of predictions i and j; few draws are held at a time."""
    rng = np.random.default_rng(0)
    at_once = max(1, min(_N_DRAWS, 2_000_000 // (predictions.n * predictions.dim)))
    distances = []
    for start in range(0, _N_DRAWS, at_once):
        n_draws = min(at_once, _N_DRAWS - start)
        draws = to_numpy(draw_samples(predictions, 2 * n_draws, rng)).astype(np.float64)
        for k in range(n_draws):
            first, second = draws[:, 2 * k], draws[:, 2 * k + 1]
            distances += [np.linalg.norm(first[p] - second[q], axis=-1) for p, q in ((i, i), (j, j), (i, j), (j, i))]
    medians: np.ndarray = np.median(np.stack(distances), axis=0)
    return medians
