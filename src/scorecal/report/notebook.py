"""Results as notebooks show them."""

from __future__ import annotations

from html import escape

from ..diagnosis import Diagnosis
from ..results import CalibrationResult, CombinedResult
from .sections import table


def result_html(result: CalibrationResult) -> str:
    if isinstance(result, CombinedResult):
        views = sorted(result.views, key=lambda view: (view.adjusted_pvalue, view.pvalue))
        rows = [(view.name, view.sees, f"{view.pvalue:.3g}", f"{view.adjusted_pvalue:.3g}") for view in views]
        unseen = "".join(f"<p>Cannot see here: {escape(what)}</p>" for what in result.cannot_see)
        return f"<p>{escape(result.message)}</p>{table(('view', 'for', 'p-value', 'adjusted'), rows)}{unseen}"
    facts = [("statistic", f"{result.statistic:.4g}"), ("p-value", f"{result.pvalue:.3g}"), ("n", str(result.n))]
    facts += [(f"bandwidth, {name}", f"{value:.4g}") for name, value in result.bandwidths.items()]
    return table(("calibration test", ""), [*facts, ("coordinates", result.coordinates)])


def diagnosis_html(diagnosis: Diagnosis) -> str:
    rows = [
        *zip(diagnosis.names, diagnosis.bias, diagnosis.confidence_ratio, strict=True),
        ("overall", diagnosis.overall_bias, diagnosis.overall_confidence_ratio),
    ]
    return f"<p>{escape(diagnosis.message)}</p>" + table(("", "bias [predicted sd]", "true / claimed spread"), rows)
