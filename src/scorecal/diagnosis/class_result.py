"""The result of `diagnose` for predictions of classes, in sentences and tables."""

from dataclasses import dataclass
from typing import Any, NamedTuple

from .._lib.tables import Table, table
from .._lib.text import visible
from ..resampling.clusters import FEWEST_CLUSTERS
from ..results import CombinedResult
from .shares import Bin, CalibrationError
from .sizes import Estimate

_MOST_NAMED, _MOST_ROWS = 5, 24


class ClassShare(NamedTuple):
    """A class: the share of targets that predictions `claimed` for it on average, and what was `found`."""

    name: str
    claimed: float
    found: Estimate


@dataclass(frozen=True, eq=False, kw_only=True)
class ClassDiagnosis:
    """Result of `diagnose` for `Categorical` predictions.

    Attributes
    ----------
    result : CombinedResult
        The test of the same data, at level 1 - `confidence_level` of which statements are made.
    statements : tuple of str
        What is wrong, in sentences; empty where the test does not reject, or no size is clear.
    message : str
        The verdict of the test, and the statements.
    names : tuple of str
        Names of the classes.
    claimed_accuracy, accuracy : float, Estimate
        Mean probability of the most probable class, and how often it was right. An `Estimate` has `value`, `low` and
        `high`.
    classes : tuple of ClassShare
        For each class its `name`, the share of targets `claimed` for it, and the share `found`.
    bins : tuple of Bin
        The reliability table: for rows whose largest probability lies from `low` to `high`, their number `n`, what they
        `claimed` on average, and how often they were `found` right.
    calibration_error : CalibrationError
        Its `estimate`, the mean distance of claimed and found over the rows of the bins, which is positive by chance
        alone; what it would be on average `if_calibrated`.
    temperature : Estimate
        What logits would have to be divided by: above 1, predictions are over-confident.
    n, n_clusters : int
        Number of rows, and of independent groups or blocks of them.
    confidence_level : float
        Confidence level of all intervals together, or of each with `simultaneous=False`.
    simultaneous : bool
        Whether the intervals hold together.
    """

    result: CombinedResult
    names: tuple[str, ...]
    claimed_accuracy: float
    accuracy: Estimate
    classes: tuple[ClassShare, ...]
    bins: tuple[Bin, ...]
    calibration_error: CalibrationError
    temperature: Estimate
    n: int
    n_clusters: int
    confidence_level: float
    simultaneous: bool

    @property
    def alpha(self) -> float:
        """Level of the test, 1 - `confidence_level`."""
        return round(1.0 - self.confidence_level, 12)

    @property
    def statements(self) -> tuple[str, ...]:
        """Sentences on what is wrong."""
        if not self.result.rejects(self.alpha):
            return ()
        return (*_confidence(self), *_classes(self), *_bins(self))

    @property
    def message(self) -> str:
        """The verdict of the test, then the statements."""
        parts = [self.result.message, *self.statements]
        if self.result.rejects(self.alpha) and len(parts) == 1:
            parts.append("Accuracy, shares of classes and reliability in bins are all within what chance allows.")
        if self.n_clusters < FEWEST_CLUSTERS:
            parts.append(f"{self.n_clusters} independent rows or groups of them only: intervals are rough.")
        return " ".join(parts)

    def plot(self) -> Any:
        """Draw the reliability diagram, and return matplotlib axes."""
        from ..plots import plot_reliability

        return plot_reliability(self)

    def reliability_table(self) -> Table:
        """The bins of largest probabilities."""
        rows = [
            (f"{_percent(b.low)} to {_percent(b.high)}", b.n, _percent(b.claimed), _range(b.found)) for b in self.bins
        ]
        return table(("largest probability", "rows", "claimed", "right"), rows)

    def classes_table(self) -> Table:
        """The classes, those with the largest differences first."""
        first = sorted(self.classes, key=lambda each: -abs(each.found.value - each.claimed))
        rows = [(each.name, _percent(each.claimed), _range(each.found)) for each in first[:_MOST_ROWS]]
        return table(("class", "claimed", "found"), rows)

    def __str__(self) -> str:
        error, level = self.calibration_error, f"{100 * self.confidence_level:g} %"
        held = f"intervals that hold all at once with {level} confidence"
        clusters = f", in {self.n_clusters} groups or blocks" if self.n_clusters < self.n else ""
        return "\n\n".join(
            [
                "\n".join([self.result.message, *self.statements]),
                f"Accuracy: claimed {_percent(self.claimed_accuracy)}, found {_range(self.accuracy)}.\n"
                f"Expected calibration error: {_range(error.estimate)}; calibrated predictions would show "
                f"{_percent(error.if_calibrated)}.\n"
                f"Temperature: {self.temperature}.",
                self.reliability_table().text(),
                self.classes_table().text(),
                f"In brackets: {held if self.simultaneous else f'{level} intervals, each by itself'}; {self.n} rows"
                f"{clusters}.",
            ]
        )


def _confidence(diagnosis: ClassDiagnosis) -> list[str]:
    found, parts = diagnosis.accuracy, []
    if not found.holds(diagnosis.claimed_accuracy):
        kind = "over-confident" if found.value < diagnosis.claimed_accuracy else "under-confident"
        parts.append(f"{kind}: says {_percent(diagnosis.claimed_accuracy)}, is right {_range(found)}")
    if not diagnosis.temperature.holds(1.0):
        kind = "over-confident" if diagnosis.temperature.value > 1 else "under-confident"
        start = "" if parts else f"{kind}: "
        parts.append(f"{start}logits would have to be divided by {diagnosis.temperature}")
    sentence = "; ".join(parts)
    return [f"{sentence[:1].upper()}{sentence[1:]}."] if parts else []


def _classes(diagnosis: ClassDiagnosis) -> list[str]:
    wrong = [each for each in diagnosis.classes if not each.found.holds(each.claimed)]
    wrong = sorted(wrong, key=lambda each: -abs(each.found.value - each.claimed))
    stated = [
        f"Class {visible(each.name)!r}: claimed for {_percent(each.claimed)} of rows, found in {_range(each.found)}."
        for each in wrong[:_MOST_NAMED]
    ]
    if len(wrong) > _MOST_NAMED:
        stated.append(f"{len(wrong) - _MOST_NAMED} more classes have wrong shares.")
    return stated


def _bins(diagnosis: ClassDiagnosis) -> list[str]:
    """The bin that is most wrong."""
    wrong = [each for each in diagnosis.bins if not each.found.holds(each.claimed)]
    if not wrong or len(diagnosis.bins) == 1:
        return []
    worst = max(wrong, key=lambda each: abs(each.found.value - each.claimed))
    where = f"{_percent(worst.low)} to {_percent(worst.high)}"
    return [
        f"Where it says {where} ({worst.n} rows, {_percent(worst.claimed)} on average), it is right "
        f"{_range(worst.found)}."
    ]


def _percent(share: float) -> str:
    return f"{100 * share:.1f} %" if share < 0.1 or 0.9 < share < 1.0 else f"{100 * share:.0f} %"


def _range(found: Estimate) -> str:
    return f"{_percent(found.value)} ({_percent(found.low)} to {_percent(found.high)})"
