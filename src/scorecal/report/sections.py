"""The parts of a report, each a list of pieces of HTML."""

import platform
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import scipy

from .._lib.tables import table
from .._lib.text import html_text
from ..coverage import Coverage
from ..diagnosis import Diagnosis, words
from ..plots import plot_contributions, plot_coverage, plot_estimates, plot_null, plot_views, plot_witness
from ..predictions import Predictions
from ..results import CombinedResult
from .notebook import warnings_html
from .pictures import picture


def verdict_part(result: CombinedResult, diagnosis: Any, alpha: float, tolerance: Any) -> list[str]:
    """The verdict, whether it is good enough, what may make it wrong, its meaning, words and the null distribution."""
    rejected = result.rejects(alpha)
    verdict = "Calibration is rejected" if rejected else "No evidence against calibration"
    meaning = (
        "These predictions cannot be taken at their word."
        if rejected
        else "The uncertainty that these predictions state agrees with what was observed, as far as this test can see."
    )
    return [
        f'<p class="verdict {"bad" if rejected else "good"}"><strong>{verdict}</strong> at level {alpha:g} '
        f"(p = {result.pvalue:.3g}, {result.n} predictions).</p>",
        *([] if tolerance is None else _tolerance_part(diagnosis, tolerance)),
        warnings_html(result),
        f"<p>{meaning}</p>",
        f"<p>{html_text(words.seen_at(result, alpha))}</p>",
        f"<p>{html_text(result.null_sentence)}</p>",
    ]


def _tolerance_part(diagnosis: Any, tolerance: Any) -> list[str]:
    colour = "good" if tolerance.verdict(diagnosis) else "bad"
    return [f'<p class="verdict {colour}">{html_text(tolerance.sentence(diagnosis))}</p>']


def sizes_part(diagnosis: Diagnosis) -> list[str]:
    """Sizes of what is wrong: sentences, picture and tables."""
    shown = words.sizes_table(diagnosis)
    parts = [
        "<h2>In what way</h2>",
        *(f"<p>{html_text(sentence)}</p>" for sentence in words.below_the_verdict(diagnosis)),
        picture(
            lambda: plot_estimates(diagnosis, ax=_one_above_the_other(len(shown.rows))),
            f"Bias and true over claimed spread, with {words.intervals_in_words(diagnosis)}.",
            "; ".join(f"{name}: bias {off}, ratio {ratio}" for name, off, ratio in shown.rows),
        ),
        shown.html(),
    ]
    if diagnosis.correlations:
        parts += [
            words.correlations_table(diagnosis).html(),
            f"<p>{html_text(words.worst_direction_sentence(diagnosis))}</p>",
        ]
    return parts


def _one_above_the_other(n_lines: int) -> Any:
    from matplotlib import pyplot as plt

    return plt.subplots(2, 1, layout="constrained", figsize=(5.2, 2.4 + 0.6 * n_lines))[1]


def witness_part(predictions: Predictions, y: Any) -> list[str]:
    """Picture of the Stein witness as HTML, in one or two dimensions; an empty list in more."""
    if predictions.dim > 2:
        return []
    caption = "Where targets lie that were not expected (the Stein witness). "
    if predictions.dim == 1:
        caption += "No error where the band contains zero. Above zero, targets are missing further to the right; below "
        caption += "zero, further to the left."
    else:
        caption += "Arrows lead from where there are too many targets to where there are too few; clear ones are blue."
    described = f"{'A curve' if predictions.dim == 1 else 'Arrows'} over targets in predicted standard deviations."
    return [picture(lambda: plot_witness(predictions, y), caption, described)]


def where_part(result: CombinedResult, diagnosis: Diagnosis, alpha: float) -> list[str]:
    """Regions, and contributions to the statistic over the covariate whose regions differ most."""
    if not diagnosis.regions:
        return []
    parts = ["<h2>Where</h2>"]
    if diagnosis.where is None:
        parts.append("<p>No region clearly differs from the rest.</p>")
    parts.append(words.regions_table(diagnosis).html())
    name = diagnosis.regions[0].covariate
    # Contributions to a statistic that is hardly more than zero tell nothing.
    if diagnosis.where is not None and result.rejects(alpha) and diagnosis.n == len(result.contributions):
        caption = f"Contributions to the statistic over {name}: large where many rows are wrong in the same way."
        described = f"Bars: mean contribution of rows to the statistic, {result.statistic:.3g} over all rows."
        parts.append(
            picture(lambda: plot_contributions(result, diagnosis.covariates[name], name=name), caption, described)
        )
    return parts


def levels_part(diagnosis: Diagnosis) -> list[str]:
    """Sizes for every level of the covariates that were given."""
    if not diagnosis.levels:
        return []
    return ["<h2>Level by level</h2>", words.levels_table(diagnosis).html()]


def extremes_part(diagnosis: Diagnosis, place: Callable[[int], str]) -> list[str]:
    """The rows that are farthest from their predictions, if they are too far."""
    if not words.extremes_matter(diagnosis):
        return []
    return ["<h2>The most extreme rows</h2>", words.extremes_table(diagnosis, place).html()]


def test_part(result: CombinedResult, alpha: float) -> list[str]:
    """The null distribution, and the views with their p-values."""
    return [
        "<h2>The test</h2>",
        picture(
            lambda: plot_null(result, alpha=alpha),
            "The statistic, and its distribution if the predictions were calibrated.",
            f"Histogram of {result.n_resamples} bootstrap draws; the statistic is at {result.statistic:.3g}, and the "
            f"p-value {result.pvalue:.3g}.",
        ),
        picture(
            lambda: plot_views(result, alpha=alpha),
            "P-values of the views, adjusted for their number.",
            "; ".join(f"{view.name}: {view.adjusted_pvalue:.3g}" for view in result.views),
        ),
        result.table().html(),
    ]


def coverage_part(coverage: Coverage) -> list[str]:
    """The coverage curve."""
    shown = ", ".join(
        f"{100 * coverage.curve(level):.0f} % where it should be {100 * level:.0f} %" for level in (0.5, 0.9)
    )
    caption = f"Targets inside the regions that predictions claim to hold a given share of them: {shown}."
    return ["<h2>Coverage</h2>", picture(lambda: plot_coverage(coverage), caption, f"Targets inside: {shown}.")]


def repeat_part(result: CombinedResult, given: Mapping[str, Any] | None) -> list[str]:
    """Settings and versions, to repeat the test."""
    from .. import __version__

    versions = {"scorecal": __version__, "numpy": np.__version__, "scipy": scipy.__version__}
    settings = {
        **(given or {}),
        "null distribution": result.null,
        "bootstrap draws": result.n_resamples,
        "coordinates": result.coordinates,
        **versions,
        "Python": platform.python_version(),
    }
    return ["<h2>To repeat it</h2>", table(("setting", "value"), settings.items()).html()]
