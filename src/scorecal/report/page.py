"""A report as one self-contained HTML page."""

from collections.abc import Callable, Mapping
from typing import Any

from .._lib.text import html_text
from ..coverage import Coverage
from ..diagnosis import ClassDiagnosis, ClassTolerance, Diagnosis, Tolerance
from ..predictions import Predictions
from ..results import CombinedResult
from .class_sections import class_covariates_part, classes_part, reliability_part
from .sections import (
    coverage_part,
    extremes_part,
    levels_part,
    repeat_part,
    sizes_part,
    test_part,
    verdict_part,
    where_part,
    witness_part,
)
from .style import STYLE

# Styles of the page's own are all that it needs: matplotlib writes them as attributes, for which there are no hashes.
_POLICY = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'"
_NEVER_SEEN = (
    "Dependence between rows that was not declared, as in time series or with several rows of one unit. A warning "
    "comes where their order or equal predictions show it; otherwise, calibrated predictions are rejected too often.",
    "Whether predictions are sharp: wide ones may be calibrated as well.",
)


def report_html(
    result: CombinedResult,
    diagnosis: Diagnosis | ClassDiagnosis,
    *,
    predictions: Predictions | None = None,
    y: Any = None,
    coverage: Coverage | None = None,
    title: str = "Calibration report",
    alpha: float = 0.05,
    tolerance: Tolerance | ClassTolerance | None = None,
    place: Callable[[int], str] = str,
    settings: Mapping[str, Any] | None = None,
) -> str:
    """Return a report as one HTML page, to be opened from disk or sent by mail; it loads nothing, and may not.

    Parameters
    ----------
    result : CombinedResult
        From `calibration_test`.
    diagnosis : Diagnosis or ClassDiagnosis
        From `diagnose`, on the same predictions.
    predictions, y : optional
        The same predictions and targets, for a picture of the Stein witness in one or two dimensions; not for classes.
    coverage : Coverage, optional
        From `expected_coverage`, for a coverage curve.
    title : str
        Title of the page.
    alpha : float
        Level of the test.
    tolerance : Tolerance or ClassTolerance, optional
        Limits of what is good enough, for a verdict of their own.
    place : callable
        From the number of a row to where it is in the reader's data, as text.
    settings : mapping, optional
        What a reader needs to repeat the test, beside versions: file, seed and so on.

    Returns
    -------
    str
        HTML. Names and labels that came with the data stay text.

    Examples
    --------
    >>> import numpy as np, scorecal as sc
    >>> from scorecal.report import report_html
    >>> rng = np.random.default_rng(0)
    >>> mean = rng.normal(size=300)
    >>> predictions, y = sc.Gaussian(mean, 0.7), mean + rng.normal(size=300)
    >>> result, diagnosis = sc.calibration_test(predictions, y, rng=0), sc.diagnose(predictions, y, rng=0)
    >>> html = report_html(result, diagnosis, predictions=predictions, y=y)
    >>> "Calibration is rejected" in html
    True
    """
    unseen = [*result.cannot_see, *_NEVER_SEEN]
    if isinstance(diagnosis, ClassDiagnosis):
        sizes = [*reliability_part(diagnosis), *classes_part(diagnosis), *class_covariates_part(diagnosis)]
    else:
        sizes = [
            *sizes_part(diagnosis),
            *(witness_part(predictions, y) if predictions is not None and y is not None else []),
            *where_part(result, diagnosis, alpha),
            *levels_part(diagnosis),
            *extremes_part(diagnosis, place),
        ]
    parts = [
        *verdict_part(result, diagnosis, alpha, tolerance),
        *sizes,
        *test_part(result, alpha),
        *(coverage_part(coverage) if coverage is not None else []),
        "<h2>What this test cannot see here</h2>",
        f"<ul>{''.join(f'<li>{html_text(what)}</li>' for what in unseen)}</ul>",
        *repeat_part(result, settings),
    ]
    return (
        f'<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}"><title>{html_text(title)}</title>'
        f'<meta name="viewport" content="width=device-width, initial-scale=1"><style>{STYLE}</style></head>'
        f"<body><main><h1>{html_text(title)}</h1>{''.join(parts)}</main></body></html>\n"
    )
