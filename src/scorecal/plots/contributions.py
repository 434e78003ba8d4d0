"""Which rows the statistic comes from, over anything that orders them."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..results import CalibrationResult
from .style import GREY, MAIN, WARN, new_axes, trim

__all__ = ["plot_contributions"]

_N_BINS = 20


def plot_contributions(result: CalibrationResult, over: Any, *, name: str = "", ax: Any = None) -> Any:
    """Share of the statistic by groups of rows, in order of a covariate.

    Parameters
    ----------
    result : CalibrationResult
        Of any test.
    over : array_like, shape (n,)
        A number for each row, such as an input or the predicted mean.
    name : str
        Of that number.
    ax : matplotlib axes, optional

    Returns
    -------
    matplotlib axes
    """
    over = np.asarray(over, dtype=float)
    if over.shape != (result.n,) or not np.all(np.isfinite(over)):
        raise ValueError(f"`over` must be {result.n} finite numbers, one for each row, but has shape {over.shape}.")
    ax = new_axes(ax)
    edges = np.unique(np.quantile(over, np.linspace(0.0, 1.0, min(_N_BINS, result.n) + 1)))
    if len(edges) < 2:
        raise ValueError("`over` is the same for all rows, so that there is nothing to tell them by.")
    bins = np.clip(np.searchsorted(edges, over, side="right") - 1, 0, len(edges) - 2)
    shares = np.bincount(bins, result.contributions, minlength=len(edges) - 1)
    rows = np.maximum(np.bincount(bins, minlength=len(edges) - 1), 1)
    height = shares / rows * result.n  # a mean over the rows is the statistic
    ax.bar(edges[:-1], height, np.diff(edges), align="edge", color=np.where(height > 0, WARN, MAIN), alpha=0.8)
    ax.axhline(result.statistic, color=GREY, linestyle="--", label="mean over all rows")
    ax.set(xlabel=name, ylabel="contribution to the statistic")
    ax.legend(frameon=False)
    trim(ax)
    return ax
