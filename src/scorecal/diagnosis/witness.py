r"""The Stein witness: a function that shows where targets lie that predictions did not expect.

    w(z) = mean_j [ l(z, z_j) s_j + grad_{z_j} l(z, z_j) ],

with targets z_j and scores s_j whitened by their own predictions, is zero on average if these are calibrated. It is the
test function that tells predictions and targets apart best, and points from where there are too many targets to where
there are too few.
"""

from typing import Any, NamedTuple

import numpy as np

from .._lib.arrays import to_numpy
from ..coordinates.normal_scores import in_normal_scores
from ..predictions import AnyPredictions, check_predictions
from ..views.frame import frame_of

_REACH, _WIDTH, _N_CURVE, _N_ARROWS = 3.5, 0.7, 141, 17
_MOST_ROWS = 50_000
_SEED = 0  # of uniform draws where a distribution function jumps


class Witness(NamedTuple):
    """The witness at points (m, d), in predicted standard deviations, and its standard error."""

    at: np.ndarray
    mean: np.ndarray
    error: np.ndarray


def witness(z: np.ndarray, scores: np.ndarray, at: np.ndarray, width: float = _WIDTH) -> tuple[np.ndarray, np.ndarray]:
    """Mean and standard error (m, d) of the witness at points (m, d), from whitened targets and scores (n, d)."""
    means, errors = [], []
    for point in at:
        gap = point - z
        kernel = np.exp(-0.5 * np.sum(gap**2, axis=1, keepdims=True) / width**2)
        values = kernel * (scores + gap / width**2)
        means.append(np.mean(values, axis=0))
        errors.append(np.std(values, axis=0) / len(z) ** 0.5)
    return np.stack(means), np.stack(errors)


def stein_witness(predictions: AnyPredictions, y: Any) -> Witness:
    """Witness of predictions in one or two dimensions, along a line or on a grid.

    Of more than 50,000 targets, as many are drawn at random: enough for a picture.
    """
    predictions, y = in_normal_scores(predictions, y, np.random.default_rng(_SEED))
    check_predictions("predictions", predictions)
    if predictions.dim > 2:
        raise ValueError(
            f"The witness can be drawn for one or two dimensions, but `predictions` have {predictions.dim}."
        )
    frame = frame_of(predictions, y, 0.0)
    z, scores = (to_numpy(part[0, ...]).astype(float) for part in frame.whitened)
    kept = np.flatnonzero(~frame.whitening.unfitted)
    if len(kept) > _MOST_ROWS:
        kept = np.random.default_rng(0).choice(kept, _MOST_ROWS, replace=False)
    line = np.linspace(-_REACH, _REACH, _N_CURVE if predictions.dim == 1 else _N_ARROWS)
    at = np.stack(np.meshgrid(*[line] * predictions.dim), axis=-1).reshape(-1, predictions.dim)
    return Witness(at, *witness(z[kept], scores[kept], at))
