"""How a statistic is to be computed: from which pairs, in how much memory, and by whom."""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Real
from typing import Any

from .estimators import Complete, Estimator, as_estimator
from .workers import Map, check_workers

__all__ = ["DEFAULT_MEMORY", "Plan", "as_plan"]

DEFAULT_MEMORY = 256 * 2**20
_LEAST_MEMORY = 2**20
_ALL_PAIRS = Complete()


@dataclass(frozen=True)
class Plan:
    """`memory` is in bytes, for the tiles of each process; `workers` None means threads of this one."""

    estimator: Estimator = _ALL_PAIRS
    memory: int = DEFAULT_MEMORY
    workers: int | Map | None = None


def as_plan(estimator: Any, memory: Any, workers: Any) -> Plan:
    if memory is None:
        memory = DEFAULT_MEMORY
    if isinstance(memory, bool) or not isinstance(memory, Real) or not float(memory) >= _LEAST_MEMORY:
        raise ValueError(f"`memory` must be a number of bytes, at least {_LEAST_MEMORY} (1 MB), but is {memory!r}.")
    check_workers(workers)
    return Plan(as_estimator(estimator), int(min(float(memory), 2.0**62)), workers)
