"""The kernel calibration-conditional Stein discrepancy: the statistic and its test."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

import numpy as np

from ._arrays import Array, array_namespace, as_arrays, check_finite, has_values, to_numpy, without_gradients
from .coordinates import Coordinates, identity
from .kernels import GFD, DistributionKernel, Euclidean, Gaussian, Radial, distribution_gram, resolve_bandwidth
from .predictions import Predictions, held_array
from .resampling import PairFunction, draw_signs, u_statistics
from .results import CalibrationResult, calibration_result, check_overflow
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
    n_resamples = _check_n_resamples(n_resamples)
    rng = np.random.default_rng(rng)
    function, reference, bandwidths = kccsd_pairs(predictions, y, distribution_kernel, target_kernel, coordinates, rng)
    if not has_values(reference):
        raise TypeError("A p-value cannot be computed while JAX is tracing; use `kccsd`, or call the test outside.")
    with without_gradients(reference):
        totals = u_statistics([function], reference, draw_signs(predictions.n, n_resamples, rng))
    return calibration_result(
        float(totals.statistic[0]),
        to_numpy(totals.null)[0].astype(np.float64),
        to_numpy(totals.contributions)[0].astype(np.float64),
        MappingProxyType({name: float(to_numpy(value)) for name, value in bandwidths.items()}),
        float(array_namespace(reference).finfo(reference.dtype).eps),
    )


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
    rng = np.random.default_rng(rng)
    function, reference, _ = kccsd_pairs(predictions, y, distribution_kernel, target_kernel, coordinates, rng)
    value = u_statistics([function], reference).statistic[0]
    if has_values(value):
        check_overflow(float(to_numpy(value)))
    return value


def kccsd_pairs(
    predictions: Predictions,
    y: Any,
    distribution_kernel: DistributionKernel | None,
    target_kernel: Radial | None,
    coordinates: Coordinates,
    rng: np.random.Generator,
) -> tuple[PairFunction, Array, Mapping[str, Any]]:
    """Predictions -> coordinates -> kernels -> pair function; also an array to work like, and the bandwidths."""
    target_kernel = Gaussian() if target_kernel is None else target_kernel
    if not isinstance(target_kernel, Radial):
        raise TypeError(f"`target_kernel` must be `kernels.Gaussian` or `kernels.IMQ`, but is {target_kernel!r}.")
    distribution_kernel = GFD() if distribution_kernel is None else distribution_kernel
    if isinstance(distribution_kernel, type) or not hasattr(distribution_kernel, "distance"):
        raise TypeError(
            "`distribution_kernel` must be `kernels.GFD`, `KGFD`, `MMD` or `Wasserstein`, but is "
            f"{distribution_kernel!r}."
        )
    predictions, targets, scores = coordinates(predictions, _as_targets(y, predictions))
    xp = array_namespace(targets)
    targets = xp.astype(targets, scores.dtype, copy=False)
    with np.errstate(over="ignore", invalid="ignore"):  # answered by `check_overflow`, with likely causes
        gram, bandwidths = distribution_gram(distribution_kernel, predictions, scores, rng)
        bandwidth = resolve_bandwidth(target_kernel.bandwidth, Euclidean(targets), targets)
        function = stein_pairs(targets, scores, target_kernel, bandwidth, gram)
    return function, targets, {"target": bandwidth, **bandwidths}


def _as_targets(y: Any, predictions: Predictions) -> Array:
    if not isinstance(predictions, Predictions):
        raise TypeError(
            "`predictions` must be a batch of predictions such as `scorecal.Gaussian(mean, scale)`, "
            f"but is a {type(predictions).__name__}."
        )
    held = held_array(predictions)
    targets = as_arrays(y=y)[0] if held is None else as_arrays(y=y, predictions=held)[0]
    if targets.ndim == 1 and predictions.dim == 1:
        targets = targets[:, None]
    if tuple(targets.shape) != (predictions.n, predictions.dim):
        raise ValueError(
            f"`y` must have shape (n, d) = ({predictions.n}, {predictions.dim}) to fit `predictions`, "
            f"but has {tuple(targets.shape)}."
        )
    if predictions.n < 2:
        raise ValueError(f"`y` must hold at least 2 targets, but has {predictions.n}.")
    check_finite("y", targets, "Drop rows without a target before the test.")
    xp = array_namespace(targets)
    if has_values(targets) and bool(xp.all(targets == targets[:1, :])):
        warnings.warn(
            "`y` is constant: all targets are equal. That is odd for a random outcome; was the right column given?",
            stacklevel=4,
        )
    return targets


def _check_n_resamples(n_resamples: Any) -> int:
    if isinstance(n_resamples, bool) or not isinstance(n_resamples, (int, np.integer)) or n_resamples < 1:
        raise ValueError(f"`n_resamples` must be a positive integer, but is {n_resamples!r}.")
    return int(n_resamples)
