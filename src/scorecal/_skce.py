"""The squared kernel calibration error: the statistic and its test."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from ._inference import infer, value_of
from ._lib.arrays import Array, accumulation_dtype, array_namespace, ignore_overflow, like
from ._lib.checks import as_generator, check_count
from .kernels import GFD, MMD, DistributionKernel, Radial
from .kernels.bandwidth import resolve_bandwidth, target_bandwidth
from .kernels.distances import Euclidean
from .kernels.gram import distribution_gram, gram_of
from .kernels.protocol import as_distribution_kernel, as_radial_kernel
from .pairwise import Product, ProductOfPairs, Statistic
from .parallel.workers import Map
from .predictions import MALA, Categorical, Predictions, Samplable, as_targets
from .resampling.estimators import Estimator
from .resampling.nulls import Null
from .resampling.options import as_options, for_rows
from .results import CalibrationResult
from .statistics import cast_gram, surprise_of


@dataclass(frozen=True, eq=False)
class SKCEResult(CalibrationResult):
    """Outcome of `skce_test`: a `CalibrationResult`, and how its expectations were computed.

    Attributes
    ----------
    expectations : {"exact", "classes", "samples", "mcmc"}
        In closed form for Gaussians and their mixtures; by sums over classes; from draws; from Markov chains.
    acceptance : float or None
        Mean acceptance rate of the chains.
    """

    expectations: str
    acceptance: float | None


def skce_test(
    predictions: Predictions | Categorical,
    y: Any,
    *,
    distribution_kernel: DistributionKernel | None = None,
    target_kernel: Radial | None = None,
    n_samples: int | None = None,
    sampler: MALA | None = None,
    n_resamples: int = 999,
    estimator: str | Estimator = "complete",
    null: str | Null | None = None,
    groups: Any = None,
    horizon: int | None = None,
    memory: float | None = None,
    workers: int | Map | None = None,
    precision: str = "mixed",
    rng: Any = None,
) -> SKCEResult:
    r"""Test whether predictions are calibrated, by expectations under the predictions.

    The null hypothesis is that every target is a draw from its own prediction: given the prediction P, Y ~ P.

    Parameters
    ----------
    predictions : Predictions or Categorical
        n predictive distributions on R^d, or on classes.
    y : array_like, shape (n, d)
        The n observed targets; (n,) for d = 1 and for classes, which are integers from 0.
    distribution_kernel : optional
        Kernel between predictions: `kernels.MMD` (the default for predictions that can be sampled), `GFD` (the default
        for others), `KGFD` or `Wasserstein`.
    target_kernel : optional
        Kernel between targets: `kernels.Gaussian` (the default) or `kernels.IMQ`. Classes are compared for equality.
    n_samples : int, optional
        Draws from each prediction. None: the closed form for Gaussians and their mixtures with a Gaussian target
        kernel, otherwise 10 draws.
    sampler : MALA, optional
        Draw by Markov chains, for predictions that have a score and a log-density but cannot be sampled.
    n_resamples : int
        Number of wild-bootstrap draws B; the smallest p-value is 1 / (B + 1).
    estimator : {"complete", "auto", "incomplete", "block", "linear", "low-rank"} or a value of `estimators`
        As for `kccsd_test`.
    null, groups, horizon, memory, workers, precision
        As for `kccsd_test`.
    rng : seed or numpy.random.Generator, optional
        Source of base points, samples and signs, in this order.

    Returns
    -------
    SKCEResult
        `expectations` says how expectations were computed.

    Notes
    -----
    The statistic is the complete U-statistic of

    .. math:: G_{ij} = k(P_i, P_j) (l(y_i, y_j) - E l(Z_i, y_j) - E l(y_i, Z_j) + E l(Z_i, Z_j)), Z_i \sim P_i

    (eq. 2 to 4 of [1], after [2]). With Markov chains that have not converged it also rejects calibrated predictions;
    `kccsd_test` needs no draws.

    References
    ----------
    [1] P. Glaser, D. Widmann, F. Lindsten, A. Gretton, "Fast and Scalable Score-Based Kernel Calibration Tests",
    UAI 2023.

    [2] D. Widmann, F. Lindsten, D. Zachariah, "Calibration tests beyond classification", ICLR 2021.

    Examples
    --------
    >>> import scorecal as sc
    >>> predictions, y = sc.experiments.hgm(200, 1.0, rng=0)
    >>> result = sc.skce_test(predictions, y, rng=0)
    >>> result.rejects(), result.expectations
    (True, 'exact')
    >>> by_chains = sc.skce_test(predictions, y, n_samples=2, sampler=sc.MALA(), rng=1)
    >>> by_chains.rejects(), by_chains.expectations
    (True, 'mcmc')
    """
    check_count("n_resamples", n_resamples)
    options = for_rows(as_options(estimator, null, memory, workers, precision), predictions, groups, horizon)
    rng = as_generator(rng)
    statistic, how = skce_statistic(predictions, y, distribution_kernel, target_kernel, n_samples, sampler, rng)
    result = infer(statistic, predictions, y, n_resamples, rng, options)
    return SKCEResult(**vars(result), **how)


def skce(
    predictions: Predictions | Categorical,
    y: Any,
    *,
    distribution_kernel: DistributionKernel | None = None,
    target_kernel: Radial | None = None,
    n_samples: int | None = None,
    sampler: MALA | None = None,
    rng: Any = None,
) -> Array:
    """Return the statistic of `skce_test` alone, a 0-d array; differentiable with torch and JAX where it is exact.

    Parameters are those of `skce_test`; for the same arguments and `rng`, the value is that of its `statistic`. While
    JAX is tracing, the ground bandwidth of the default kernel must be a number: `kernels.MMD(kernels.Gaussian(1.0))`.

    Examples
    --------
    >>> import scorecal as sc
    >>> predictions = sc.Categorical([[0.5, 0.5], [0.5, 0.5], [0.5, 0.5]])
    >>> float(sc.skce(predictions, [0, 0, 1]))  # the mean over pairs of 1/2, -1/2 and -1/2
    -0.16666666666666666
    """
    statistic, _ = skce_statistic(
        predictions, y, distribution_kernel, target_kernel, n_samples, sampler, as_generator(rng)
    )
    return value_of(statistic)


@ignore_overflow
def skce_statistic(
    predictions: Predictions | Categorical,
    y: Any,
    distribution_kernel: DistributionKernel | None,
    target_kernel: Radial | None,
    n_samples: int | None,
    sampler: MALA | None,
    rng: np.random.Generator,
) -> tuple[Statistic, dict[str, Any]]:
    """Return the `Statistic`, and how expectations were computed: the fields that `SKCEResult` adds."""
    check_count("n_samples", n_samples, optional=True)
    if sampler is not None and not isinstance(sampler, MALA):
        raise TypeError(f"`sampler` must be `MALA(...)` or None, but is {sampler!r}.")
    samplable = isinstance(predictions, Samplable | Categorical)
    distribution_kernel = as_distribution_kernel(distribution_kernel, MMD() if samplable else GFD())
    if isinstance(predictions, Categorical):
        if target_kernel is not None or n_samples is not None or sampler is not None:
            raise ValueError("`target_kernel`, `n_samples` and `sampler` must be None for classes: sums are exact.")
        return _class_statistic(predictions, y, distribution_kernel)
    target_kernel = as_radial_kernel("target_kernel", target_kernel)
    targets = as_targets(y, predictions)
    gram, bandwidths = distribution_gram(distribution_kernel, predictions, targets, rng)

    def of(targets: Array) -> tuple[Statistic, dict[str, Any]]:
        bandwidth = target_bandwidth(target_kernel, targets)
        # Of narrow predictions, four terms that are nearly equal leave little: no digit must be lost.
        dtype = accumulation_dtype(targets)
        targets = array_namespace(targets).astype(targets, dtype, copy=False)
        width = like(bandwidth, targets)
        surprise, how = surprise_of(predictions, targets, target_kernel, width, n_samples, sampler, rng)
        function = ProductOfPairs((cast_gram(gram, dtype), surprise))
        return Statistic(function, targets, {"target": bandwidth, **bandwidths}), how

    statistic, how = of(targets)
    return statistic._replace(recompute=lambda drawn: of(as_targets(drawn, predictions))[0]), how


def _class_statistic(predictions: Categorical, y: Any, kernel: DistributionKernel) -> tuple[Statistic, dict[str, Any]]:
    if not isinstance(kernel, MMD):
        raise TypeError(
            f"`distribution_kernel` must be `kernels.MMD` for classes, which have no scores, but is {kernel!r}."
        )
    if kernel.n_samples is not None or kernel.ground != MMD().ground:
        raise ValueError("`distribution_kernel` for classes may set `bandwidth` only: classes are equal or not.")
    residuals = predictions.residuals(y)
    if predictions.n < 2:
        raise ValueError(f"`y` must hold at least 2 targets, but has {predictions.n}.")
    probabilities = Euclidean(predictions.probabilities)  # the MMD of classes: the kernel between different ones is 0
    bandwidth = resolve_bandwidth(kernel.bandwidth, probabilities, residuals)
    gram = gram_of(probabilities, bandwidth, "gaussian")
    how = {"expectations": "classes", "acceptance": None}

    def of(residuals: Array) -> Statistic:
        function = ProductOfPairs((gram, Product(residuals, residuals)))
        return Statistic(function, residuals, {"distribution": bandwidth}, errors=residuals)

    return of(residuals)._replace(recompute=lambda drawn: of(predictions.residuals_of(drawn))), how
