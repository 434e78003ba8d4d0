"""The statistic among its null draws."""

from typing import Any

from ..results import CalibrationResult
from .style import GREY, MAIN, WARN, new_axes, trim


def plot_null(result: CalibrationResult, *, alpha: float = 0.05, ax: Any = None) -> Any:
    """Draw a histogram of the null distribution, with the statistic and the critical value.

    Parameters
    ----------
    result : CalibrationResult
        Result of any test.
    alpha : float
        Level of the critical value.
    ax : matplotlib axes, optional
        Where to draw; new ones by default. They are returned.
    """
    ax = new_axes(ax)
    rejected = result.rejects(alpha)
    ax.hist(result.null_distribution, bins="auto", color=GREY, alpha=0.5, label="if calibrated")
    critical = result.critical_value(alpha)
    if abs(critical) != float("inf"):
        ax.axvline(critical, color=GREY, linestyle="--", label=f"critical value, level {alpha:g}")
    ax.axvline(result.statistic, color=WARN if rejected else MAIN, linewidth=2.5, label=f"p = {result.pvalue:.3g}")
    ax.set_xlabel("statistic")
    ax.set_ylabel("bootstrap draws")
    ax.set_title(f"Calibration {'rejected' if rejected else 'not rejected'} at level {alpha:g}")
    ax.legend(frameon=False)
    trim(ax)
    return ax
