"""A diagnosis of classes in sentences and tables."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

from .._lib.tables import Table, table
from .._lib.text import visible
from ..resampling.clusters import FEWEST_CLUSTERS
from .sizes import Estimate
from .words import intervals_in_words

if TYPE_CHECKING:
    from .class_result import ClassDiagnosis, ClassLevel, ClassShare

_MOST_NAMED, _MOST_ROWS, _MOST_LEVELS = 5, 24, 3
_MOST_DIGITS = 6


def message_of(diagnosis: ClassDiagnosis) -> list[str]:
    """The verdict of the test and the statements, or that none can be made, a sentence each."""
    result = diagnosis.result
    parts = [result.message]
    if result.rejects(diagnosis.alpha) != result.rejects(result.level):
        verdict = "is rejected" if result.rejects(diagnosis.alpha) else "is not rejected"
        parts.append(f"At level {diagnosis.alpha:g} it {verdict}.")
    return [*parts, *below_the_verdict(diagnosis)]


def below_the_verdict(diagnosis: ClassDiagnosis) -> list[str]:
    """The statements, or that none can be made, a sentence each."""
    stated, parts = statements_of(diagnosis), []
    if diagnosis.result.rejects(diagnosis.alpha) and not stated:
        parts.append("Accuracy, shares of classes and reliability in bins are all within what chance allows.")
    if diagnosis.n_clusters < FEWEST_CLUSTERS:
        parts.append(f"{_rows(diagnosis)} only: intervals are rough.")
    return [*parts, *stated]


def statements_of(diagnosis: ClassDiagnosis) -> list[str]:
    """Sentences on errors that are clear; the region first, since means over all rows may mislead."""
    if not diagnosis.result.rejects(diagnosis.alpha):
        return []
    overall = [*_confidence(diagnosis), *_places(diagnosis), *_classes(diagnosis.classes), *_bins(diagnosis)]
    if diagnosis.where is not None:
        there, elsewhere = diagnosis.where.there, diagnosis.where.elsewhere
        nothing = ["no wrong accuracy or share found."]
        overall = [
            f"Errors differ between regions, most where {there.name} ({there.n} rows, p = "
            f"{diagnosis.where.contrast_pvalue:.3g}).",
            f"There: {' '.join(_wrong(there) or nothing)}",
            f"Elsewhere: {' '.join(_wrong(elsewhere) or nothing)}",
            *(f"Over all rows: {sentence[:1].lower()}{sentence[1:]}" for sentence in overall),
        ]
    return [visible(sentence) for sentence in [*overall, *_by_level(diagnosis)]]


def _confidence(diagnosis: ClassDiagnosis) -> list[str]:
    parts = _accuracy(diagnosis.claimed_accuracy, diagnosis.accuracy)
    if not diagnosis.temperature.holds(1.0):
        kind = "over-confident" if diagnosis.temperature.value > 1 else "under-confident"
        start = "" if parts else f"{kind}: "
        low, high = diagnosis.temperature[1:]
        size = f"{low:.2f} or more" if math.isinf(high) else str(diagnosis.temperature)
        parts.append(f"{start}logits would have to be divided by {size}")
    sentence = "; ".join(parts)
    return [f"{sentence[:1].upper()}{sentence[1:]}."] if parts else []


def _accuracy(claimed: float, found: Estimate) -> list[str]:
    if found.holds(claimed):
        return []
    kind = "over-confident" if found.value < claimed else "under-confident"
    says, right = side_by_side(claimed, found)
    return [f"{kind}: says {says}, is right {right}"]


def _places(diagnosis: ClassDiagnosis) -> list[str]:
    if diagnosis.places is None:
        return []
    bias, ratio = diagnosis.places
    parts = []
    if not bias.holds(0.0):
        ends = sorted((abs(bias.low), abs(bias.high)))
        size = f"{abs(bias.value):.2f} ({ends[0]:.2f} to {ends[1]:.2f})"
        parts.append(f"Predictions are too {'high' if bias.value > 0 else 'low'} in the order, by {size} places.")
    if not ratio.holds(1.0):
        parts.append(f"The true spread of places is {ratio} times the claimed one.")
    return parts


def _classes(classes: Sequence[ClassShare]) -> list[str]:
    """The classes whose shares are clearly wrong; of two classes the second stands for both."""
    told = classes[1:] if len(classes) == 2 else classes
    wrong = [each for each in told if not each.found.holds(each.claimed)]
    wrong = sorted(wrong, key=lambda each: -abs(each.found.value - each.claimed))
    stated = []
    for each in wrong[:_MOST_NAMED]:
        claimed, found = side_by_side(each.claimed, each.found)
        stated.append(f"Class {visible(each.name)!r}: claimed for {claimed} of rows, found in {found}.")
    if len(wrong) > _MOST_NAMED:
        stated.append(f"{len(wrong) - _MOST_NAMED} more classes have wrong shares.")
    return stated


def _bins(diagnosis: ClassDiagnosis) -> list[str]:
    """The bin that is most wrong."""
    wrong = [each for each in diagnosis.bins if not each.found.holds(each.claimed)]
    if not wrong or len(diagnosis.bins) == 1:
        return []
    worst = max(wrong, key=lambda each: abs(each.found.value - each.claimed))
    where = _span(worst.low, worst.high)
    claimed, found = side_by_side(worst.claimed, worst.found)
    return [f"Where it says {where} ({worst.n} rows, {claimed} on average), it is right {found}."]


def _wrong(level: ClassLevel) -> list[str]:
    """Return a sentence for each thing that is clearly wrong in some rows."""
    accuracy = [f"{sentence}." for sentence in _accuracy(level.claimed_accuracy, level.accuracy)]
    return [*accuracy, *(f"{sentence[:1].lower()}{sentence[1:]}" for sentence in _classes(level.classes))]


def _by_level(diagnosis: ClassDiagnosis) -> list[str]:
    """The clearest levels of each covariate, but for the one whose region is named, that are not as all rows are."""
    found: dict[str, list[tuple[float, str]]] = {}
    for level in diagnosis.levels:
        if diagnosis.where is not None and level.covariate == diagnosis.where.there.covariate:
            continue
        accuracy = _unless_said(level.claimed_accuracy, level.accuracy, diagnosis.claimed_accuracy, diagnosis.accuracy)
        classes = [
            each._replace(found=_unless_said(each.claimed, each.found, other.claimed, other.found))
            for each, other in zip(level.classes, diagnosis.classes, strict=True)
        ]
        sentences = [f"{each}." for each in _accuracy(level.claimed_accuracy, accuracy)]
        sentences += [f"{each[:1].lower()}{each[1:]}" for each in _classes(classes)]
        if sentences:
            gaps = [_gap(level.claimed_accuracy, accuracy), *(_gap(each.claimed, each.found) for each in classes)]
            told = f"{level.name} ({level.n} rows): {' '.join(sentences)}"
            found.setdefault(level.covariate, []).append((-max(gaps), told))
    clearest = (sorted(levels, key=lambda each: each[0])[:_MOST_LEVELS] for levels in found.values())
    return [sentence for levels in clearest for _, sentence in levels]


def _unless_said(claimed: float, found: Estimate, claimed_by_all: float, of_all: Estimate) -> Estimate:
    """The share found in a level; one that says nothing if that over all rows is as wrong."""
    as_wrong = (
        found.low - claimed <= of_all.high - claimed_by_all and of_all.low - claimed_by_all <= found.high - claimed
    )
    said = not of_all.holds(claimed_by_all) and as_wrong
    return Estimate(math.nan, math.nan, math.nan) if said else found


def _gap(claimed: float, found: Estimate) -> float:
    """How far the interval of a share is from what is claimed, in its own widths; 0 if it contains it."""
    if found.holds(claimed):
        return 0.0
    return max(found.low - claimed, claimed - found.high) / max(found.high - found.low, 1e-300)


def summary_of(diagnosis: ClassDiagnosis) -> list[str]:
    """Accuracy, calibration error, temperature and places, a line each."""
    error = diagnosis.calibration_error
    claimed, found = side_by_side(diagnosis.claimed_accuracy, diagnosis.accuracy)
    lines = [
        f"Accuracy: claimed {claimed}, found {found}.",
        f"Expected calibration error: {in_range(error.estimate)}; calibrated predictions would show "
        f"{percent(error.if_calibrated)}.",
        f"Temperature: {diagnosis.temperature}.",
    ]
    if diagnosis.places is not None:
        lines.append(
            f"Places in the order: bias {diagnosis.places.bias}, true / claimed spread {diagnosis.places.ratio}."
        )
    return lines


def reliability_table(diagnosis: ClassDiagnosis) -> Table:
    """The bins of largest probabilities."""
    rows = [(_span(b.low, b.high), b.n, *side_by_side(b.claimed, b.found)) for b in diagnosis.bins]
    return table(("largest probability", "rows", "claimed", "right"), rows)


def classes_table(diagnosis: ClassDiagnosis) -> Table:
    """The classes, those with the largest differences first."""
    first = sorted(diagnosis.classes, key=lambda each: -abs(each.found.value - each.claimed))
    rows = [(each.name, *side_by_side(each.claimed, each.found)) for each in first[:_MOST_ROWS]]
    return table(("class", "claimed", "found"), rows)


def levels_table(diagnosis: ClassDiagnosis) -> Table:
    """For every level of every covariate its accuracy, and the class whose share is farthest from what is claimed."""
    rows = []
    for level in diagnosis.levels:
        told = level.classes[1:] if len(level.classes) == 2 else level.classes
        worst = max(told, key=lambda each: abs(each.found.value - each.claimed))  # NaN: any
        claimed, found = side_by_side(worst.claimed, worst.found)
        accuracy = side_by_side(level.claimed_accuracy, level.accuracy)
        rows.append((level.name, level.n, *accuracy, f"{worst.name}: {claimed}", found))
    return table(("where", "rows", "claimed", "right", "class, claimed", "found"), rows)


def regions_table(diagnosis: ClassDiagnosis) -> Table:
    """The region of each covariate that differs most from the rest."""
    head = ("where it differs most", "rows", "p, like the rest", "p, calibrated there")
    rows = [(each.there.name, each.there.n, each.contrast_pvalue, each.pvalue) for each in diagnosis.regions]
    return table(head, rows)


def tables_of(diagnosis: ClassDiagnosis) -> list[str]:
    """Sizes and tables as text, and what their brackets hold."""
    parts = ["\n".join(summary_of(diagnosis)), reliability_table(diagnosis).text(), classes_table(diagnosis).text()]
    if len(diagnosis.levels) > _MOST_ROWS:
        parts.append(f"Sizes of all {len(diagnosis.levels)} levels of the covariates are in `levels`.")
    elif diagnosis.levels:
        parts.append(levels_table(diagnosis).text())
    if diagnosis.result.rejects(diagnosis.alpha) and diagnosis.regions:
        parts.append(regions_table(diagnosis).text())
    return [*parts, f"In brackets: {intervals_in_words(diagnosis)}; {_rows(diagnosis)}."]


def text_of(diagnosis: ClassDiagnosis) -> str:
    """The whole diagnosis as text: sentences, then tables."""
    return "\n\n".join(["\n".join(message_of(diagnosis)), *tables_of(diagnosis)])


def _rows(diagnosis: ClassDiagnosis) -> str:
    clusters = f", in {diagnosis.n_clusters} groups or blocks" if diagnosis.n_clusters < diagnosis.n else ""
    return f"{diagnosis.n} rows{clusters}"


def side_by_side(claimed: float, found: Estimate) -> tuple[str, str]:
    """Return the claimed and the found value with its interval, in digits enough to tell that they differ."""
    wanted = range(1) if found.holds(claimed) else range(_MOST_DIGITS)
    for digits in wanted:
        if percent(claimed, digits) not in (percent(found.low, digits), percent(found.high, digits)):
            break
    return percent(claimed, digits), in_range(found, digits)


def percent(share: float, least: int = 0) -> str:
    """A share in percent, in as many digits as tell it from 0 and 1, and at least so many."""
    if math.isnan(share):
        return "-"
    edge = round(min(share, 1.0 - share), 12)
    digits = 0 if edge >= 0.1 or edge <= 0.0 else min(_MOST_DIGITS, max(1, -math.floor(math.log10(edge)) - 2))
    return f"{100 * share:.{max(digits, least)}f} %"


def in_range(found: Estimate, least: int = 0) -> str:
    """A share with its interval."""
    if math.isnan(found.value):
        return str(found)
    return f"{percent(found.value, least)} ({_span(found.low, found.high, least)})"


def _span(low: float, high: float, least: int = 0) -> str:
    return f"{percent(low, least).removesuffix(' %')} to {percent(high, least)}"
