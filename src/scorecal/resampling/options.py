"""How a statistic is to be computed: from which pairs, in how much memory, and by whom."""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Real
from typing import Any

from ..parallel.workers import Map, check_workers
from .estimators import Complete, Estimator, as_estimator

__all__ = ["Plan", "as_plan"]

_LEAST_MEMORY = 2**20
_ALL_PAIRS = Complete()


@dataclass(frozen=True)
class Plan:
    """`memory` is in bytes, for the tiles of each process; None: a default. `workers` None: threads of this one.

    With `precision` "mixed", float32 data on a GPU are multiplied with signs in float16.
    """

    estimator: Estimator = _ALL_PAIRS
    memory: int | None = None
    workers: int | Map | None = None
    precision: str = "mixed"


def as_plan(estimator: Any, memory: Any, workers: Any, precision: Any) -> Plan:
    if memory is not None:
        if isinstance(memory, bool) or not isinstance(memory, Real) or not float(memory) >= _LEAST_MEMORY:
            raise ValueError(f"`memory` must be a number of bytes, at least {_LEAST_MEMORY} (1 MB), but is {memory!r}.")
        memory = int(min(float(memory), 2.0**62))
    if precision not in ("mixed", "full"):
        raise ValueError(f"`precision` must be 'mixed' or 'full', but is {precision!r}.")
    check_workers(workers)
    return Plan(as_estimator(estimator), memory, workers, precision)
