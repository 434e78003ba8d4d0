"""What all tests share: checks on the way in, one call of the engine, a result on the way out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from array_api_compat import is_array_api_obj

from ._lib.arrays import (
    Array,
    array_namespace,
    as_arrays,
    as_float,
    check_finite,
    has_values,
    to_numpy,
    without_gradients,
)
from ._lib.warn import warn_user
from .coordinates import Coordinates, natural
from .coordinates.identity import name_of
from .kernels import DistributionKernel, FiniteRank, Gaussian, Radial
from .predictions import Predictions, check_predictions, held_array
from .resampling import Features, PairFunction, Signs, draw_signs, u_statistics
from .resampling.estimators import Linear, LowRank, Pairing
from .resampling.options import Plan
from .results import CalibrationResult, calibration_result, check_overflow
from .statistics.random_features import low_rank

__all__ = [
    "Pairs",
    "Place",
    "add_noise",
    "as_distribution_kernel",
    "as_generator",
    "as_planned",
    "as_radial_kernel",
    "as_target_kernel",
    "as_targets",
    "bootstrap_result",
    "bootstrap_results",
    "check_n_resamples",
    "locate",
    "statistic_of",
    "stream_of_noise",
]


_DEFAULT = Plan()


class Pairs(NamedTuple):
    """H as a function of blocks of rows and columns, an array to work like, and what made it."""

    function: PairFunction | Features
    reference: Array
    bandwidths: Mapping[str, Any]
    space: str = "identity"


def statistic_of(pairs: Pairs) -> Array:
    """The U-statistic alone, a 0-d array that keeps its derivatives."""
    value = u_statistics([pairs.function], pairs.reference).statistic[0]
    if has_values(value):
        check_overflow(as_float(value))
    return value


def bootstrap_result(
    pairs: Pairs, n_resamples: int, rng: np.random.Generator, plan: Plan = _DEFAULT
) -> CalibrationResult:
    """The U-statistic ranked among its wild-bootstrap draws, or among quantiles of Student's t."""
    reference = pairs.reference
    if not has_values(reference):
        raise TypeError(
            "A p-value cannot be computed while JAX is tracing; use the statistic, or call the test outside."
        )
    if isinstance(plan.estimator, Linear) and not isinstance(pairs.function, Features):
        return _result_two_by_two(pairs, n_resamples, plan)
    functions = as_planned([pairs.function], plan, rng)
    signs = draw_signs(reference.shape[0], n_resamples, rng)
    result = bootstrap_results(functions, reference, [pairs.bandwidths], signs, plan)[0]
    return replace(result, coordinates=pairs.space)


def as_planned(
    functions: Sequence[PairFunction | Features], plan: Plan, rng: np.random.Generator
) -> list[PairFunction | Features]:
    """Of finite rank where the plan says so; frequencies are drawn before signs."""
    if not isinstance(plan.estimator, LowRank):
        return list(functions)
    n = plan.estimator.n_frequencies
    return [f if isinstance(f, Features) else low_rank(f, n, rng) for f in functions]


def _result_two_by_two(pairs: Pairs, n_resamples: int, plan: Plan) -> CalibrationResult:
    """Points two by two are independent and alike: their mean, in units of its error, follows Student's t."""
    from scipy.stats import t

    n = int(pairs.reference.shape[0])
    pairing = Pairing.of(plan.estimator, n)
    if pairing.n_blocks < 2:
        raise ValueError(f"`estimator='linear'` needs at least 4 targets, but `y` has {n}.")
    with without_gradients(pairs.reference):
        totals = u_statistics([pairs.function], pairs.reference, plan=plan)
    contributions = to_numpy(totals.contributions)[0].astype(np.float64)
    block = pairing.block_of(np.arange(n))
    sizes = np.bincount(block)
    statistic = float(np.sum(contributions))
    gaps = np.bincount(block, contributions) - statistic * sizes * (sizes - 1) / (2 * pairing.n_pairs)
    error = float(np.sqrt(np.sum(gaps**2) * pairing.n_blocks / (pairing.n_blocks - 1)))
    null = error * t.ppf((np.arange(n_resamples) + 0.5) / n_resamples, pairing.n_blocks - 1)
    return replace(_ranked(statistic, null, contributions, pairs.bandwidths, pairs.reference), coordinates=pairs.space)


def bootstrap_results(
    functions: Sequence[PairFunction | Features],
    reference: Array,
    bandwidths: Sequence[Mapping[str, Any]],
    signs: Signs,
    plan: Plan = _DEFAULT,
    tile: int | None = None,
) -> list[CalibrationResult]:
    """Several U-statistics in one pass over the pairs, each ranked among its draws with the same signs."""
    with without_gradients(reference):
        totals = u_statistics(functions, reference, signs, plan=plan, tile=tile)
    statistics, null, contributions = (
        to_numpy(part).astype(np.float64) for part in (totals.statistic, totals.null, totals.contributions)
    )
    return [
        _ranked(float(statistics[v]), null[v], contributions[v], names, reference) for v, names in enumerate(bandwidths)
    ]


def _ranked(
    statistic: float, null: np.ndarray, contributions: np.ndarray, bandwidths: Mapping[str, Any], reference: Array
) -> CalibrationResult:
    values = {name: as_float(value) if is_array_api_obj(value) else float(value) for name, value in bandwidths.items()}
    precision = float(array_namespace(reference).finfo(reference.dtype).eps)
    return calibration_result(statistic, null, contributions, values, precision)


def as_generator(rng: Any) -> np.random.Generator:
    try:
        return np.random.default_rng(rng)
    except (TypeError, ValueError) as error:
        raise type(error)(f"`rng` must be a seed, a `numpy.random.Generator` or None, but is {rng!r}.") from None


def add_noise(predictions: Any, y: Array, rng: np.random.Generator) -> tuple[Array, str]:
    """Targets as the predictions want them, with noise or without, and the noise in words."""
    if not hasattr(predictions, "noised"):
        return y, ""
    return predictions.noised(y, stream_of_noise(rng)), predictions.noise


def stream_of_noise(rng: np.random.Generator) -> np.random.Generator:
    """A stream of its own, so that other draws stay the same."""
    try:
        return rng.spawn(1)[0]
    except TypeError:
        raise TypeError("`rng` cannot spawn; give a seed, or `numpy.random.default_rng(seed)`.") from None


class Place(NamedTuple):
    """Predictions, targets and scores at the targets in one space, and what that is called."""

    predictions: Predictions
    targets: Array
    scores: Array
    space: str


def locate(coordinates: Coordinates | None, predictions: Predictions, y: Array, rng: np.random.Generator) -> Place:
    """Everything in the given coordinates, checked; in the predictions' natural ones for None."""
    y, noise = add_noise(predictions, y, rng)
    coordinates = natural(predictions) if coordinates is None else coordinates
    if not callable(coordinates):
        raise TypeError(f"`coordinates` must be a function of predictions and targets, but is {coordinates!r}.")
    located, targets, scores = coordinates(predictions, y)
    for name, array in (("targets", targets), ("scores", scores)):
        expected = (y.shape[0], located.dim)
        if tuple(array.shape) != expected:
            raise ValueError(
                f"`coordinates` must return {name} of shape (n, d) = {expected} to fit the predictions they return, "
                f"but gave {tuple(array.shape)}."
            )
        check_finite(f"coordinates: {name}", array)
    xp = array_namespace(targets)
    dtype = xp.result_type(targets.dtype, scores.dtype)
    name = name_of(coordinates, predictions)
    name = f"{noise}, {name}" if noise else name
    return Place(located, xp.astype(targets, dtype, copy=False), xp.astype(scores, dtype, copy=False), name)


def as_radial_kernel(name: str, kernel: Radial | None) -> Radial:
    kernel = Gaussian() if kernel is None else kernel
    if not isinstance(kernel, Radial):
        raise TypeError(f"`{name}` must be `kernels.Gaussian` or `kernels.IMQ`, but is {kernel!r}.")
    return kernel


def as_target_kernel(kernel: Radial | FiniteRank | None) -> Radial | FiniteRank:
    """Also one of finite rank."""
    if isinstance(kernel, type):
        raise TypeError(f"`target_kernel` must be a kernel, not its class {kernel.__name__}: `{kernel.__name__}()`.")
    return kernel if isinstance(kernel, FiniteRank) else as_radial_kernel("target_kernel", kernel)


def as_distribution_kernel(
    kernel: DistributionKernel | None, default: DistributionKernel, name: str = "distribution_kernel"
) -> DistributionKernel:
    kernel = default if kernel is None else kernel
    if isinstance(kernel, type):
        raise TypeError(f"`{name}` must be a kernel, not its class {kernel.__name__}: write `{kernel.__name__}()`.")
    if not hasattr(kernel, "distance"):
        raise TypeError(f"`{name}` must be `kernels.GFD`, `KGFD`, `MMD` or `Wasserstein`, but is {kernel!r}.")
    return kernel


def as_targets(y: Any, predictions: Predictions) -> Array:
    check_predictions("predictions", predictions)
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
    check_finite("y", targets, "Drop rows without a finite target before the test.")
    xp = array_namespace(targets)
    if has_values(targets) and bool(xp.all(targets == targets[:1, :])):
        warn_user(
            "`y` is constant: all targets are equal. That is odd for a random outcome; was the right column given?"
        )
    return targets


def check_n_resamples(n_resamples: Any) -> int:
    if isinstance(n_resamples, bool) or not isinstance(n_resamples, (int, np.integer)) or n_resamples < 1:
        raise ValueError(f"`n_resamples` must be a positive integer, but is {n_resamples!r}.")
    return int(n_resamples)
