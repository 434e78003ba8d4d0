"""The kernel calibration-conditional Stein discrepancy: the statistic and its test."""

from __future__ import annotations

from typing import Any

import numpy as np

from ._lib.arrays import Array, array_namespace, as_arrays, check_finite, has_values, like, to_numpy
from ._lib.autodiff import transforms
from ._pipeline import (
    Pairs,
    as_distribution_kernel,
    as_generator,
    as_target_kernel,
    as_targets,
    bootstrap_result,
    check_n_resamples,
    locate,
    statistic_of,
)
from .coordinates import Coordinates
from .kernels import GFD, Constant, DistributionKernel, FiniteRank, Operator, OperatorFunction, Radial
from .kernels.bandwidth import resolve_bandwidth
from .kernels.distances import Euclidean
from .kernels.gram import distribution_gram
from .pairwise.products import Product
from .parallel.workers import Map
from .predictions import Predictions
from .resampling import Features, PairFunction
from .resampling.estimators import Estimator
from .resampling.options import as_plan
from .results import CalibrationResult
from .statistics import (
    FunctionStein,
    ProductOfPairs,
    SumOfPairs,
    cast_gram,
    matrix_stein,
    stein_pairs,
    sufficient_dtype,
)

__all__ = ["kccsd", "kccsd_test"]


def kccsd_test(
    predictions: Predictions,
    y: Any,
    *,
    distribution_kernel: DistributionKernel | Operator | OperatorFunction | None = None,
    target_kernel: Radial | FiniteRank | None = None,
    coordinates: Coordinates | None = None,
    n_resamples: int = 999,
    estimator: str | Estimator = "complete",
    memory: float | None = None,
    workers: int | Map | None = None,
    precision: str = "mixed",
    rng: Any = None,
) -> CalibrationResult:
    r"""Test whether predictions are calibrated, from their scores alone.

    The null hypothesis is that every target is a draw from its own prediction: given the prediction P, Y ~ P.

    Parameters
    ----------
    predictions : Predictions
        n predictive distributions on R^d: `Gaussian`, `GaussianMixture`, `LogDensity`, `Scores`, `ScoreFunction`, what
        `as_predictions` makes of models of other libraries, or anything with `n`, `dim` and `score(y)`.
    y : array_like, shape (n, d)
        The n observed targets; (n,) for d = 1.
    distribution_kernel : optional
        Kernel between predictions: `kernels.GFD` (the default), `KGFD`, `MMD` or `Wasserstein`; or an operator-valued
        one, `kernels.Operator` or `kernels.OperatorFunction`. `kernels.Constant` makes no difference between them.
    target_kernel : optional
        Kernel between targets: `kernels.Gaussian` (the default), `kernels.IMQ`, or one of finite rank, such as
        `kernels.Linear`.
    coordinates : callable, optional
        The space in which targets are judged: `coordinates.unconstrain(...)`, `coordinates.standardise(...)`, or a
        function from (predictions, y) to (predictions, targets, scores at the targets). None: as given, but without
        a boundary where the predictions say that their support has one; the result tells.
    n_resamples : int
        Number of wild-bootstrap draws B; the smallest p-value is 1 / (B + 1).
    estimator : {"complete", "incomplete", "block", "linear", "low-rank"} or a value of `estimators`
        Which pairs of rows are averaged: all, or few enough for the cost to grow as n; see `estimators`.
    memory : float, optional
        Bytes that the tiles may take in each process: by default 256 MB, on a GPU up to 6 GB.
    workers : int or map-like callable, optional
        None: threads of this process, on all cores. An int: as many processes, of one core each (-1: one for each
        core). A map, such as `client.map` of a dask client or `executor.map` of `mpi4py.futures`: tiles are computed
        wherever it runs them.
    precision : {"mixed", "full"}
        Of float32 data on a GPU: products with signs in float16, whose error is far below that of any number of draws,
        or in float32. The statistic is of the precision of the data either way.
    rng : seed or numpy.random.Generator, optional
        Source of base points, samples and signs, in this order. The same seed gives the same result on every backend.

    Returns
    -------
    CalibrationResult
        With `statistic`, `pvalue`, `null_distribution`, `contributions`, `bandwidths` and `coordinates`.

    Notes
    -----
    The statistic is the complete U-statistic of :math:`H_{ij} = k(P_i, P_j) h_{ij}` with

    .. math:: h_{ij} = l s_i^T s_j + \sum_a \partial_{y_a} \partial_{y'_a} l + s_i^T \nabla_{y'} l + s_j^T \nabla_y l

    at :math:`(y_i, y_j)` (eq. 9 and 10 of [1]). It has mean zero if the predictions are calibrated. Its null
    distribution is that of :math:`\sum_{i \ne j} e_i e_j H_{ij} / (n (n - 1))` with random signs e.

    The densities must vanish at the boundary of the space: predictions that carry a bounded `support` are mapped to
    one without a boundary. Rows must be independent. Arrays of NumPy, torch and
    JAX are computed on where they are and in their dtype (in float64 where float32 would lose the distances); tiles
    are added up in float64. Time grows as n^2. Memory grows as n: besides the arrays given, their embeddings and one
    bit for each sign, tiles take at most 256 MB.

    References
    ----------
    [1] P. Glaser, D. Widmann, F. Lindsten, A. Gretton, "Fast and Scalable Score-Based Kernel Calibration Tests",
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
    n_resamples, plan = check_n_resamples(n_resamples), as_plan(estimator, memory, workers, precision)
    rng = as_generator(rng)
    pairs = kccsd_pairs(predictions, y, distribution_kernel, target_kernel, coordinates, rng)
    return bootstrap_result(pairs, n_resamples, rng, plan)


def kccsd(
    predictions: Predictions,
    y: Any,
    *,
    distribution_kernel: DistributionKernel | Operator | OperatorFunction | None = None,
    target_kernel: Radial | FiniteRank | None = None,
    coordinates: Coordinates | None = None,
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
    return statistic_of(pairs)


def kccsd_pairs(
    predictions: Predictions,
    y: Any,
    distribution_kernel: DistributionKernel | Operator | OperatorFunction | None,
    target_kernel: Radial | FiniteRank | None,
    coordinates: Coordinates | None,
    rng: np.random.Generator,
) -> Pairs:
    """Predictions -> coordinates -> kernels -> pair function."""
    predictions, targets, scores, space = locate(coordinates, predictions, as_targets(y, predictions), rng)
    xp = array_namespace(targets)
    if isinstance(distribution_kernel, OperatorFunction):
        return Pairs(_function_pairs(distribution_kernel, target_kernel, targets, scores), targets, {}, space)
    target_kernel = as_target_kernel(target_kernel)
    if isinstance(target_kernel, FiniteRank):
        return _finite_rank_pairs(target_kernel, distribution_kernel, predictions, targets, scores, space, rng)
    if isinstance(distribution_kernel, Operator):
        terms = list(distribution_kernel.terms)
        _check_matrices(terms, predictions.dim)
    else:
        terms = [(as_distribution_kernel(distribution_kernel, GFD()), None)]
    with np.errstate(over="ignore", invalid="ignore"):  # answered by `check_overflow`, with likely causes
        found = [distribution_gram(kernel, predictions, scores, rng) for kernel, _ in terms]
        bandwidth = resolve_bandwidth(target_kernel.bandwidth, Euclidean(targets), targets)
        dtype = sufficient_dtype(targets, bandwidth, [gram for gram, _ in found])
        targets, scores, width = (xp.astype(part, dtype, copy=False) for part in (targets, scores, bandwidth))
        grams = [cast_gram(gram, dtype) for gram, _ in found]
        function: PairFunction
        if isinstance(distribution_kernel, Operator):
            matrices = [like(matrix, targets) for _, matrix in terms]
            functions = [
                matrix_stein(targets, scores, target_kernel, width, gram, matrix)
                for gram, matrix in zip(grams, matrices, strict=True)
            ]
            function = SumOfPairs(tuple(functions))
        else:
            function = stein_pairs(targets, scores, target_kernel, width, grams[0])
    return Pairs(function, targets, {"target": bandwidth, **_numbered([names for _, names in found])}, space)


def _finite_rank_pairs(
    target_kernel: FiniteRank,
    distribution_kernel: DistributionKernel | Operator | None,
    predictions: Predictions,
    targets: Array,
    scores: Array,
    space: str,
    rng: np.random.Generator,
) -> Pairs:
    """H = k(P_i, P_j) f_i.f_j; without pairs where k is constant."""
    if isinstance(distribution_kernel, Operator):
        raise TypeError("`target_kernel` must be `kernels.Gaussian` or `kernels.IMQ` with `Operator`.")
    kernel = as_distribution_kernel(distribution_kernel, GFD())
    features = target_kernel.features(targets, scores)
    if isinstance(kernel, Constant):
        return Pairs(Features(lambda rows: features[rows, :]), targets, {}, space)
    with np.errstate(over="ignore", invalid="ignore"):
        gram, bandwidths = distribution_gram(kernel, predictions, scores, rng)
    dtype = sufficient_dtype(0.0 * targets, like(1.0, targets), [gram])
    features = array_namespace(features).astype(features, dtype, copy=False)
    return Pairs(ProductOfPairs((Product(features, features), cast_gram(gram, dtype))), targets, bandwidths, space)


def _numbered(bandwidths: list[dict[str, Any]]) -> dict[str, Any]:
    """Bandwidths of several terms are told apart by their numbers: "distribution 0" and so on."""
    if len(bandwidths) == 1:
        return bandwidths[0]
    return {f"{name} {r}": value for r, names in enumerate(bandwidths) for name, value in names.items()}


def _check_matrices(terms: list[tuple[DistributionKernel, Array]], dim: int) -> None:
    for r, (_, matrix) in enumerate(terms):
        if matrix.shape[0] != dim:
            raise ValueError(
                f"`terms[{r}]` of `Operator` must hold a matrix of the dimension of the targets, {dim}, but it has "
                f"shape {tuple(matrix.shape)}."
            )


def _function_pairs(operator: OperatorFunction, target_kernel: Any, targets: Array, scores: Array) -> FunctionStein:
    if target_kernel is not None:
        raise ValueError("`target_kernel` must be None with `OperatorFunction`, whose function holds both kernels.")
    features, _ = as_arrays(features=operator.features, y=targets)
    n, d = targets.shape
    if features.ndim != 2 or features.shape[0] != n:
        raise ValueError(
            f"`features` of `OperatorFunction` must have shape (n, q) = ({n}, q), but has {features.shape}."
        )
    check_finite("features", features)
    if not callable(operator.function):
        raise TypeError(f"`function` of `OperatorFunction` must be callable, but is {operator.function!r}.")
    transforms("function", targets)
    function = FunctionStein(operator.function, like(features, targets), targets, scores)
    (p, p2), (z, z2) = function.features[:2, :], targets[:2, :]
    value, swapped, own = (operator.function(*pair) for pair in ((p, z, p2, z2), (p2, z2, p, z), (p, z, p, z)))
    _check_kernel(value, swapped, own, d)
    return function


def _check_kernel(value: Array, swapped: Array, own: Array, d: int) -> None:
    """Only half of the pairs are computed, so A must be a kernel: seen here on one pair, and one point with itself."""
    if tuple(getattr(value, "shape", ())) != (d, d):
        raise ValueError(
            f"`function` of `OperatorFunction` must return shape (d, d) = ({d}, {d}), but gave "
            f"{tuple(getattr(value, 'shape', ()))}."
        )
    if not has_values(value, swapped, own):
        return
    check_finite("function", value)
    host = to_numpy(value)
    size = max(np.abs(host).max(), np.abs(to_numpy(own)).max())
    if not np.allclose(host, to_numpy(swapped).T, rtol=0.0, atol=1e-5 * size):
        raise ValueError("`function(p, y, p2, y2)` must be the transpose of `function(p2, y2, p, y)`, but is not.")
    if np.linalg.eigvalsh(to_numpy(own)).min() < -1e-5 * size:
        raise ValueError("`function(p, y, p, y)` must be positive semi-definite, but has a negative eigenvalue.")
