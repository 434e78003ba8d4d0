"""Share of targets inside highest-density regions, against what the regions claim."""

from typing import Any

import numpy as np

from ..coverage import Coverage
from .style import BAND, GREY, MAIN, new_axes, trim


def plot_coverage(coverage: Coverage, *, confidence: float = 0.95, ax: Any = None) -> Any:
    """Draw the coverage curve with a band that holds the whole true curve.

    Parameters
    ----------
    coverage : Coverage
        From `expected_coverage`.
    confidence : float
        Confidence level of the band.
    ax : matplotlib axes, optional
        Where to draw; new ones by default. They are returned.
    """
    ax = new_axes(ax)
    nominal = np.linspace(0.0, 1.0, 201)
    ax.plot([0, 1], [0, 1], color=GREY, linestyle="--", label="calibrated")
    ax.fill_between(nominal, *coverage.band(nominal, confidence), color=MAIN, alpha=BAND, linewidth=0)
    ax.plot(nominal, coverage.curve(nominal), color=MAIN, label=f"found, with a {100 * confidence:g} % band")
    ax.set(xlabel="claimed coverage", ylabel="targets inside", aspect="equal", xlim=(0, 1), ylim=(0, 1))
    ax.legend(frameon=False)
    trim(ax)
    return ax
