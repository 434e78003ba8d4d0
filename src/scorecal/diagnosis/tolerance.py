"""Limits of what is good enough, and whether predictions keep them, in words."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
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
        if within is None:
            return f"{self} cannot tell: {_needed(diagnosis)}."
        doubt = ", but see the warnings" if within and diagnosis.result.warnings else ""
        return f"{self} {f'yes{doubt}' if within else f'no, {self._beyond(diagnosis)} is beyond'}."

    def _beyond(self, diagnosis: Diagnosis) -> str:
        bias = self.bias is not None and diagnosis.within(bias=self.bias) is False
        spread = self.spread is not None and diagnosis.within(spread=self.spread) is False
        return "each" if bias and spread else "the bias" if bias else "the spread"

    def __str__(self) -> str:
        limits = [] if self.bias is None else [f"bias {self.bias:g} sd"]
        limits += [] if self.spread is None else [f"spread {self.spread:g}"]
        return f"Within the tolerance ({', '.join(limits)}):"


def _needed(diagnosis: Diagnosis) -> str:
    """Say what would tell."""
    if "outliers" in diagnosis.result.seen:
        return "sizes rest on outliers"
    return "more rows are needed" if diagnosis.n_clusters == diagnosis.n else "more groups or blocks are needed"
