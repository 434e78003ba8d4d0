"""A diagnosis in words and as a table."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from .estimates import Correlation, Estimate

if TYPE_CHECKING:
    from .result import Diagnosis


_NOTHING = "no interval excludes what calibrated predictions would have."


def sentences_of(diagnosis: Diagnosis) -> list[str]:
    """Of what the intervals say that it is not as it should be; first where, since means over all rows may mislead."""
    names = diagnosis.names
    overall = _sizes(names, diagnosis.bias, diagnosis.confidence_ratio, diagnosis.correlations)
    if diagnosis.where is None:
        return overall or [_NOTHING.capitalize()]
    where = diagnosis.where
    inside = _sizes(names, where.bias, where.confidence_ratio, where.correlations) or [_NOTHING]
    outside = _sizes(names, where.rest_bias, where.rest_confidence_ratio, where.rest_correlations) or [_NOTHING]
    return [
        f"Not the same everywhere: look where {where.name} ({where.n} rows, p = {where.contrast_pvalue:.3g}).",
        f"There: {' '.join(inside)}",
        f"Elsewhere: {' '.join(outside)}",
        *(f"Over all rows: {sentence}" for sentence in overall),
    ]


def _sizes(
    names: Sequence[str], bias: Sequence[Estimate], ratios: Sequence[Estimate], pairs: Sequence[Correlation]
) -> list[str]:
    parts = []
    for name, off, ratio in zip(names, bias, ratios, strict=True):
        found = [phrase for phrase in (_bias(off), _ratio(ratio)) if phrase]
        if found:
            parts.append(f"{name}: {' and '.join(found)}.")
    for pair in pairs:
        if not (math.isnan(pair.claimed) or pair.found.holds(pair.claimed)):
            first, second = (names[k] for k in pair.dimensions)
            parts.append(
                f"Errors of {first} and {second} have correlation {pair.found}, where predictions claim "
                f"{pair.claimed:.2f}."
            )
    return parts


def table_of(diagnosis: Diagnosis) -> str:
    percent = f"{100 * diagnosis.confidence_level:g} %"
    rows = [*zip(diagnosis.names, map(str, diagnosis.bias), map(str, diagnosis.confidence_ratio), strict=True)]
    lines = [*sentences_of(diagnosis), ""]
    if len(rows) > 1:
        rows.append(("overall", str(diagnosis.overall_bias), str(diagnosis.overall_confidence_ratio)))
    lines += _columns(("", "bias [predicted sd]", "true / claimed spread"), rows)
    if len(diagnosis.names) > 1:
        weights = ", ".join(f"{weight:.2f}" for weight in diagnosis.worst_direction.weights)
        lines += ["", f"Worst direction ({weights}): true / claimed spread {diagnosis.worst_direction.ratio}"]
    if diagnosis.regions:
        found = [
            (region.name, str(region.n), f"{region.contrast_pvalue:.3g}", f"{region.pvalue:.3g}")
            for region in diagnosis.regions
        ]
        lines += ["", *_columns(("where it differs most", "rows", "p, like the rest", "p, calibrated there"), found)]
    lines += ["", f"{percent} intervals in brackets; {diagnosis.n} rows; from {diagnosis.source}."]
    return "\n".join(lines)


def _columns(head: tuple[str, ...], rows: Sequence[tuple[str, ...]]) -> list[str]:
    widths = [max(len(row[k]) for row in (head, *rows)) for k in range(len(head))]
    return [
        "  ".join(f"{cell:{width}}" for cell, width in zip(row, widths, strict=True)).rstrip() for row in (head, *rows)
    ]


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
