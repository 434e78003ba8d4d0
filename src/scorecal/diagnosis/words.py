"""A diagnosis in words and as a table."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from .estimates import Estimate

if TYPE_CHECKING:
    from .result import Diagnosis

__all__ = ["sentences_of", "table_of"]


def sentences_of(diagnosis: Diagnosis) -> list[str]:
    """Of what the intervals say that it is not as it should be."""
    parts = []
    for name, off, ratio in zip(diagnosis.names, diagnosis.bias, diagnosis.confidence_ratio, strict=True):
        found = [phrase for phrase in (_bias(off), _ratio(ratio)) if phrase]
        if found:
            parts.append(f"{name}: {' and '.join(found)}.")
    for pair in diagnosis.correlations:
        if not (math.isnan(pair.claimed) or pair.found.holds(pair.claimed)):
            first, second = (diagnosis.names[k] for k in pair.dimensions)
            parts.append(
                f"Errors of {first} and {second} have correlation {pair.found}, where predictions claim "
                f"{pair.claimed:.2f}."
            )
    if diagnosis.where is not None:
        parts.append(
            f"Not the same everywhere: look where {diagnosis.where.name} (p = {diagnosis.where.contrast_pvalue:.3g})."
        )
    return parts or ["No interval excludes what calibrated predictions would have."]


def table_of(diagnosis: Diagnosis) -> str:
    percent = f"{100 * diagnosis.confidence_level:g} %"
    rows = [
        *zip(diagnosis.names, map(str, diagnosis.bias), map(str, diagnosis.confidence_ratio), strict=True),
        ("overall", str(diagnosis.overall_bias), str(diagnosis.overall_confidence_ratio)),
    ]
    head = ("", "bias [predicted sd]", "true / claimed spread")
    widths = [max(len(row[k]) for row in [head, *rows]) for k in range(3)]
    lines = [*sentences_of(diagnosis), ""]
    lines += [
        "  ".join(f"{cell:{width}}" for cell, width in zip(row, widths, strict=True)).rstrip() for row in (head, *rows)
    ]
    if len(diagnosis.names) > 1:
        weights = ", ".join(f"{weight:.2f}" for weight in diagnosis.worst_direction.weights)
        lines += ["", f"Worst direction ({weights}): true / claimed spread {diagnosis.worst_direction.ratio}"]
    if diagnosis.regions:
        lines += [
            "",
            "Where it differs most from the rest; p-values that it does not, and that nothing is wrong there:",
        ]
        lines += [
            f"  {region.name} ({region.n} rows): {region.contrast_pvalue:.3g}, {region.pvalue:.3g}"
            for region in diagnosis.regions
        ]
    lines += ["", f"{percent} intervals in brackets; {diagnosis.n} rows; from {diagnosis.source}."]
    return "\n".join(lines)


def _bias(off: Estimate) -> str:
    if off.holds(0.0):
        return ""
    ends = sorted(np.abs([off.low, off.high]))
    size = f"{abs(off.value):.2f} sd ({ends[0]:.2f} to {ends[1]:.2f})"
    return f"predictions are too {'high' if off.value > 0 else 'low'} by {size}"


def _ratio(ratio: Estimate) -> str:
    if ratio.holds(1.0):
        return ""
    return f"{'over' if ratio.value > 1 else 'under'}-confident, the true spread being {ratio} times the claimed one"
