r"""The Stein witness: where targets are, in units of their predictions, that predictions did not expect.

    w(z) = mean_j [ l(z, z_j) s_j + grad_{z_j} l(z, z_j) ],

with targets z_j and scores s_j whitened by their own predictions, is zero on average if these are calibrated. It is the
test function that tells predictions and targets apart best, and points from where there are too many targets to where
there are too few.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .._lib.arrays import to_numpy
from .._pipeline import as_generator, as_targets
from ..predictions import Predictions
from ..views.frame import space_of
from .style import BAND, GREY, MAIN, new_axes, trim

__all__ = ["plot_witness", "witness"]

_REACH, _WIDTH, _N_CURVE, _N_ARROWS = 3.5, 0.7, 141, 17
_MOST_ROWS = 50_000


def witness(z: np.ndarray, scores: np.ndarray, at: np.ndarray, width: float = _WIDTH) -> tuple[np.ndarray, np.ndarray]:
    """Of whitened targets and scores (n, d) at points (m, d): the mean over targets and its standard error, (m, d)."""
    means, errors = [], []
    for point in at:
        gap = point - z
        kernel = np.exp(-0.5 * np.sum(gap**2, axis=1, keepdims=True) / width**2)
        values = kernel * (scores + gap / width**2)
        means.append(np.mean(values, axis=0))
        errors.append(np.std(values, axis=0) / len(z) ** 0.5)
    return np.stack(means), np.stack(errors)


def plot_witness(predictions: Predictions, y: Any, *, ax: Any = None) -> Any:
    """The witness as a curve for d = 1 and as arrows for d = 2, in predicted standard deviations.

    Parameters
    ----------
    predictions : Predictions
        Of one or two dimensions.
    y : array_like, shape (n, d)
        The targets; 50,000 of them, at random, if there are more.
    ax : matplotlib axes, optional

    Returns
    -------
    matplotlib axes
    """
    targets = as_targets(y, predictions)
    if predictions.dim > 2:
        raise ValueError(
            f"The witness can be drawn for one or two dimensions, but `predictions` have {predictions.dim}."
        )
    space = space_of(predictions, targets, 0.0, as_generator(0))
    z, scores = (to_numpy(part[0, ...]).astype(float) for part in space.whitened)
    kept = np.flatnonzero(~space.whitening.unfitted)
    if len(kept) > _MOST_ROWS:  # enough for a picture
        kept = np.random.default_rng(0).choice(kept, _MOST_ROWS, replace=False)
    ax = new_axes(ax)
    if predictions.dim == 1:
        at = np.linspace(-_REACH, _REACH, _N_CURVE)
        mean, error = (part[:, 0] for part in witness(z[kept], scores[kept], at[:, None]))
        ax.axhline(0.0, color=GREY, linewidth=1)
        ax.fill_between(at, mean - 2 * error, mean + 2 * error, color=MAIN, alpha=BAND, linewidth=0)
        ax.plot(at, mean, color=MAIN)
        ax.set(xlabel="target, in predicted standard deviations", ylabel="witness (two errors)")
    else:
        line = np.linspace(-_REACH, _REACH, _N_ARROWS)
        at = np.stack(np.meshgrid(line, line), axis=-1).reshape(-1, 2)
        mean, error = witness(z[kept], scores[kept], at)
        clear = np.linalg.norm(mean, axis=1) > 2 * np.linalg.norm(error, axis=1)
        for some, colour in ((~clear, GREY), (clear, MAIN)):
            ax.quiver(*at[some].T, *mean[some].T, color=colour, angles="xy", pivot="mid")
        ax.set(xlabel="first dimension, in predicted standard deviations", ylabel="second dimension", aspect="equal")
    trim(ax)
    return ax
