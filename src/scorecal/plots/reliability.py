"""How often the most probable class is right, against its probability."""

from typing import Any

import numpy as np

from ..diagnosis import ClassDiagnosis
from .style import BAND, GREY, MAIN, WARN, new_axes, trim


def plot_reliability(diagnosis: ClassDiagnosis, *, ax: Any = None) -> Any:
    """Draw the reliability diagram; bins whose interval excludes what they claim stand out.

    Parameters
    ----------
    diagnosis : ClassDiagnosis
        From `diagnose`, of predictions of classes.
    ax : matplotlib axes, optional
        Where to draw; new ones by default. They are returned. Grey bars show the shares of the rows, on the same scale.
    """
    ax = new_axes(ax)
    ax.plot([0, 1], [0, 1], color=GREY, linestyle="--", label="calibrated")
    for each in diagnosis.bins:
        right = each.found.holds(each.claimed)
        ends = np.array([[each.found.value - each.found.low], [each.found.high - each.found.value]])
        style = {"fmt": "o" if right else "D", "color": MAIN if right else WARN, "capsize": 3}
        ax.errorbar(each.claimed, each.found.value, yerr=ends, **style)
        width = max(each.high - each.low, 0.005)
        ax.bar(each.low, each.n / diagnosis.n, width, align="edge", color=GREY, alpha=BAND, linewidth=0)
    ax.set(
        xlabel="largest probability, claimed", ylabel="share that is right", aspect="equal", xlim=(0, 1), ylim=(0, 1)
    )
    ax.legend(frameon=False)
    trim(ax)
    return ax
