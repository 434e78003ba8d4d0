"""The Stein witness, as a curve or as arrows."""

from typing import Any

import numpy as np

from ..diagnosis.witness import stein_witness
from ..predictions import Predictions
from .style import BAND, GREY, MAIN, new_axes, trim


def plot_witness(predictions: Predictions, y: Any, *, ax: Any = None) -> Any:
    """Draw the witness as a curve for d = 1 and as arrows for d = 2, in predicted standard deviations.

    Parameters
    ----------
    predictions : Predictions
        Of one or two dimensions.
    y : array_like, shape (n, d)
        The targets; 50,000 of them, at random, if there are more.
    ax : matplotlib axes, optional
        Where to draw; new ones by default. They are returned.
    """
    at, mean, error = stein_witness(predictions, y)
    ax = new_axes(ax)
    if at.shape[1] == 1:
        at, mean, error = (part[:, 0] for part in (at, mean, error))
        ax.axhline(0.0, color=GREY, linewidth=1)
        ax.fill_between(at, mean - 2 * error, mean + 2 * error, color=MAIN, alpha=BAND, linewidth=0)
        ax.plot(at, mean, color=MAIN)
        ax.set(xlabel="target, in predicted standard deviations", ylabel="witness (two errors)")
    else:
        clear = np.linalg.norm(mean, axis=1) > 2 * np.linalg.norm(error, axis=1)
        for some, colour in ((~clear, GREY), (clear, MAIN)):
            ax.quiver(*at[some].T, *mean[some].T, color=colour, angles="xy", pivot="mid")
        ax.set(xlabel="first dimension, in predicted standard deviations", ylabel="second dimension", aspect="equal")
    trim(ax)
    return ax
