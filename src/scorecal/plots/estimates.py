"""Bias and confidence ratio of each dimension, with their intervals."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..diagnosis import ClassDiagnosis, Diagnosis
from .style import GREY, MAIN, WARN, new_axes, trim


def plot_estimates(diagnosis: Diagnosis, *, ax: Any = None) -> Any:
    """Draw bias and ratio of spreads side by side; intervals that exclude calibration stand out.

    Parameters
    ----------
    diagnosis : Diagnosis
        From `diagnose`.
    ax : two matplotlib axes, optional
        Where to draw; new ones by default. They are returned.
    """
    if isinstance(diagnosis, ClassDiagnosis):
        raise TypeError("`diagnosis` is of classes, which have no spread: use `plot_reliability`.")
    several = len(diagnosis.names) > 1
    names = [*diagnosis.names, *(["overall"] if several else [])]
    left, right = axes = new_axes(ax, 2, sharey=True, figsize=(8, 1.2 + 0.4 * len(names)))
    _intervals(left, [*diagnosis.bias, diagnosis.overall_bias][: len(names)], 0.0, 0.2)
    _intervals(right, [*diagnosis.confidence_ratio, diagnosis.overall_confidence_ratio][: len(names)], 1.0, 0.2)
    for each in axes:
        each.set_yticks(range(len(names)), names)
        each.set_ylim(len(names) - 0.5, -0.5)
    left.set_xlabel("bias [predicted standard deviations]\n← too low | too high →")
    right.set_xlabel("true / claimed spread\n← under-confident | over-confident →")
    return axes


def _intervals(ax: Any, estimates: Sequence[Any], right: float, reach: float) -> None:
    """Draw intervals; the axis reaches at least `reach` to both sides, so that small errors do not look large."""
    ax.axvline(right, color=GREY, linewidth=1)
    ax.plot([right - reach, right + reach], [0, 0], alpha=0.0)
    for row, estimate in enumerate(estimates):
        colour = MAIN if estimate.holds(right) else WARN
        ends = np.array([[estimate.value - estimate.low], [estimate.high - estimate.value]])
        ax.errorbar(estimate.value, row, xerr=ends, fmt="o" if estimate.holds(right) else "D", color=colour, capsize=3)
    trim(ax)
