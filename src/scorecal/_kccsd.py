"""The kernel calibration-conditional Stein discrepancy: the statistic and its test."""

from functools import partial
from typing import Any

import numpy as np

from ._inference import infer, value_of
from ._lib.arrays import Array, ignore_overflow
from ._lib.checks import as_generator, check_count
from .coordinates import Coordinates
from .coordinates.locate import Located, locate
from .kernels import GFD, DistributionKernel, FiniteRank, Operator, OperatorFunction, Radial
from .kernels.bandwidth import target_bandwidth
from .kernels.gram import distribution_gram
from .kernels.protocol import as_distribution_kernel, as_target_kernel
from .pairwise import Statistic
from .parallel.workers import Map
from .predictions import Predictions
from .resampling.estimators import Estimator
from .resampling.nulls import Null
from .resampling.options import as_options, for_rows
from .results import CalibrationResult
from .statistics import stein_statistic
from .statistics.operator import function_stein
from .statistics.test_functions import Constant


def kccsd_test(
    predictions: Predictions,
    y: Any,
    *,
    distribution_kernel: DistributionKernel | Operator | OperatorFunction | None = None,
    target_kernel: Radial | FiniteRank | None = None,
    coordinates: Coordinates | None = None,
    n_resamples: int = 999,
    estimator: str | Estimator = "complete",
    null: str | Null | None = None,
    groups: Any = None,
    horizon: int | None = None,
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
        Kernel between predictions: `kernels.GFD` (the default), `KGFD`, `MMD` or `Wasserstein`; an operator-valued
        one, `kernels.Operator` or `kernels.OperatorFunction`; or an object with what `kernels.DistributionKernel`
        lists. `kernels.Constant` treats all predictions alike.
    target_kernel : optional
        Kernel between targets: `kernels.Gaussian` (the default), `kernels.IMQ`, or one of finite rank, such as
        `kernels.Linear` or an object with `features(targets, scores)`.
    coordinates : callable, optional
        The map of targets and scores before the test: `coordinates.unconstrain(...)`, `coordinates.standardise(...)`,
        or a function from (predictions, y) to (predictions, targets, scores at the targets). None: the identity or, if
        the predictions have a bounded support, a map to a space without a boundary; see `coordinates` of the result.
    n_resamples : int
        Number of wild-bootstrap draws B; the smallest p-value is 1 / (B + 1).
    estimator : {"complete", "auto", "incomplete", "block", "linear", "low-rank"} or a value of `estimators`
        Which pairs of rows are averaged: all, or few enough for the cost to grow as n; "auto" chooses by the cost of
        all; see `estimators`. One of your own inherits from `estimators.Estimator`.
    null : {"signs", "simulate", "student-t"}, a value or an object with the method of `nulls.Null`, optional
        How the null distribution is found: by default from random signs, or, if `estimator` is "linear", Student's t.
        "student-t" also goes with "block". "simulate" draws targets from predictions that have a method `sample`, and
        is exact for any number of rows. With `groups` or `horizon`, random signs.
    groups : array_like, shape (n,), optional
        A label for each row, of any kind, if rows of one label depend on each other, such as several of one patient.
        They share a random sign, and their pairs are left out: the statistic is the mean over all other pairs. Rows of
        different groups must be independent. With fewer than 10 groups the p-value is held at one over their number.
    horizon : int, optional
        For forecasts of a time series, with rows in time order: how many rows ahead they look. Errors of forecasts that
        overlap go together, so that for 2 or more, blocks of consecutive rows are treated as `groups` are, and pairs of
        rows of two blocks that overlap are left out too. Blocks have at least 4 `horizon` rows. With both arguments
        each group is a series of its own, in time order, with blocks within it; the series must be independent of each
        other. None: rows are in no order.
    memory : float, optional
        Bytes that tiles of pairs and blocks of features may take in each process: by default 256 MB, on a GPU up to
        6 GB.
    workers : int or map-like callable, optional
        None: threads of this process, on all cores. An int: as many processes, of one core each (-1: one for each
        core). A map, such as `client.map` of a dask client or `executor.map` of `mpi4py.futures`: tiles are computed
        wherever it runs them.
    precision : {"mixed", "full"}
        Products with signs in float32, and in float16 for float32 data on a GPU, whose error is far below that of any
        number of draws; or in the dtype of the data. The statistic has the precision of the data either way.
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

    Blocks of overlapping forecasts are independent of each other but for their ends. Pairs of overlapping forecasts
    from two blocks are few, and are kept: without them the level of .06 or so would be lower by .003.

    Densities must vanish at the boundary of the space, so predictions that carry a bounded `support` are mapped to a
    space without a boundary. Rows must be independent, but for `groups` and `horizon`. Arrays of NumPy, torch and JAX
    stay on their device and in their dtype (but in float64 where float32 would lose the distances); tiles are summed in
    float64. Time grows as n^2. Memory grows as n: besides the arrays, their embeddings and one bit for each sign, tiles
    take at most 256 MB.

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
    check_count("n_resamples", n_resamples)
    options = for_rows(as_options(estimator, null, memory, workers, precision), predictions, groups, horizon)
    rng = as_generator(rng)
    statistic = kccsd_statistic(predictions, y, distribution_kernel, target_kernel, coordinates, rng)
    return infer(statistic, predictions, y, n_resamples, rng, options)


def kccsd(
    predictions: Predictions,
    y: Any,
    *,
    distribution_kernel: DistributionKernel | Operator | OperatorFunction | None = None,
    target_kernel: Radial | FiniteRank | None = None,
    coordinates: Coordinates | None = None,
    rng: Any = None,
) -> Array:
    """Return the statistic of `kccsd_test` alone, differentiable with torch and JAX, and under `jax.jit`.

    Parameters are those of `kccsd_test`; for the same arguments and `rng`, the value is that of its `statistic`.
    Derivatives pass through targets, scores, the parameters behind them, and the bandwidths of the median heuristic; a
    ground bandwidth is held constant, and must be a number while JAX is tracing. Rows far apart (100 bandwidths
    in float32, 10^6 in float64) lose digits while JAX is tracing. Derivatives in reverse mode keep every tile, so their
    memory grows as n^2.

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
    return value_of(kccsd_statistic(predictions, y, distribution_kernel, target_kernel, coordinates, as_generator(rng)))


@ignore_overflow
def kccsd_statistic(
    predictions: Predictions,
    y: Any,
    distribution_kernel: DistributionKernel | Operator | OperatorFunction | None,
    target_kernel: Radial | FiniteRank | None,
    coordinates: Coordinates | None,
    rng: np.random.Generator,
) -> Statistic:
    """Return the function to average, from predictions, targets, kernels and coordinates."""
    located = locate(coordinates, predictions, y, rng)
    if isinstance(distribution_kernel, OperatorFunction):
        of = partial(_of_function, distribution_kernel, target_kernel)
        return of(located)._replace(recompute=lambda drawn: of(locate(coordinates, predictions, drawn, rng)))
    kernel = as_target_kernel(target_kernel)
    if isinstance(distribution_kernel, Operator):
        found: dict[str, Any] = _of_terms(distribution_kernel, kernel, located, rng)
    else:
        between = as_distribution_kernel(distribution_kernel, GFD())
        found = {"grams": [], "bandwidths": {}}
        if not (isinstance(between, Constant) and isinstance(kernel, FiniteRank)):  # that case needs no pairs
            gram, bandwidths = distribution_gram(between, located.predictions, located.scores, rng)
            found = {"grams": [gram], "bandwidths": bandwidths}

    def recompute(drawn: Any) -> Statistic:
        other = locate(coordinates, predictions, drawn, rng)
        return stein_statistic(other, target_bandwidth(kernel, other.targets), kernel=kernel, **found)

    width = target_bandwidth(kernel, located.targets)
    return stein_statistic(located, width, kernel=kernel, **found)._replace(recompute=recompute)


def _of_function(operator: OperatorFunction, target_kernel: Any, located: Located) -> Statistic:
    if target_kernel is not None:
        raise ValueError("`target_kernel` must be None with `OperatorFunction`, whose function includes both kernels.")
    function = function_stein(operator, located.targets, located.scores)
    return Statistic(function, located.targets, {}, located.coordinates, located.scores)


def _of_terms(
    operator: Operator, kernel: Radial | FiniteRank, located: Located, rng: np.random.Generator
) -> dict[str, Any]:
    """Return Gram matrices, their bandwidths and the matrices of an operator-valued kernel."""
    if isinstance(kernel, FiniteRank):
        raise TypeError(f"`target_kernel` must be `kernels.Gaussian` or `IMQ` with `Operator`, but is {kernel!r}.")
    dim = located.predictions.dim
    for r, (_, matrix) in enumerate(operator.terms):
        if matrix.shape[0] != dim:
            raise ValueError(
                f"`terms[{r}]` of `Operator` must hold a matrix of the dimension of the targets, {dim}, but it has "
                f"shape {tuple(matrix.shape)}."
            )
    found = [distribution_gram(between, located.predictions, located.scores, rng) for between, _ in operator.terms]
    grams, matrices = [gram for gram, _ in found], [matrix for _, matrix in operator.terms]
    return {"grams": grams, "matrices": matrices, "bandwidths": _numbered([names for _, names in found])}


def _numbered(bandwidths: list[dict[str, Any]]) -> dict[str, Any]:
    """Merge the bandwidths of several terms, numbered as in "distribution 0"."""
    if len(bandwidths) == 1:
        return bandwidths[0]
    return {f"{name} {r}": value for r, names in enumerate(bandwidths) for name, value in names.items()}
