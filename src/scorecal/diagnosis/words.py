"""A diagnosis in sentences and tables."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import numpy as np

from .._lib.dimensions import are_many
from .._lib.tables import Table, table
from .._lib.text import visible
from ..resampling.clusters import FEWEST_CLUSTERS
from .estimates import Correlation
from .many_dimensions import clearest_dimensions, sentences_of_many
from .sizes import Estimate

if TYPE_CHECKING:
    from ..results import CombinedResult
    from .class_result import ClassDiagnosis
    from .result import Diagnosis


_MOST_LEVELS, _MOST_PAIRS = 3, 3  # of a covariate, and of dimensions, that are stated
_MOST_ROWS = 24  # of the table of levels, as text
_UNKNOWN = Estimate(math.nan, math.nan, math.nan)


def message_of(diagnosis: Diagnosis) -> list[str]:
    """The verdict of the test and the statements, or that none can be made, a sentence each."""
    result = diagnosis.result
    parts = [visible(result.message)]
    if result.rejects(diagnosis.alpha) != result.rejects(result.level):
        verdict = "is rejected" if result.rejects(diagnosis.alpha) else "is not rejected"
        parts.append(f"At level {diagnosis.alpha:g} it {verdict}.")
    return [*parts, *below_the_verdict(diagnosis)]


def seen_at(result: CombinedResult, alpha: float) -> str:
    """Words for what the test saw, after a verdict at level alpha; kinds are those at its own level."""
    outcome = f"p = {result.pvalue:.3g}, n = {result.n}"
    if not result.seen:
        return f"{outcome}."
    words = visible(result.message).split(": ", 1)[1]
    return f"{outcome}{'' if result.rejects(alpha) else f'. At level {result.level:g} it is rejected'}: {words}"


def below_the_verdict(diagnosis: Diagnosis) -> list[str]:
    """The statements, or that none can be made, a sentence each."""
    stated, parts = statements_of(diagnosis), []
    if diagnosis.result.rejects(diagnosis.alpha) and not stated and not _are_few(diagnosis):
        parts.append("No bias, spread or correlation is clear enough by itself to be stated.")
    if _are_few(diagnosis):
        parts.append(f"{_rows(diagnosis)} only: intervals are rough, and no sizes are stated.")
    if stated and diagnosis.understated:
        stated.append(
            "These are sizes of ranks: how far targets lie beyond the last quantile, member or count is not known, and "
            "the true ones may be larger."
        )
    return [*parts, *stated]


def statements_of(diagnosis: Diagnosis) -> list[str]:
    """Sentences on errors that are clear; the region first, since means over all rows may mislead."""
    if not diagnosis.result.rejects(diagnosis.alpha):
        return []
    sizes = [] if _are_few(diagnosis) else [*_by_region(diagnosis), *_by_level(diagnosis)]
    return [visible(sentence) for sentence in [*_outliers(diagnosis), *sizes]]


def _are_few(diagnosis: Diagnosis) -> bool:
    """Whether groups or blocks are too few for sizes to be stated."""
    return diagnosis.n_clusters < min(FEWEST_CLUSTERS, diagnosis.n)


def _outliers(diagnosis: Diagnosis) -> list[str]:
    """How many rows are too far, where the test names outliers, and whether sizes include them."""
    if "outliers" not in diagnosis.result.seen:
        return []
    far = [each for each in diagnosis.extremes if each.adjusted_pvalue <= diagnosis.alpha]
    count, most = len(diagnosis.outliers) or len(far), len(diagnosis.extremes)
    if not count:
        return []
    where = "sizes are those of the other rows" if diagnosis.outliers else "all sizes include them"
    number = f"{count} or more" if count == most and not diagnosis.outliers else f"{count}"
    farthest = max((each.distance for each in diagnosis.extremes), default=None)  # of ranks, it is not known
    size = "" if farthest is None else f"{farthest:.4g} predicted sd from "
    if number == "1":
        told = f"1 row is an outlier{f', {size}its prediction' if size else ''}"
        where = where.replace("them", "it")
    else:
        told = f"{number} rows are outliers{f', up to {size}their predictions' if size else ''}"
    return [f"{told}; {where}."]


def _by_region(diagnosis: Diagnosis) -> list[str]:
    names, where = diagnosis.names, diagnosis.where
    overall, pairs = (_sizes(names, diagnosis.bias, diagnosis.confidence_ratio), _pairs(names, diagnosis.correlations))
    if not overall and len(names) > 1:
        # Whitened errors of wrong correlations are too large, or too small, though none of a dimension is.
        ratio = _UNKNOWN if pairs else diagnosis.overall_confidence_ratio
        overall = _sizes(["All dimensions together"], [diagnosis.overall_bias], [ratio])
    overall += pairs
    if where is None:
        return overall
    inside = [*_sizes(names, where.bias, where.confidence_ratio), *_pairs(names, where.correlations)]
    outside = [*_sizes(names, where.rest_bias, where.rest_confidence_ratio), *_pairs(names, where.rest_correlations)]
    nothing = ["no bias or wrong spread is clear enough by itself."]
    return [
        f"Errors differ between regions, most where {where.name} ({where.n} rows, p = {where.contrast_pvalue:.3g}).",
        f"There: {' '.join(inside or nothing)}",
        f"Elsewhere: {' '.join(outside or nothing)}",
        *(f"Over all rows: {sentence}" for sentence in overall),
    ]


def _by_level(diagnosis: Diagnosis) -> list[str]:
    """The clearest levels of each covariate, but for the one whose region is named, that are not as all rows are."""
    found: dict[str, list[tuple[float, str]]] = {}
    for level in diagnosis.levels:
        if diagnosis.where is not None and level.covariate == diagnosis.where.covariate:
            continue
        off = [_unless_said(*each, 0.0) for each in zip(level.bias, diagnosis.bias, strict=True)]
        ratios = zip(level.confidence_ratio, diagnosis.confidence_ratio, strict=True)
        ratio = [_unless_said(*each, 1.0) for each in ratios]
        stated = _sizes(diagnosis.names, off, ratio)
        if stated:
            gaps = [*(_gap(each, 0.0) for each in off), *(_gap(each, 1.0) for each in ratio)]
            sentence = f"{level.name} ({level.n} rows): {' '.join(stated)}"
            found.setdefault(level.covariate, []).append((-max(gaps), sentence))
    clearest = (sorted(levels, key=lambda each: each[0])[:_MOST_LEVELS] for levels in found.values())
    return [sentence for levels in clearest for _, sentence in levels]


def _unless_said(there: Estimate, overall: Estimate, right: float) -> Estimate:
    """The estimate of a level; one that says nothing if that over all rows says as much."""
    said = not overall.holds(right) and there.low <= overall.high and overall.low <= there.high
    return _UNKNOWN if said else there


def _gap(estimate: Estimate, right: float) -> float:
    """How far an interval is from what is right, in its own widths; 0 if it contains it."""
    if estimate.holds(right):
        return 0.0
    width = max(estimate.high - estimate.low, float(np.finfo(float).tiny))
    return max(estimate.low - right, right - estimate.high) / width


def _sizes(names: Sequence[str], bias: Sequence[Estimate], ratios: Sequence[Estimate]) -> list[str]:
    if are_many(len(names)):
        return sentences_of_many(names, bias, ratios, (_bias, _ratio))
    parts = []
    for name, off, ratio in zip(names, bias, ratios, strict=True):
        found = [phrase for phrase in (_bias(off), _ratio(ratio)) if phrase]
        if found:
            parts.append(f"{name}: {' and '.join(found)}.")
    return parts


def _pairs(names: Sequence[str], pairs: Sequence[Correlation]) -> list[str]:
    """The clearest wrong correlations, and the number of others."""
    wrong = [pair for pair in pairs if not (math.isnan(pair.claimed) or pair.found.holds(pair.claimed))]
    wrong.sort(key=lambda pair: -_gap(pair.found, pair.claimed))
    shown = wrong if len(wrong) == _MOST_PAIRS + 1 else wrong[:_MOST_PAIRS]
    parts = []
    for pair in shown:
        first, second = (names[k] for k in pair.dimensions)
        claimed = f"where predictions claim {pair.claimed:.2f}"
        parts.append(f"Errors of {first} and {second} have correlation {pair.found}, {claimed}.")
    if len(wrong) > len(shown):
        parts.append(f"Correlations of {len(wrong) - len(shown)} other pairs of dimensions are wrong too.")
    return parts


def sizes_table(diagnosis: Diagnosis) -> Table:
    """Bias and ratio of spreads of each dimension and, of several, over all; of many, those that are farthest off."""
    rows = [*zip(diagnosis.names, diagnosis.bias, diagnosis.confidence_ratio, strict=True)]
    if are_many(len(rows)):
        rows = [rows[k] for k in clearest_dimensions(diagnosis.bias, diagnosis.confidence_ratio)]
    if len(rows) > 1:
        rows.append(("overall", diagnosis.overall_bias, diagnosis.overall_confidence_ratio))
    return table(("dimension", "bias [predicted sd]", "true / claimed spread"), rows)


def correlations_table(diagnosis: Diagnosis) -> Table:
    """Claimed and true correlations of the errors in every two dimensions."""
    names = [" and ".join(diagnosis.names[k] for k in pair.dimensions) for pair in diagnosis.correlations]
    claims = ["unknown" if math.isnan(pair.claimed) else f"{pair.claimed:.2f}" for pair in diagnosis.correlations]
    rows = [(*told, pair.found) for *told, pair in zip(names, claims, diagnosis.correlations, strict=True)]
    return table(("errors of", "correlation claimed", "found"), rows)


def regions_table(diagnosis: Diagnosis) -> Table:
    """The region of each covariate that differs most from the rest."""
    head = ("where it differs most", "rows", "p, like the rest", "p, calibrated there")
    return table(head, [(each.name, each.n, each.contrast_pvalue, each.pvalue) for each in diagnosis.regions])


def worst_direction_sentence(diagnosis: Diagnosis) -> str:
    """The direction along which the spread is most wrong, in words."""
    if np.any(np.isnan(diagnosis.worst_direction.weights)):
        return "Worst direction: cannot be told from so few rows."
    weights = ", ".join(f"{weight:.2f}" for weight in diagnosis.worst_direction.weights)
    return f"Worst direction ({weights}): true / claimed spread {diagnosis.worst_direction.ratio}."


def levels_table(diagnosis: Diagnosis) -> Table:
    """Bias and ratio of spreads of each dimension for every level of every covariate."""
    rows = [
        (level.name, level.n, *each)
        for level in diagnosis.levels
        for each in zip(diagnosis.names, level.bias, level.confidence_ratio, strict=True)
    ]
    return table(("where", "rows", "dimension", "bias [predicted sd]", "true / claimed spread"), rows)


def extremes_table(diagnosis: Diagnosis, place: Callable[[int], str] = str) -> Table:
    """The rows that are farthest from their own predictions; `place` says where a row is."""
    rows = [(place(each.row), each.distance, each.pvalue, each.adjusted_pvalue) for each in diagnosis.extremes]
    return table(("row", "distance [predicted sd]", "p", "p, adjusted for all rows"), rows)


def extremes_matter(diagnosis: Diagnosis) -> bool:
    """Whether the test rejects, and the farthest row is too far or outliers are among what the test names."""
    rarest = min((each.adjusted_pvalue for each in diagnosis.extremes), default=1.0)
    named = "outliers" in diagnosis.result.seen
    return diagnosis.result.rejects(diagnosis.alpha) and (rarest <= diagnosis.alpha or named)


def intervals_in_words(diagnosis: Diagnosis | ClassDiagnosis) -> str:
    """Sentence on what the intervals promise."""
    level = f"{100 * diagnosis.confidence_level:g} %"
    if not diagnosis.simultaneous:
        return f"{level} intervals, each by itself"
    return f"intervals that hold all at once with {level} confidence"


def text_of(diagnosis: Diagnosis) -> str:
    """The whole diagnosis as text: sentences, then tables."""
    return "\n\n".join(["\n".join(message_of(diagnosis)), *tables_of(diagnosis)])


def tables_of(diagnosis: Diagnosis, place: Callable[[int], str] = str) -> list[str]:
    """The tables as text, and what their brackets hold."""
    parts = [sizes_table(diagnosis).text()]
    if len(diagnosis.names) > 1:
        parts.append(worst_direction_sentence(diagnosis))
    levels = levels_table(diagnosis)
    if len(levels.rows) > _MOST_ROWS:
        parts.append(f"Sizes of all {len(diagnosis.levels)} levels of the covariates are in `levels`.")
    elif levels.rows:
        parts.append(levels.text())
    if diagnosis.result.rejects(diagnosis.alpha) and diagnosis.regions:
        parts.append(regions_table(diagnosis).text())
    if extremes_matter(diagnosis):
        parts.append(extremes_table(diagnosis, place).text())
    last = f"In brackets: {intervals_in_words(diagnosis)}; {_rows(diagnosis)}; from {diagnosis.source}."
    return [*parts, last]


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
