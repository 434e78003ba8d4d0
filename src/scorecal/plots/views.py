"""P-values of the views of `calibration_test`."""

from typing import Any

from ..results import CombinedResult
from .style import GREY, MAIN, WARN, new_axes, trim


def plot_views(result: CombinedResult, *, alpha: float = 0.05, ax: Any = None) -> Any:
    """Draw the adjusted p-values of the views, the smallest, which is the p-value of the test, on top.

    Parameters
    ----------
    result : CombinedResult
        From `calibration_test`.
    alpha : float
        Level at which to draw a line.
    ax : matplotlib axes, optional
        Where to draw; new ones by default. They are returned.
    """
    ax = new_axes(ax, figsize=(6, 1.0 + 0.28 * len(result.views)))
    views = sorted(result.views, key=lambda view: (view.adjusted_pvalue, view.pvalue))
    for row, view in enumerate(views):
        clear = view.adjusted_pvalue <= alpha
        ax.plot(view.adjusted_pvalue, row, "D" if clear else "o", color=WARN if clear else MAIN)
    ax.axvline(alpha, color=GREY, linestyle="--", label=f"level {alpha:g}")
    ax.set_xscale("log")
    ax.xaxis.set_major_formatter("{x:g}")
    ax.set_xlim(0.5 / (result.n_resamples + 1), 2.0)
    ax.set_yticks(range(len(views)), [view.name for view in views])
    ax.invert_yaxis()
    ax.set_xlabel("adjusted p-value")
    ax.legend(frameon=False)
    trim(ax)
    return ax
