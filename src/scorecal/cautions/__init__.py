"""Sentences of `result.warnings`: what may make a verdict wrong, with the cure."""

import numpy as np

from .._lib.arrays import ignore_overflow
from ..resampling.clusters import Clusters
from .blocks import correlated_blocks
from .copies import close_targets, exact_copies
from .limits import few_clusters, few_rows, rounded_targets
from .rows import Rows, rows_of
from .serial import serial_correlation

__all__ = ["Rows", "cautions_of", "rows_of"]


@ignore_overflow
def cautions_of(
    rows: Rows, null: str, clusters: Clusters | None = None, can_draw: bool = False, raised: float = 1.0
) -> tuple[str, ...]:
    """Return a sentence for each thing noticed that may make the verdict wrong; none for good data.

    `null` is the name of the null distribution, and `raised` the factor of its p-values; `can_draw` says that draws
    from the predictions could be one. That rows of one cluster depend on each other is known.
    """
    n = len(rows.targets)
    shared = clusters is not None and clusters.n_clusters < n
    found = [rounded_targets(rows)]
    if clusters is not None and shared:
        found = [correlated_blocks(rows, clusters), *found, few_clusters(clusters, raised)]
    else:
        found = [
            serial_correlation(*_in_series(rows, clusters)),
            exact_copies(rows) or close_targets(rows),
            *found,
            few_rows(n, null, clusters is None and can_draw, raised),
        ]
    return tuple(sentence for sentence in found if sentence is not None)


def _in_series(rows: Rows, clusters: Clusters | None) -> tuple[Rows, bool]:
    """Return the rows, each series by itself, and whether they are in time order."""
    if clusters is None or not clusters.ordered:
        return rows, False
    return rows if clusters.series is None else rows.at(np.argsort(clusters.series, kind="stable")), True
