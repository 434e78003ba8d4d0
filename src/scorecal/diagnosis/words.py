"""A diagnosis in sentences and tables."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from .._lib.tables import Table, table
from .._lib.text import visible
from ..resampling.clusters import FEWEST_CLUSTERS
from .estimates import Correlation, Estimate

if TYPE_CHECKING:
    from .result import Diagnosis


_NOTHING = "no bias or wrong spread found."


def sentences_of(diagnosis: Diagnosis) -> list[str]:
    """Sentences on errors that are clear, a line each; the region first, since means over all rows may mislead."""
    return [visible(sentence) for sentence in _sentences(diagnosis)]


def _sentences(diagnosis: Diagnosis) -> list[str]:
    names = diagnosis.names
    overall = _sizes(names, diagnosis.bias, diagnosis.confidence_ratio, diagnosis.correlations)
    if diagnosis.n_clusters < FEWEST_CLUSTERS:
        overall = [*(overall or [_NOTHING.capitalize()]), f"{_rows(diagnosis)} only: intervals are rough."]
    if diagnosis.where is None:
        return overall or [_NOTHING.capitalize()]
    where = diagnosis.where
    inside = _sizes(names, where.bias, where.confidence_ratio, where.correlations) or [_NOTHING]
    outside = _sizes(names, where.rest_bias, where.rest_confidence_ratio, where.rest_correlations) or [_NOTHING]
    return [
        f"Errors differ between regions, most where {where.name} ({where.n} rows, p = {where.contrast_pvalue:.3g}).",
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


def sizes_table(diagnosis: Diagnosis) -> Table:
    """Bias and ratio of spreads of each dimension and, of several, over all."""
    rows = [*zip(diagnosis.names, diagnosis.bias, diagnosis.confidence_ratio, strict=True)]
    if len(rows) > 1:
        rows.append(("overall", diagnosis.overall_bias, diagnosis.overall_confidence_ratio))
    return table(("dimension", "bias [predicted sd]", "true / claimed spread"), rows)


def correlations_table(diagnosis: Diagnosis) -> Table:
    """Claimed and true correlations of the errors in every two dimensions."""
    names = [" and ".join(diagnosis.names[k] for k in pair.dimensions) for pair in diagnosis.correlations]
    rows = [(name, f"{pair.claimed:.2f}", pair.found) for name, pair in zip(names, diagnosis.correlations, strict=True)]
    return table(("errors of", "correlation claimed", "found"), rows)


def regions_table(diagnosis: Diagnosis) -> Table:
    """The region of each covariate that differs most from the rest."""
    head = ("where it differs most", "rows", "p, like the rest", "p, calibrated there")
    return table(head, [(each.name, each.n, each.contrast_pvalue, each.pvalue) for each in diagnosis.regions])


def worst_direction_sentence(diagnosis: Diagnosis) -> str:
    """The direction along which the spread is most wrong, in words."""
    weights = ", ".join(f"{weight:.2f}" for weight in diagnosis.worst_direction.weights)
    return f"Worst direction ({weights}): true / claimed spread {diagnosis.worst_direction.ratio}."


def text_of(diagnosis: Diagnosis) -> str:
    """The whole diagnosis as text: sentences, then tables."""
    parts = ["\n".join(sentences_of(diagnosis)), sizes_table(diagnosis).text()]
    if len(diagnosis.names) > 1:
        parts.append(worst_direction_sentence(diagnosis))
    if diagnosis.regions:
        parts.append(regions_table(diagnosis).text())
    level = f"{100 * diagnosis.confidence_level:g} %"
    rows = _rows(diagnosis)
    return "\n\n".join([*parts, f"{level} intervals in brackets; {rows}; from {diagnosis.source}."])


def _rows(diagnosis: Diagnosis) -> str:
    independent = f", in {diagnosis.n_clusters} groups or blocks" if diagnosis.n_clusters < diagnosis.n else ""
    return f"{diagnosis.n} rows{independent}"


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
