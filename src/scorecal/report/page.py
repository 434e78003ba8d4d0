"""One self-contained HTML page: verdict, pictures, views, sizes, what cannot be seen, and how to repeat it."""

from __future__ import annotations

import platform
from collections.abc import Mapping, Sequence
from html import escape
from typing import Any

import numpy as np
import scipy

from ..coverage import Coverage
from ..diagnosis import Diagnosis
from ..plots import plot_coverage, plot_estimates, plot_null, plot_views
from ..results import CombinedResult
from .pictures import picture
from .style import STYLE

__all__ = ["report_html", "table"]


def report_html(
    result: CombinedResult,
    diagnosis: Diagnosis,
    *,
    coverage: Coverage | None = None,
    title: str = "Calibration report",
    alpha: float = 0.05,
    settings: Mapping[str, Any] | None = None,
) -> str:
    """A page with nothing outside itself, to be opened from disk or sent by mail.

    Parameters
    ----------
    result : CombinedResult
        From `calibration_test`.
    diagnosis : Diagnosis
        From `diagnose`, on the same predictions.
    coverage : Coverage, optional
        From `expected_coverage`, for a coverage curve.
    title : str
        Of the page.
    alpha : float
        Level of the test.
    settings : mapping, optional
        What the reader should know to repeat it, beside versions: file, seed and the like.

    Returns
    -------
    str
        HTML. Names and labels that came with the data stay text.
    """
    rejected = result.rejects(alpha)
    verdict = "Calibration is rejected" if rejected else "No evidence against calibration"
    parts = [
        f'<p class="verdict {"bad" if rejected else "good"}"><strong>{verdict}</strong> at level {alpha:g} '
        f"(p = {result.pvalue:.3g}, {result.n} predictions).</p>",
        f"<p>{escape(result.message)}{'' if alpha == 0.05 else ' (At level 0.05.)'}</p>",
        "<h2>In what way</h2>",
        f"<p>{escape(diagnosis.message)}</p>",
        picture(
            lambda: plot_estimates(diagnosis),
            f"Bias and true over claimed spread, with {100 * diagnosis.confidence_level:g} % intervals.",
            _described(diagnosis),
        ),
        table(
            ("dimension", "bias [predicted sd]", "true / claimed spread"),
            [
                *zip(diagnosis.names, diagnosis.bias, diagnosis.confidence_ratio, strict=True),
                ("overall", diagnosis.overall_bias, diagnosis.overall_confidence_ratio),
            ],
        ),
        *_correlations(diagnosis),
        *_regions(diagnosis),
        "<h2>The test</h2>",
        picture(
            lambda: plot_null(result, alpha=alpha),
            "The statistic among draws of what it would be for calibrated predictions.",
            f"Histogram of {result.n_resamples} bootstrap draws; the statistic is at {result.statistic:.3g}, and the "
            f"p-value {result.pvalue:.3g}.",
        ),
        picture(
            lambda: plot_views(result, alpha=alpha),
            "What each view saw: p-values adjusted for having looked at all of them.",
            "; ".join(f"{view.name}: {view.adjusted_pvalue:.3g}" for view in result.views),
        ),
        table(
            ("view", "for", "p-value", "adjusted"),
            [
                (view.name, view.sees, f"{view.pvalue:.3g}", f"{view.adjusted_pvalue:.3g}")
                for view in sorted(result.views, key=lambda view: (view.adjusted_pvalue, view.pvalue))
            ],
        ),
    ]
    if coverage is not None:
        shown = ", ".join(f"{100 * coverage.curve(level):.0f} % for {100 * level:.0f} %" for level in (0.5, 0.9))
        parts += [
            "<h2>Coverage</h2>",
            picture(
                lambda: plot_coverage(coverage), "Targets inside highest-density regions.", f"Targets inside: {shown}."
            ),
        ]
    parts += ["<h2>What this test cannot see here</h2>", _list(result.cannot_see)]
    parts += ["<h2>To repeat it</h2>", table(("setting", "value"), list(_settings(result, settings).items()))]
    return (
        f'<!doctype html>\n<html lang="en"><head><meta charset="utf-8"><title>{escape(title)}</title>'
        f'<meta name="viewport" content="width=device-width, initial-scale=1"><style>{STYLE}</style></head>'
        f"<body><main><h1>{escape(title)}</h1>{''.join(parts)}</main></body></html>\n"
    )


def _described(diagnosis: Diagnosis) -> str:
    rows = zip(diagnosis.names, diagnosis.bias, diagnosis.confidence_ratio, strict=True)
    return "; ".join(f"{name}: bias {off}, ratio {ratio}" for name, off, ratio in rows)


def _correlations(diagnosis: Diagnosis) -> list[str]:
    if not diagnosis.correlations:
        return []
    rows = [
        (" and ".join(diagnosis.names[k] for k in pair.dimensions), f"{pair.claimed:.2f}", pair.found)
        for pair in diagnosis.correlations
    ]
    weights = ", ".join(f"{weight:.2f}" for weight in diagnosis.worst_direction.weights)
    worst = f"Worst direction ({weights}): true / claimed spread {diagnosis.worst_direction.ratio}."
    return [table(("errors of", "correlation claimed", "found"), rows), f"<p>{escape(worst)}</p>"]


def _regions(diagnosis: Diagnosis) -> list[str]:
    if not diagnosis.regions:
        return []
    rows = [
        (region.name, region.n, f"{region.contrast_pvalue:.3g}", f"{region.pvalue:.3g}") for region in diagnosis.regions
    ]
    head = ("where it differs most", "rows", "p, no different from the rest", "p, nothing wrong there")
    return ["<h2>Where</h2>", table(head, rows)]


def _settings(result: CombinedResult, given: Mapping[str, Any] | None) -> dict[str, Any]:
    from .. import __version__

    versions = {"scorecal": __version__, "numpy": np.__version__, "scipy": scipy.__version__}
    return {
        **(given or {}),
        "bootstrap draws": result.n_resamples,
        "coordinates": result.coordinates,
        **versions,
        "Python": platform.python_version(),
    }


def table(head: Sequence[str], rows: Sequence[Sequence[Any]]) -> str:
    cells = "".join(f'<th scope="col">{escape(name)}</th>' for name in head)
    body = "".join(
        f'<tr><th scope="row">{escape(str(row[0]))}</th>'
        + "".join(f"<td>{escape(str(cell))}</td>" for cell in row[1:])
        + "</tr>"
        for row in rows
    )
    return f'<div class="wide"><table><thead><tr>{cells}</tr></thead><tbody>{body}</tbody></table></div>'


def _list(items: Sequence[str]) -> str:
    items = items or ("Nothing that we know of, beyond chance.",)
    return "<ul>" + "".join(f"<li>{escape(item)}</li>" for item in items) + "</ul>"
