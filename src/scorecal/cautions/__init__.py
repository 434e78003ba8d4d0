"""Sentences of `result.warnings`: what may make a verdict wrong, with the cure."""

from typing import Any

from .._lib.arrays import ignore_overflow
from ..predictions import Samplable
from ..resampling.clusters import Clusters
from .copies import close_targets, exact_copies
from .limits import few_rows, rounded_targets
from .rows import Rows, rows_of
from .serial import serial_correlation

__all__ = ["Rows", "cautions_of", "rows_of"]


@ignore_overflow
def cautions_of(
    rows: Rows, predictions: Any, null: str, clusters: Clusters | None = None, widening: float = 1.0
) -> tuple[str, ...]:
    """Return a sentence for each thing noticed that may make the verdict wrong; none for good data.

    `null` is the name of the null distribution, whose p-values were multiplied by `widening`. That rows of one cluster
    depend on each other is known.
    """
    n = len(rows.targets)
    found = [rounded_targets(rows)]
    if clusters is None or clusters.n_clusters == n:
        can_draw = clusters is None and isinstance(predictions, Samplable)
        found = [serial_correlation(rows), exact_copies(rows) or close_targets(rows), *found]
        found.append(few_rows(n, null, can_draw, widening))
    return tuple(sentence for sentence in found if sentence is not None)
