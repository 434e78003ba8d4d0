"""Results as notebooks show them."""

from .._lib.tables import table
from .._lib.text import html_text
from ..diagnosis import Diagnosis
from ..diagnosis.words import sizes_table
from ..results import CalibrationResult, CombinedResult


def result_html(result: CalibrationResult) -> str:
    """A result as HTML: message, views and what cannot be seen, or the facts of a single statistic."""
    if isinstance(result, CombinedResult):
        unseen = "".join(f"<p>Cannot see here: {html_text(what)}</p>" for what in result.cannot_see)
        return f"<p>{html_text(result.message)}</p>{result.table().html()}{unseen}"
    facts = [("statistic", f"{result.statistic:.4g}"), ("p-value", f"{result.pvalue:.3g}"), ("n", result.n)]
    facts += [(f"bandwidth, {name}", f"{value:.4g}") for name, value in result.bandwidths.items()]
    return table(("calibration test", ""), [*facts, ("coordinates", result.coordinates)]).html()


def diagnosis_html(diagnosis: Diagnosis) -> str:
    """A diagnosis as HTML: its sentences and the sizes of what is wrong."""
    return f"<p>{html_text(diagnosis.message)}</p>{sizes_table(diagnosis).html()}"
