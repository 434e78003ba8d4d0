"""The kernel calibration-conditional Stein discrepancy: the statistic and its test."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from ._arrays import Array, as_arrays, check_finite, like, to_numpy
from ._pipeline import (
    as_distribution_kernel,
    as_generator,
    as_radial_kernel,
    as_targets,
    bootstrap_result,
    check_n_resamples,
    locate,
    statistic_of,
)
from .coordinates import Coordinates, identity
from .kernels import GFD, DistributionKernel, Operator, OperatorFunction, Radial
from .kernels.bandwidth import resolve_bandwidth
from .kernels.distances import Euclidean
from .kernels.gram import distribution_gram
from .predictions import Predictions
from .resampling import PairFunction
from .results import CalibrationResult
from .statistics import FunctionStein, SumOfPairs, enough_digits, matrix_stein, stein_pairs

__all__ = ["kccsd", "kccsd_test"]


def kccsd_test(
    predictions: Predictions,
    y: Any,
    *,
    distribution_kernel: DistributionKernel | Operator | OperatorFunction | None = None,
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
        Kernel between predictions: `kernels.GFD` (the default), `KGFD`, `MMD` or `Wasserstein`; or an operator-valued
        one, `kernels.Operator` or `kernels.OperatorFunction`.
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

    at :math:`(y_i, y_j)` (eq. 9 and 10 of [1]_). It has mean zero if the predictions are calibrated. Its null
    distribution is that of :math:`\sum_{i \ne j} e_i e_j H_{ij} / (n (n - 1))` with random signs e.

    The densities must vanish at the boundary of the space, and rows must be independent. Arrays of NumPy, torch and
    JAX are computed on where they are and in their dtype (in float64 where float32 would lose the distances); tiles
    are added up in float64. Time grows as n^2. Memory grows as n: besides the arrays given, their embeddings and one
    bit for each sign, tiles take at most 256 MB.

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
    rng = as_generator(rng)
    pairs = kccsd_pairs(predictions, y, distribution_kernel, target_kernel, coordinates, rng)
    return bootstrap_result(*pairs, n_resamples, rng)


def kccsd(
    predictions: Predictions,
    y: Any,
    *,
    distribution_kernel: DistributionKernel | Operator | OperatorFunction | None = None,
    target_kernel: Radial | None = None,
    coordinates: Coordinates = identity,
    rng: Any = None,
) -> Array:
    """The statistic of `kccsd_test` alone, differentiable with torch and JAX, and under `jax.jit`.

    Parameters are those of `kccsd_test`; with the same ones, `rng` included, the value is that of its `statistic`.
    Derivatives go through targets, scores, the parameters behind them, and the bandwidths found by the median
    heuristic; a ground bandwidth counts as a constant, and must be a number while JAX is tracing. Derivatives in
    reverse mode keep every tile, so that their memory grows as n^2.

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
    pairs = kccsd_pairs(predictions, y, distribution_kernel, target_kernel, coordinates, as_generator(rng))
    return statistic_of(*pairs[:2])


def kccsd_pairs(
    predictions: Predictions,
    y: Any,
    distribution_kernel: DistributionKernel | Operator | OperatorFunction | None,
    target_kernel: Radial | None,
    coordinates: Coordinates,
    rng: np.random.Generator,
) -> tuple[PairFunction, Array, Mapping[str, Any]]:
    """Predictions -> coordinates -> kernels -> pair function; also an array to work like, and the bandwidths."""
    predictions, targets, scores = locate(coordinates, predictions, as_targets(y, predictions))
    if isinstance(distribution_kernel, OperatorFunction):
        return _function_pairs(distribution_kernel, target_kernel, targets, scores), targets, {}
    target_kernel = as_radial_kernel("target_kernel", target_kernel)
    with np.errstate(over="ignore", invalid="ignore"):  # answered by `check_overflow`, with likely causes
        bandwidth = resolve_bandwidth(target_kernel.bandwidth, Euclidean(targets), targets)
        function: PairFunction
        if isinstance(distribution_kernel, Operator):
            function, bandwidths = _matrix_pairs(
                distribution_kernel, predictions, targets, scores, target_kernel, bandwidth, rng
            )
        else:
            kernel = as_distribution_kernel(distribution_kernel, GFD())
            gram, bandwidths = distribution_gram(kernel, predictions, scores, rng)
            targets, scores, bandwidth, gram = enough_digits(targets, scores, bandwidth, gram)
            function = stein_pairs(targets, scores, target_kernel, bandwidth, gram)
    return function, targets, {"target": bandwidth, **bandwidths}


def _matrix_pairs(
    operator: Operator,
    predictions: Predictions,
    targets: Array,
    scores: Array,
    kernel: Radial,
    bandwidth: Array,
    rng: np.random.Generator,
) -> tuple[SumOfPairs, dict[str, Any]]:
    """Bandwidths of several terms are told apart by their numbers: "distribution 0" and so on."""
    functions = []
    bandwidths: dict[str, Any] = {}
    for r, (distribution_kernel, matrix) in enumerate(operator.terms):
        if matrix.shape[0] != predictions.dim:
            raise ValueError(
                f"`terms[{r}]` of `Operator` must hold a matrix of the dimension of the targets, {predictions.dim}, "
                f"but it has shape {tuple(matrix.shape)}."
            )
        gram, found = distribution_gram(distribution_kernel, predictions, scores, rng)
        functions.append(matrix_stein(targets, scores, kernel, bandwidth, gram, like(to_numpy(matrix), targets)))
        numbered = "" if len(operator.terms) == 1 else f" {r}"
        bandwidths |= {name + numbered: value for name, value in found.items()}
    return SumOfPairs(tuple(functions)), bandwidths


def _function_pairs(
    operator: OperatorFunction, target_kernel: Radial | None, targets: Array, scores: Array
) -> FunctionStein:
    if target_kernel is not None:
        raise ValueError("`target_kernel` must be None with `OperatorFunction`, whose function holds both kernels.")
    features, _ = as_arrays(features=operator.features, y=targets)
    n, d = targets.shape
    if features.ndim != 2 or features.shape[0] != n:
        raise ValueError(
            f"`features` of `OperatorFunction` must have shape (n, q) = ({n}, q), but has {features.shape}."
        )
    check_finite("features", features)
    function = FunctionStein(operator.function, like(features, targets), targets, scores)
    value = operator.function(function.features[0, :], targets[0, :], function.features[1, :], targets[1, :])
    if tuple(getattr(value, "shape", ())) != (d, d):
        raise ValueError(
            f"`function` of `OperatorFunction` must return shape (d, d) = ({d}, {d}), but gave "
            f"{tuple(getattr(value, 'shape', ()))}."
        )
    return function
