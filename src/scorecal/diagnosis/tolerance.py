"""Limits of what is good enough, and whether predictions keep them, in words."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ..results import CombinedResult
    from .class_result import ClassDiagnosis
    from .result import Diagnosis


@dataclass(frozen=True)
class Tolerance:
    """Largest bias, in predicted standard deviations, and largest ratio of spreads that are good enough, or one."""

    bias: float | None = None
    spread: float | None = None

    def verdict(self, diagnosis: Diagnosis) -> bool | None:
        """Return whether predictions are good enough, as `Diagnosis.within` does."""
        return diagnosis.within(bias=self.bias, spread=self.spread)

    def sentence(self, diagnosis: Diagnosis) -> str:
        """Return the verdict with the limits, in words."""
        within = self.verdict(diagnosis)
        beyond = self._beyond(diagnosis) if within is False else ""
        needed = _needed(diagnosis.result)
        if diagnosis.understated:
            needed = "quantiles, members and counts do not tell how far targets lie beyond them"
        elif "outliers" in diagnosis.result.seen:
            needed = "there are outliers"
        return f"{self} {_in_words(within, beyond, needed, diagnosis.result)}."

    def _beyond(self, diagnosis: Diagnosis) -> str:
        bias = self.bias is not None and diagnosis.within(bias=self.bias) is False
        spread = self.spread is not None and diagnosis.within(spread=self.spread) is False
        return "each" if bias and spread else "the bias" if bias else "the spread"

    def __str__(self) -> str:
        limits = [] if self.bias is None else [f"bias {self.bias:g} sd"]
        limits += [] if self.spread is None else [f"spread {self.spread:g}"]
        return f"Within the tolerance ({', '.join(limits)}):"


@dataclass(frozen=True)
class ClassTolerance:
    """Largest expected calibration error of predictions of classes that is good enough."""

    error: float

    def verdict(self, diagnosis: ClassDiagnosis) -> bool | None:
        """Return whether predictions are good enough, as `ClassDiagnosis.within` does."""
        return diagnosis.within(error=self.error)

    def sentence(self, diagnosis: ClassDiagnosis) -> str:
        """Return the verdict with the limit, in words."""
        within = self.verdict(diagnosis)
        needed = _needed(diagnosis.result)
        return f"{self} {_in_words(within, 'the calibration error', needed, diagnosis.result)}."

    def __str__(self) -> str:
        return f"Within the tolerance (calibration error {self.error:g}):"


def _in_words(within: bool | None, beyond: str, needed: str, result: CombinedResult) -> str:
    if within is None:
        return f"cannot tell: {needed}"
    doubt = ", but see the warnings" if within and result.warnings else ""
    return f"yes{doubt}" if within else f"no, {beyond} is beyond"


def _needed(result: CombinedResult) -> str:
    """Say what would tell."""
    return "more rows are needed" if result.n_clusters == result.n else "more groups or blocks are needed"
