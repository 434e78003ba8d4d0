"""Conditional goodness of fit given inputs (KCSD), and goodness of fit of one distribution (KSD)."""

from __future__ import annotations

from typing import Any

import numpy as np

from ._lib.arrays import Array, array_namespace, as_arrays, check_finite, like
from ._pipeline import (
    Pairs,
    Place,
    add_noise,
    as_generator,
    as_radial_kernel,
    as_targets,
    bootstrap_result,
    check_n_resamples,
    locate,
    statistic_of,
)
from .coordinates import Coordinates
from .kernels import Radial
from .kernels.bandwidth import resolve_bandwidth
from .kernels.distances import Euclidean
from .kernels.gram import EmbeddingGram, Gram, radial_gram
from .parallel.workers import Map
from .predictions import Predictions, ScoreFunction, Scores, check_predictions, held_array
from .resampling.estimators import Estimator
from .resampling.options import as_plan
from .results import CalibrationResult
from .statistics import cast_gram, stein_pairs, sufficient_dtype

__all__ = ["kcsd", "kcsd_test", "ksd_test"]


def kcsd_test(
    predictions: Predictions,
    y: Any,
    x: Any,
    *,
    input_kernel: Radial | None = None,
    target_kernel: Radial | None = None,
    coordinates: Coordinates | None = None,
    n_resamples: int = 999,
    estimator: str | Estimator = "complete",
    memory: float | None = None,
    workers: int | Map | None = None,
    precision: str = "mixed",
    rng: Any = None,
) -> CalibrationResult:
    """Test whether predictions are the conditional distributions of the targets given the inputs.

    The null hypothesis, that Y given x is a draw from the prediction at x, says more than calibration: a calibrated
    model may ignore what x tells. The statistic is that of `kccsd_test` with a kernel on inputs in place of the kernel
    between predictions [1].

    Parameters
    ----------
    predictions : Predictions
        n predictive distributions on R^d.
    y : array_like, shape (n, d)
        The n observed targets; (n,) for d = 1.
    x : array_like, shape (n, p)
        The inputs; (n,) for p = 1. Bring columns to comparable units: distances between rows are what counts.
    input_kernel, target_kernel : optional
        `kernels.Gaussian` (the default) or `kernels.IMQ`.
    coordinates, n_resamples, estimator, memory, workers, precision, rng
        As for `kccsd_test`.

    Returns
    -------
    CalibrationResult
        `bandwidths` are named "target" and "input".

    References
    ----------
    [1] W. Jitkrittum, H. Kanagawa, B. Schoelkopf, "Testing goodness of fit of conditional density models with
    kernels", UAI 2020.

    Examples
    --------
    A model that ignores its input is calibrated, but not the conditional distribution:

    >>> import numpy as np, scorecal as sc
    >>> rng = np.random.default_rng(0)
    >>> x = rng.normal(size=300)
    >>> y = x + rng.normal(size=300)
    >>> marginal = sc.Gaussian(np.zeros(300), np.sqrt(2.0))
    >>> sc.kccsd_test(marginal, y, rng=0).rejects(), sc.kcsd_test(marginal, y, x, rng=0).rejects()
    (False, True)
    """
    n_resamples, plan = check_n_resamples(n_resamples), as_plan(estimator, memory, workers, precision)
    rng = as_generator(rng)
    pairs = kcsd_pairs(predictions, y, x, input_kernel, target_kernel, coordinates, rng)
    return bootstrap_result(pairs, n_resamples, rng, plan)


def kcsd(
    predictions: Predictions,
    y: Any,
    x: Any,
    *,
    input_kernel: Radial | None = None,
    target_kernel: Radial | None = None,
    coordinates: Coordinates | None = None,
    rng: Any = None,
) -> Array:
    """The statistic of `kcsd_test` alone, a 0-d array, differentiable with torch and JAX.

    Parameters are those of `kcsd_test`. Nothing is drawn, so `rng` changes nothing, but for predictions of targets with
    noise.
    """
    return statistic_of(kcsd_pairs(predictions, y, x, input_kernel, target_kernel, coordinates, as_generator(rng)))


def ksd_test(
    predictions: Predictions,
    y: Any,
    *,
    target_kernel: Radial | None = None,
    coordinates: Coordinates | None = None,
    n_resamples: int = 999,
    estimator: str | Estimator = "complete",
    memory: float | None = None,
    workers: int | Map | None = None,
    precision: str = "mixed",
    rng: Any = None,
) -> CalibrationResult:
    """Test whether all targets are draws from one distribution: the kernel Stein discrepancy.

    Parameters
    ----------
    predictions : Predictions
        One distribution: a batch of one row; or its `Scores` at the n targets.
    y : array_like, shape (n, d)
        The n observed targets; (n,) for d = 1.
    target_kernel, coordinates, n_resamples, estimator, memory, workers, precision, rng
        As for `kccsd_test`.

    Examples
    --------
    >>> import numpy as np, scorecal as sc
    >>> y = np.random.default_rng(0).normal(size=(300, 2))
    >>> sc.ksd_test(sc.Gaussian([[0.0, 0.0]], 1.0), y, rng=0).rejects()
    False
    >>> sc.ksd_test(sc.Gaussian([[0.3, 0.0]], 1.0), y, rng=0).rejects()
    True
    """
    n_resamples, plan = check_n_resamples(n_resamples), as_plan(estimator, memory, workers, precision)
    target_kernel = as_radial_kernel("target_kernel", target_kernel)
    rng = as_generator(rng)
    _, targets, scores, space = _one_distribution(predictions, y, coordinates, rng)
    bandwidth = resolve_bandwidth(target_kernel.bandwidth, Euclidean(targets), targets)
    constant: Gram = EmbeddingGram(array_namespace(targets).zeros_like(targets[:, :1]), "gaussian")
    dtype = sufficient_dtype(targets, bandwidth, [constant])
    targets, scores = (array_namespace(part).astype(part, dtype, copy=False) for part in (targets, scores))
    function = stein_pairs(targets, scores, target_kernel, like(bandwidth, targets), cast_gram(constant, dtype))
    return bootstrap_result(Pairs(function, targets, {"target": bandwidth}, space), n_resamples, rng, plan)


def kcsd_pairs(
    predictions: Predictions,
    y: Any,
    x: Any,
    input_kernel: Radial | None,
    target_kernel: Radial | None,
    coordinates: Coordinates | None,
    rng: np.random.Generator,
) -> Pairs:
    input_kernel = as_radial_kernel("input_kernel", input_kernel)
    target_kernel = as_radial_kernel("target_kernel", target_kernel)
    _, targets, scores, space = locate(coordinates, predictions, as_targets(y, predictions), rng)
    inputs, targets = as_arrays(x=x, y=targets)
    inputs = inputs[:, None] if inputs.ndim == 1 else inputs
    if inputs.ndim != 2 or inputs.shape[0] != predictions.n or inputs.shape[1] == 0:
        raise ValueError(f"`x` must have shape (n, p) = ({predictions.n}, p), but has {tuple(inputs.shape)}.")
    check_finite("x", inputs)
    scores = array_namespace(targets).astype(scores, targets.dtype, copy=False)
    with np.errstate(over="ignore", invalid="ignore"):  # answered by `check_overflow`, with likely causes
        width = resolve_bandwidth(input_kernel.bandwidth, Euclidean(inputs), inputs)
        bandwidth = resolve_bandwidth(target_kernel.bandwidth, Euclidean(targets), targets)
        gram: Gram = radial_gram(inputs / width, input_kernel)
        dtype = sufficient_dtype(targets, bandwidth, [gram])
        targets, scores = (array_namespace(part).astype(part, dtype, copy=False) for part in (targets, scores))
        function = stein_pairs(targets, scores, target_kernel, like(bandwidth, targets), cast_gram(gram, dtype))
    return Pairs(function, targets, {"target": bandwidth, "input": width}, space)


def _one_distribution(
    predictions: Predictions, y: Any, coordinates: Coordinates | None, rng: np.random.Generator
) -> Place:
    """Targets (n, d) and the scores of the one distribution there."""
    check_predictions("predictions", predictions)
    if isinstance(predictions, Scores):  # of the one distribution, at the targets
        return locate(coordinates, predictions, as_targets(y, predictions), rng)
    if predictions.n != 1:
        raise ValueError(f"`predictions` must be one distribution, a batch of one row, but has {predictions.n} rows.")
    held = held_array(predictions)
    targets = as_arrays(y=y)[0] if held is None else as_arrays(y=y, predictions=held)[0]
    targets = targets[:, None] if targets.ndim == 1 and predictions.dim == 1 else targets
    n = int(targets.shape[0]) if targets.ndim else 0
    repeated = ScoreFunction(
        lambda z: predictions.score(z[:, None, :])[:, 0, :],
        max(n, 1),
        predictions.dim,
        support=getattr(predictions, "support", None),
        prior=getattr(predictions, "prior", None),
    )
    targets, noise = add_noise(predictions, as_targets(targets, repeated), rng)
    place = locate(coordinates, repeated, targets, rng)
    return place._replace(space=f"{noise}, {place.space}") if noise else place
