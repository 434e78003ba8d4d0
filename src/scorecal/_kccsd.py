"""The kernel calibration-conditional Stein discrepancy: the statistic and its test."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from ._arrays import Array, array_namespace
from ._pipeline import (
    as_distribution_kernel,
    as_radial_kernel,
    as_targets,
    bootstrap_result,
    check_n_resamples,
    statistic_of,
)
from .coordinates import Coordinates, identity
from .kernels import GFD, DistributionKernel, Euclidean, Radial, distribution_gram, resolve_bandwidth
from .predictions import Predictions
from .resampling import PairFunction
from .results import CalibrationResult
from .statistics import stein_pairs

__all__ = ["kccsd", "kccsd_test"]


def kccsd_test(
    predictions: Predictions,
    y: Any,
    *,
    distribution_kernel: DistributionKernel | None = None,
    target_kernel: Radial | None = None,
    coordinates: Coordinates = identity,
    n_resamples: int = 999,
    rng: Any = None,
) -> CalibrationResult:
    r"""Test whether predictions are calibrated, from their scores alone.

    The null hypothesis is that every target is a draw from its own prediction: given the prediction P, Y ~ P.

    Parameters
    ----------
    predictions : Predictions
        n predictive distributions on R^d: `Gaussian`, `GaussianMixture`, `Scores`, `ScoreFunction`, or anything with
        `n`, `dim` and `score(y)`.
    y : array_like, shape (n, d)
        The n observed targets; (n,) for d = 1.
    distribution_kernel : optional
        Kernel between predictions: `kernels.GFD` (the default), `KGFD`, `MMD` or `Wasserstein`.
    target_kernel : optional
        Kernel between targets: `kernels.Gaussian` (the default) or `kernels.IMQ`.
    coordinates : callable, optional
        Maps (predictions, y) to (predictions, targets, scores at the targets), to judge them in another space.
    n_resamples : int
        Number of wild-bootstrap draws B; the smallest p-value is 1 / (B + 1).
    rng : seed or numpy.random.Generator, optional
        Source of base points, samples and signs, in this order. The same seed gives the same result on every backend.

    Returns
    -------
    CalibrationResult
        With `statistic`, `pvalue`, `null_distribution`, `contributions` and `bandwidths`.

    Notes
    -----
    The statistic is the complete U-statistic of :math:`H_{ij} = k(P_i, P_j) h_{ij}` with

    .. math:: h_{ij} = l s_i^T s_j + \sum_a \partial_{y_a} \partial_{y'_a} l + s_i^T \nabla_{y'} l + s_j^T \nabla_y l

    at :math:`(y_i, y_j)` (eq. 8 and 9 of [1]_). It has mean zero if the predictions are calibrated. Its null
    distribution is that of :math:`\sum_{i \ne j} e_i e_j H_{ij} / (n (n - 1))` with random signs e.

    The densities must vanish at the boundary of the space, and rows must be independent. Arrays of NumPy, torch and
    JAX are computed on where they are and in their dtype; sums are taken in float64. Time grows as n^2, memory as n.

    References
    ----------
    .. [1] P. Glaser, D. Widmann, F. Lindsten, A. Gretton, "Fast and Scalable Score-Based Kernel Calibration Tests",
       UAI 2023.

    Examples
    --------
    Forecasts that are too high by half a standard deviation:

    >>> import numpy as np, scorecal as sc
    >>> rng = np.random.default_rng(0)
    >>> mean = rng.normal(size=300)
    >>> y = mean + rng.normal(size=300)
    >>> sc.kccsd_test(sc.Gaussian(mean, 1.0), y, rng=1).pvalue
    0.98
    >>> sc.kccsd_test(sc.Gaussian(mean + 0.5, 1.0), y, rng=1).pvalue
    0.001
    """
    n_resamples = check_n_resamples(n_resamples)
    rng = np.random.default_rng(rng)
    pairs = kccsd_pairs(predictions, y, distribution_kernel, target_kernel, coordinates, rng)
    return bootstrap_result(*pairs, n_resamples, rng)


def kccsd(
    predictions: Predictions,
    y: Any,
    *,
    distribution_kernel: DistributionKernel | None = None,
    target_kernel: Radial | None = None,
    coordinates: Coordinates = identity,
    rng: Any = None,
) -> Array:
    """The statistic of `kccsd_test` alone, differentiable with torch and JAX, and under `jax.jit`.

    Parameters are those of `kccsd_test`; with the same ones, `rng` included, the value is that of its `statistic`.
    Derivatives go through targets, scores, the parameters behind them, and the bandwidths found by the median
    heuristic; a ground bandwidth counts as a constant.

    Returns
    -------
    array, shape ()
        In float64 where the backend has it.

    Examples
    --------
    >>> import scorecal as sc
    >>> predictions, y = sc.experiments.lgm(100, 0.0, rng=0)
    >>> bool(sc.kccsd(predictions, y) == sc.kccsd_test(predictions, y, rng=1).statistic)
    True
    """
    pairs = kccsd_pairs(predictions, y, distribution_kernel, target_kernel, coordinates, np.random.default_rng(rng))
    return statistic_of(*pairs[:2])


def kccsd_pairs(
    predictions: Predictions,
    y: Any,
    distribution_kernel: DistributionKernel | None,
    target_kernel: Radial | None,
    coordinates: Coordinates,
    rng: np.random.Generator,
) -> tuple[PairFunction, Array, Mapping[str, Any]]:
    """Predictions -> coordinates -> kernels -> pair function; also an array to work like, and the bandwidths."""
    target_kernel = as_radial_kernel("target_kernel", target_kernel)
    distribution_kernel = as_distribution_kernel(distribution_kernel, GFD())
    predictions, targets, scores = coordinates(predictions, as_targets(y, predictions))
    xp = array_namespace(targets)
    targets = xp.astype(targets, scores.dtype, copy=False)
    with np.errstate(over="ignore", invalid="ignore"):  # answered by `check_overflow`, with likely causes
        gram, bandwidths = distribution_gram(distribution_kernel, predictions, scores, rng)
        bandwidth = resolve_bandwidth(target_kernel.bandwidth, Euclidean(targets), targets)
        function = stein_pairs(targets, scores, target_kernel, bandwidth, gram)
    return function, targets, {"target": bandwidth, **bandwidths}
