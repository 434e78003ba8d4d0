"""What may make a verdict wrong, with the cure: the sentences of `result.warnings`."""

from typing import Any

from ..predictions import Samplable
from .copies import close_targets, exact_copies
from .limits import few_rows, rounded_targets
from .rows import Rows, rows_of
from .serial import serial_correlation

__all__ = ["Rows", "cautions_of", "rows_of"]


def cautions_of(rows: Rows, predictions: Any, null: str, n_clusters: int | None = None) -> tuple[str, ...]:
    """Return a sentence for each thing noticed that may make the verdict wrong; none for good data.

    `null` is the name of the null distribution. With `n_clusters`, fewer than rows, rows of one cluster share a sign:
    that they depend on each other is known.
    """
    n = len(rows.targets)
    clustered = n_clusters is not None and n_clusters < n
    dependent = None if clustered else exact_copies(rows) or close_targets(rows)
    found = (
        None if clustered else serial_correlation(rows),
        dependent,
        rounded_targets(rows),
        few_rows(n if n_clusters is None else n_clusters, null, isinstance(predictions, Samplable), clustered),
    )
    return tuple(sentence for sentence in found if sentence is not None)
