"""Targets, errors and traits of the predictions, as NumPy arrays, for the cautions to look at."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from .._lib.arrays import Array, array_namespace, ignore_overflow, to_numpy
from .._lib.linalg import diagonals
from ..coordinates.location_spread import known_moments
from ..predictions import Categorical, HasComponents, HasMoments, as_rows

_WAVES = range(3, 11)  # in halves, over the ranks of a column: normal scores and their squares do for fewer


@dataclass(frozen=True, eq=False)
class Rows:
    """n targets with their predictions, in the order in which they were given.

    Attributes
    ----------
    targets : ndarray, shape (n, d)
        As they were given.
    residuals : ndarray, shape (n, d), or None
        Errors, or scores where nothing else is known.
    sd : ndarray, shape (n, d) or (d,), or None
        Spread that is predicted, in the units of the targets.
    traits : ndarray, shape (n, q), or None
        Location and log spread of the predictions: rows where these are equal have the same prediction.
    standardised : bool
        Whether residuals are in units of the predicted spread.
    rounding : float
        Relative precision of the targets.
    """

    targets: np.ndarray
    residuals: np.ndarray | None
    sd: np.ndarray | None
    traits: np.ndarray | None
    standardised: bool
    rounding: float

    def at(self, order: np.ndarray) -> "Rows":
        """Return the rows in another order."""
        residuals, traits = (None if part is None else part[order] for part in (self.residuals, self.traits))
        sd = self.sd[order] if self.sd is not None and self.sd.ndim == 2 else self.sd
        return replace(self, targets=self.targets[order], residuals=residuals, sd=sd, traits=traits)


@ignore_overflow
def rows_of(predictions: Any, y: Any, residuals: Array | None, whitening: tuple[Array, Array] | None = None) -> Rows:
    """Return the rows, from predictions and targets as they were given, and residuals or scores.

    `whitening` are location and spread of the predictions by which the residuals were standardised. Without it,
    residuals are made from moments, where predictions know these.
    """
    if isinstance(predictions, Categorical):  # classes are numbers by name only, and often equal
        errors = None if residuals is None else _host(residuals)
        return Rows(
            _host(predictions.class_numbers(y))[:, None], errors, None, _host(predictions.probabilities), False, 0.0
        )
    given, moments = _location_and_sd(predictions, y)
    rounding = float(array_namespace(given).finfo(given.dtype).eps)
    targets, errors = _host(given), None if residuals is None else _host(residuals)
    if whitening is not None:
        location, spread = (_host(part) for part in whitening)
        sd = None if moments is None else moments[1]
        return Rows(targets, errors, sd, _traits(location, spread), True, rounding)
    if moments is not None:
        location, sd = moments
        return Rows(targets, (targets - location) / sd, sd, _traits(location, sd), True, rounding)
    # The mean square of the scores of a Gaussian is one over its variance.
    sd = None if errors is None else 1.0 / np.sqrt(np.maximum(np.mean(errors**2, axis=0), np.finfo(float).tiny))
    return Rows(targets, errors, sd, None, False, rounding)


def normal_scores(values: np.ndarray) -> np.ndarray:
    """Normal quantiles of the ranks of each column (n, d): the same for all distributions, and never far out."""
    from scipy.special import ndtri

    found = np.empty(values.shape)
    for k, column in enumerate(values.T):
        _, place, counts = np.unique(column, return_inverse=True, return_counts=True)
        found[:, k] = ndtri((np.cumsum(counts) - 0.5 * counts) / len(column))[place]
    return found


def unexplained(values: np.ndarray, by: np.ndarray, most: int) -> tuple[np.ndarray, int]:
    """Return the rest of values (n, d) after a regression on at most so many functions of `by`, and on how many.

    These are the columns of `by` (n, q) in normal scores, their squares, and waves: a bias that depends on the
    prediction, if smoothly, is not to be taken for dependence of rows.
    """
    from scipy.special import ndtr

    scores = normal_scores(by[:, np.ptp(by, axis=0) > 0][:, :most])
    waves = (np.cos(np.pi * k * ndtr(scores)) for k in _WAVES)
    columns, n_columns = [np.ones((len(by), 1)), scores, scores**2], 1 + 2 * scores.shape[1]
    while scores.shape[1] and n_columns <= most and (wave := next(waves, None)) is not None:
        columns.append(wave)
        n_columns += wave.shape[1]
    design = np.concatenate(columns, axis=1)[:, : 1 + most]
    coefficients = np.linalg.lstsq(design.T @ design, design.T @ values, rcond=None)[0]
    return values - design @ coefficients, design.shape[1]


def row_keys(*parts: np.ndarray) -> np.ndarray:
    """Numbers (n,) that are equal for equal rows, and for others with a probability of 2^-64."""
    key = np.zeros(len(parts[0]), np.uint64)
    for part in parts:
        bits = part if part.dtype == np.uint64 else (part + 0.0).view(np.uint64)  # with one zero in place of two
        for column in bits.reshape(len(key), -1).T:
            key = (key ^ column) * np.uint64(0x9E3779B97F4A7C15)
            key ^= key >> np.uint64(29)
    return key


def _location_and_sd(predictions: Any, y: Any) -> tuple[Array, tuple[np.ndarray, np.ndarray] | None]:
    """Return targets as an array, and means and standard deviations (n, d) where the predictions know them."""
    given = as_rows(y, predictions)
    if isinstance(predictions, HasComponents):  # without (n, d, d) where covariances are diagonal
        weights, means, spreads = (_host(part) for part in predictions.components())
        weights, variances = weights[..., None], spreads if spreads.ndim == 3 else np.einsum("nkaa->nka", spreads)
        location = np.sum(weights * means, axis=1)
        sd = np.sqrt(np.sum(weights * (variances + (means - location[:, None, :]) ** 2), axis=1))
    elif isinstance(predictions, HasMoments) and (known := known_moments(predictions, given)) is not None:
        location, sd = _host(known[0]), np.sqrt(diagonals(_host(known[1])))
    else:
        return given, None
    shape = tuple(given.shape)  # of many targets, of which there may be one prediction
    return given, (np.broadcast_to(location, shape), np.broadcast_to(sd, shape))


def _traits(location: np.ndarray, sd: np.ndarray) -> np.ndarray:
    return np.concatenate([location, np.log(sd)], axis=1)


def _host(array: Array) -> np.ndarray:
    return to_numpy(array).astype(np.float64)
