"""The parts of a report, each a list of pieces of HTML."""

from __future__ import annotations

import platform
from collections.abc import Mapping, Sequence
from html import escape
from typing import Any

import numpy as np
import scipy

from ..coverage import Coverage
from ..diagnosis import Diagnosis
from ..diagnosis.words import sentences_of
from ..plots import plot_contributions, plot_coverage, plot_estimates, plot_null, plot_views, plot_witness
from ..predictions import Predictions
from ..results import CombinedResult
from .pictures import picture


def verdict_part(result: CombinedResult, alpha: float) -> list[str]:
    rejected = result.rejects(alpha)
    verdict = "Calibration is rejected" if rejected else "No evidence against calibration"
    meaning = (
        "The uncertainty that these predictions state cannot be taken at its word."
        if rejected
        else "The uncertainty that these predictions state agrees with what was observed, as far as this test can see."
    )
    return [
        f'<p class="verdict {"bad" if rejected else "good"}"><strong>{verdict}</strong> at level {alpha:g} '
        f"(p = {result.pvalue:.3g}, {result.n} predictions).</p>",
        f"<p>{meaning}</p>",
        f"<p>{escape(result.message)}{'' if alpha == 0.05 else ' (At level 0.05.)'}</p>",
    ]


def sizes_part(diagnosis: Diagnosis) -> list[str]:
    rows = list(zip(diagnosis.names, diagnosis.bias, diagnosis.confidence_ratio, strict=True))
    overall = ("overall", diagnosis.overall_bias, diagnosis.overall_confidence_ratio)
    lines = [*rows, overall] if len(rows) > 1 else rows
    return [
        "<h2>In what way</h2>",
        *(f"<p>{escape(sentence)}</p>" for sentence in sentences_of(diagnosis)),
        picture(
            lambda: plot_estimates(diagnosis, ax=_one_above_the_other(len(lines))),
            f"Bias and true over claimed spread, with {100 * diagnosis.confidence_level:g} % intervals.",
            "; ".join(f"{name}: bias {off}, ratio {ratio}" for name, off, ratio in rows),
        ),
        table(
            ("dimension", "bias [predicted sd]", "true / claimed spread"),
            lines,
        ),
        *_correlations(diagnosis),
    ]


def _one_above_the_other(n_lines: int) -> Any:
    from matplotlib import pyplot as plt

    return plt.subplots(2, 1, layout="constrained", figsize=(5.2, 2.4 + 0.6 * n_lines))[1]


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


def witness_part(predictions: Predictions, y: Any) -> list[str]:
    """For one or two dimensions."""
    if predictions.dim > 2:
        return []
    caption = "Where targets are not where they were expected (the Stein witness). "
    if predictions.dim == 1:
        caption += "All is well where the band holds zero. Above zero there are too few targets further to the right, "
        caption += "below zero further to the left."
    else:
        caption += "Arrows lead from where there are too many targets to where there are too few; clear ones are blue."
    described = f"{'A curve' if predictions.dim == 1 else 'Arrows'} over targets in predicted standard deviations."
    return [picture(lambda: plot_witness(predictions, y), caption, described)]


def where_part(result: CombinedResult, diagnosis: Diagnosis, alpha: float) -> list[str]:
    """Regions, and where the statistic comes from over the covariate that tells most."""
    if not diagnosis.regions:
        return []
    regions = diagnosis.regions
    rows = [(region.name, region.n, f"{region.contrast_pvalue:.3g}", f"{region.pvalue:.3g}") for region in regions]
    head = ("where it differs most", "rows", "p, like the rest", "p, calibrated there")
    parts = ["<h2>Where</h2>"]
    if diagnosis.where is None:
        parts.append("<p>No region clearly differs from the rest.</p>")
    parts.append(table(head, rows))
    name = regions[0].covariate
    # Contributions to a statistic that is hardly more than zero tell nothing.
    if diagnosis.where is not None and result.rejects(alpha) and diagnosis.n == result.n:
        caption = f"Where the statistic comes from, over {name}: the larger, the more rows there are wrong in one way."
        described = f"Bars: mean contribution of rows to the statistic, {result.statistic:.3g} over all rows."
        parts.append(
            picture(lambda: plot_contributions(result, diagnosis.covariates[name], name=name), caption, described)
        )
    return parts


def test_part(result: CombinedResult, alpha: float) -> list[str]:
    views = sorted(result.views, key=lambda view: (view.adjusted_pvalue, view.pvalue))
    return [
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
            [(view.name, view.sees, f"{view.pvalue:.3g}", f"{view.adjusted_pvalue:.3g}") for view in views],
        ),
    ]


def coverage_part(coverage: Coverage) -> list[str]:
    shown = ", ".join(
        f"{100 * coverage.curve(level):.0f} % where it should be {100 * level:.0f} %" for level in (0.5, 0.9)
    )
    caption = f"Targets inside the regions that predictions claim to hold a given share of them: {shown}."
    return ["<h2>Coverage</h2>", picture(lambda: plot_coverage(coverage), caption, f"Targets inside: {shown}.")]


def repeat_part(result: CombinedResult, given: Mapping[str, Any] | None) -> list[str]:
    from .. import __version__

    versions = {"scorecal": __version__, "numpy": np.__version__, "scipy": scipy.__version__}
    settings = {
        **(given or {}),
        "bootstrap draws": result.n_resamples,
        "coordinates": result.coordinates,
        **versions,
        "Python": platform.python_version(),
    }
    return ["<h2>To repeat it</h2>", table(("setting", "value"), list(settings.items()))]


def table(head: Sequence[str], rows: Sequence[Sequence[Any]]) -> str:
    cells = "".join(f'<th scope="col">{escape(name)}</th>' for name in head)
    body = "".join(
        f'<tr><th scope="row">{escape(str(row[0]))}</th>'
        + "".join(f"<td>{escape(str(cell))}</td>" for cell in row[1:])
        + "</tr>"
        for row in rows
    )
    return f'<div class="wide"><table><thead><tr>{cells}</tr></thead><tbody>{body}</tbody></table></div>'
