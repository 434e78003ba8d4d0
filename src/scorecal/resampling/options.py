"""Options of a computation: pairs, null distribution, memory, workers and precision."""

from dataclasses import dataclass, field
from numbers import Real
from typing import Any

from ..parallel.workers import Map, check_workers
from .estimators import Complete, Estimator, as_estimator
from .nulls import Null, as_null

_LEAST_MEMORY = 2**20


@dataclass(frozen=True)
class ComputeOptions:
    """The checked keyword arguments of these names, which all tests share.

    `null` None: the estimator's own. `memory` is in bytes, for the tiles of each process; None: a default. `workers`
    None: threads of this process. With `precision` "mixed", float32 data on a GPU are multiplied with signs in float16.
    """

    estimator: Estimator = field(default_factory=Complete)
    null: Null | None = None
    memory: int | None = None
    workers: int | Map | None = None
    precision: str = "mixed"


def as_options(estimator: Any, null: Any, memory: Any, workers: Any, precision: Any) -> ComputeOptions:
    """Return the options that these keyword arguments of the tests set; raise if one is not valid."""
    if memory is not None:
        if isinstance(memory, bool) or not isinstance(memory, Real) or not float(memory) >= _LEAST_MEMORY:
            raise ValueError(f"`memory` must be a number of bytes, at least {_LEAST_MEMORY} (1 MB), but is {memory!r}.")
        memory = int(min(float(memory), 2.0**62))
    if precision not in ("mixed", "full"):
        raise ValueError(f"`precision` must be 'mixed' or 'full', but is {precision!r}.")
    if workers is not None:
        check_workers(workers)
    return ComputeOptions(as_estimator(estimator), as_null(null), memory, workers, precision)
