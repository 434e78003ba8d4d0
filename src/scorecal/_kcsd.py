"""Conditional goodness of fit given inputs (KCSD), and goodness of fit of one distribution (KSD)."""

from typing import Any

import numpy as np

from ._inference import infer, value_of
from ._lib.arrays import Array, as_arrays, check_finite, ignore_overflow
from ._lib.checks import as_generator, check_count
from .coordinates import Coordinates
from .coordinates.locate import Located, locate, noise_stream
from .kernels import Radial
from .kernels.bandwidth import resolve_bandwidth, target_bandwidth
from .kernels.distances import Euclidean
from .kernels.gram import radial_gram
from .kernels.protocol import as_radial_kernel
from .pairwise import Statistic
from .parallel.workers import Map
from .predictions import Noised, Predictions, ScoreFunction, Scores, as_rows, as_targets, prior_of, support_of
from .resampling.estimators import Estimator
from .resampling.nulls import Null
from .resampling.options import as_options, for_rows
from .results import CalibrationResult
from .statistics import stein_statistic


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
    null: str | Null | None = None,
    groups: Any = None,
    horizon: int | None = None,
    memory: float | None = None,
    workers: int | Map | None = None,
    precision: str = "mixed",
    rng: Any = None,
) -> CalibrationResult:
    """Test whether predictions are the conditional distributions of the targets given the inputs.

    The null hypothesis, that Y given x is a draw from the prediction at x, is stronger than calibration: a calibrated
    model may ignore x. The statistic is that of `kccsd_test` with a kernel between inputs in place of that between
    predictions [1].

    Parameters
    ----------
    predictions : Predictions
        n predictive distributions on R^d.
    y : array_like, shape (n, d)
        The n observed targets; (n,) for d = 1.
    x : array_like, shape (n, p)
        The inputs; (n,) for p = 1. Bring columns to comparable units: the kernel depends on distances between rows.
    input_kernel, target_kernel : optional
        `kernels.Gaussian` (the default) or `kernels.IMQ`.
    coordinates, n_resamples, estimator, null, groups, horizon, memory, workers, precision, rng
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
    check_count("n_resamples", n_resamples)
    options = for_rows(as_options(estimator, null, memory, workers, precision), predictions, groups, horizon)
    rng = as_generator(rng)
    statistic = kcsd_statistic(predictions, y, x, input_kernel, target_kernel, coordinates, rng)
    return infer(statistic, predictions, y, n_resamples, rng, options)


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
    """Return the statistic of `kcsd_test` alone, a 0-d array, differentiable with torch and JAX.

    Parameters are those of `kcsd_test`. `rng` is used only for predictions of targets with noise.
    """
    return value_of(kcsd_statistic(predictions, y, x, input_kernel, target_kernel, coordinates, as_generator(rng)))


def ksd_test(
    predictions: Predictions,
    y: Any,
    *,
    target_kernel: Radial | None = None,
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
    """Test whether all targets are draws from one distribution: the kernel Stein discrepancy.

    Parameters
    ----------
    predictions : Predictions
        One distribution: a batch of one row; or its `Scores` at the n targets.
    y : array_like, shape (n, d)
        The n observed targets; (n,) for d = 1.
    target_kernel : optional
        `kernels.Gaussian` (the default) or `kernels.IMQ`.
    coordinates, n_resamples, estimator, null, groups, horizon, memory, workers, precision, rng
        As for `kccsd_test`.

    Returns
    -------
    CalibrationResult

    Examples
    --------
    >>> import numpy as np, scorecal as sc
    >>> y = np.random.default_rng(0).normal(size=(300, 2))
    >>> sc.ksd_test(sc.Gaussian([[0.0, 0.0]], 1.0), y, rng=0).rejects()
    False
    >>> sc.ksd_test(sc.Gaussian([[0.3, 0.0]], 1.0), y, rng=0).rejects()
    True
    """
    check_count("n_resamples", n_resamples)
    options, rng = as_options(estimator, null, memory, workers, precision), as_generator(rng)
    kernel = as_radial_kernel("target_kernel", target_kernel)

    def of(targets: Any) -> Statistic:
        return _stein_statistic(_locate_one(coordinates, predictions, targets, rng), kernel)

    statistic = of(y)._replace(recompute=of)
    options = for_rows(options, predictions, groups, horizon, int(statistic.reference.shape[0]))
    return infer(statistic, predictions, y, n_resamples, rng, options)


def _locate_one(coordinates: Coordinates | None, predictions: Predictions, y: Any, rng: np.random.Generator) -> Located:
    """Return targets (n, d) and the scores of the one distribution at them."""
    if isinstance(predictions, Scores):  # of one distribution, at all targets
        return locate(coordinates, predictions, y, rng)
    targets = as_rows(y, predictions)
    if predictions.n != 1:
        raise ValueError(f"`predictions` must be one distribution, a batch of one row, but has {predictions.n} rows.")
    repeated = ScoreFunction(
        lambda z: predictions.score(z[:, None, :])[:, 0, :],
        max(1, 1, *targets.shape[:1]),
        predictions.dim,
        support=support_of(predictions),
        prior=prior_of(predictions),
    )
    if not isinstance(predictions, Noised):
        return locate(coordinates, repeated, targets, rng)
    located = locate(coordinates, repeated, predictions.noised(as_targets(targets, repeated), noise_stream(rng)), rng)
    return located._replace(coordinates=f"{predictions.noise}, {located.coordinates}")


def kcsd_statistic(
    predictions: Predictions,
    y: Any,
    x: Any,
    input_kernel: Radial | None,
    target_kernel: Radial | None,
    coordinates: Coordinates | None,
    rng: np.random.Generator,
) -> Statistic:
    """Return the function to average, from predictions, targets, inputs, kernels and coordinates."""
    input_kernel = as_radial_kernel("input_kernel", input_kernel)
    target_kernel = as_radial_kernel("target_kernel", target_kernel)
    located = locate(coordinates, predictions, y, rng)
    inputs = as_arrays(x=x, y=located.targets)[0]
    inputs = inputs[:, None] if inputs.ndim == 1 else inputs
    if inputs.ndim != 2 or inputs.shape[0] != predictions.n or inputs.shape[1] == 0:
        raise ValueError(f"`x` must have shape (n, p) = ({predictions.n}, p), but has shape {tuple(inputs.shape)}.")
    check_finite("x", inputs)

    def of(located: Located) -> Statistic:
        targets, scores, _ = as_arrays(y=located.targets, scores=located.scores, x=inputs)
        return _stein_statistic(located._replace(targets=targets, scores=scores), target_kernel, inputs, input_kernel)

    return of(located)._replace(recompute=lambda drawn: of(locate(coordinates, predictions, drawn, rng)))


@ignore_overflow
def _stein_statistic(
    located: Located, kernel: Radial, inputs: Array | None = None, input_kernel: Radial | None = None
) -> Statistic:
    """Return the Stein statistic with a kernel between inputs or, without inputs, with the constant kernel."""
    grams, bandwidths = [], {}
    if inputs is not None and input_kernel is not None:
        width = resolve_bandwidth(input_kernel.bandwidth, Euclidean(inputs), inputs)
        grams, bandwidths = [radial_gram(inputs, width, input_kernel)], {"input": width}
    width = target_bandwidth(kernel, located.targets)
    return stein_statistic(located, width, kernel=kernel, grams=grams, bandwidths=bandwidths)
