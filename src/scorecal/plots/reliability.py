"""How often the most probable class is right, against its probability."""

from typing import Any

import numpy as np

from ..diagnosis import ClassDiagnosis
from .style import BAND, GREY, MAIN, WARN, new_axes, trim

_NARROWEST, _HIGHEST = 0.005, 0.3  # of the grey bars


def plot_reliability(diagnosis: ClassDiagnosis, *, ax: Any = None) -> Any:
    """Draw the reliability diagram; bins whose interval excludes what they claim stand out.

    Parameters
    ----------
    diagnosis : ClassDiagnosis
        From `diagnose`, of predictions of classes.
    ax : matplotlib axes, optional
        Where to draw; new ones by default. They are returned. Grey bars show where the rows are, by their areas.
    """
    if not isinstance(diagnosis, ClassDiagnosis):
        raise TypeError(
            "`diagnosis` must be that of predictions of classes, a `ClassDiagnosis`, but is a "
            f"{type(diagnosis).__name__}. For others draw `diagnosis.plot()`, or `sc.expected_coverage`."
        )
    ax = new_axes(ax)
    ax.plot([0, 1], [0, 1], color=GREY, linestyle="--", label="calibrated")
    widths = [max(each.high - each.low, _NARROWEST) for each in diagnosis.bins]
    heights = np.array([each.n for each in diagnosis.bins]) / widths
    ax.bar(
        [each.low for each in diagnosis.bins],
        _HIGHEST * heights / np.max(heights),
        widths,
        align="edge",
        color=GREY,
        alpha=BAND,
        linewidth=0,
    )
    for each in diagnosis.bins:
        right = each.found.holds(each.claimed)
        ends = np.array([[each.found.value - each.found.low], [each.found.high - each.found.value]])
        style = {"fmt": "o" if right else "D", "color": MAIN if right else WARN, "capsize": 3, "clip_on": False}
        ax.errorbar(each.claimed, each.found.value, yerr=ends, **style)
    ax.set(
        xlabel="largest probability, claimed", ylabel="share that is right", aspect="equal", xlim=(0, 1), ylim=(0, 1)
    )
    ax.legend(frameon=False)
    trim(ax)
    return ax
