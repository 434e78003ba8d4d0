"""Results as notebooks show them."""

from .._lib.tables import table
from .._lib.text import html_text
from ..diagnosis import ClassDiagnosis, Diagnosis, class_words
from ..diagnosis.words import extremes_matter, extremes_table, levels_table, sizes_table
from ..results import CalibrationResult, CombinedResult


def result_html(result: CalibrationResult) -> str:
    """A result as HTML: message, views and what cannot be seen, or the facts of a single statistic."""
    noticed = warnings_html(result)
    if isinstance(result, CombinedResult):
        unseen = "".join(f"<p>Cannot see here: {html_text(what)}</p>" for what in result.cannot_see)
        shown = f"<p>{html_text(result.message)}</p>{noticed}{result.table().html()}{unseen}"
        return f"{shown}<p>{html_text(result.null_sentence)}</p>"
    facts = [("statistic", f"{result.statistic:.4g}"), ("p-value", _with_error(result)), ("n", result.n)]
    facts += [(f"bandwidth, {name}", f"{value:.4g}") for name, value in result.bandwidths.items()]
    facts += [("coordinates", result.coordinates), ("null distribution", result.null)]
    return noticed + table(("calibration test", ""), facts).html()


def warnings_html(result: CalibrationResult) -> str:
    """The warnings of a result as paragraphs of HTML."""
    return "".join(
        f'<p class="warning"><strong>Warning:</strong> {html_text(sentence)}</p>' for sentence in result.warnings
    )


def _with_error(result: CalibrationResult) -> str:
    error = f" (Monte Carlo error {result.pvalue_error:.2g})" if result.pvalue_error else ""
    return f"{result.pvalue:.3g}{error}"


def diagnosis_html(diagnosis: Diagnosis) -> str:
    """A diagnosis as HTML: its sentences, the sizes of what is wrong, level by level, and rows that are too far."""
    tables = [sizes_table(diagnosis), *([levels_table(diagnosis)] if diagnosis.levels else [])]
    tables += [extremes_table(diagnosis)] if extremes_matter(diagnosis) else []
    return f"<p>{html_text(diagnosis.message)}</p>{''.join(each.html() for each in tables)}"


def class_diagnosis_html(diagnosis: ClassDiagnosis) -> str:
    """A diagnosis of classes as HTML: its sentences, and the tables of bins, classes and levels."""
    tables = [class_words.reliability_table(diagnosis), class_words.classes_table(diagnosis)]
    tables += [class_words.levels_table(diagnosis)] if diagnosis.levels else []
    lines = "".join(f"<p>{html_text(line)}</p>" for line in (diagnosis.message, *class_words.summary_of(diagnosis)))
    return f"{lines}{''.join(each.html() for each in tables)}"
