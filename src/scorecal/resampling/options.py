"""Options of a computation: pairs, null distribution, memory, workers and precision."""

from dataclasses import dataclass, field, replace
from numbers import Real
from typing import Any, Literal

from ..parallel.workers import Map, check_workers
from .automatic import automatic_null
from .clusters import Clusters, clusters_of
from .estimators import Complete, Estimator, as_estimator
from .nulls import Null, RandomSigns, Simulate, StudentT, as_null, name_of

_LEAST_MEMORY = 2**20
_FOR_INDEPENDENT_ROWS = (Simulate, StudentT)


@dataclass(frozen=True)
class ComputeOptions:
    """The checked keyword arguments of these names, which all tests share.

    `null` None: the estimator's own; "auto": `for_rows` chooses. `memory` is in bytes, for the tiles of pairs and the
    blocks of features of each process; None: a default. `workers` None: threads of this process. With `precision`
    "mixed", signs are multiplied in float32, and for float32 data on a GPU in float16. `clusters` None: rows are
    independent, and in no order.
    """

    estimator: Estimator = field(default_factory=Complete)
    null: Null | Literal["auto"] | None = None
    memory: int | None = None
    workers: int | Map | None = None
    precision: str = "full"
    clusters: Clusters | None = None

    @property
    def shared(self) -> Clusters | None:
        """Clusters of the rows; None where each row is one."""
        clusters = self.clusters
        return None if clusters is None or clusters.n_clusters == len(clusters.labels) else clusters


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


def for_rows(
    options: ComputeOptions, predictions: Any, groups: Any, horizon: Any, n: int | None = None, *, chains: bool = False
) -> ComputeOptions:
    """Return the options for n rows, or one for each prediction; raise where a null is for independent rows only."""
    if groups is None and horizon is None and options.null != "auto":
        return options
    n = getattr(predictions, "n", None) if n is None else n
    if not isinstance(n, int):  # what is wrong with such predictions is told where they are used
        return options
    clusters = clusters_of(groups, horizon, n)
    if options.null == "auto":
        null = automatic_null(predictions, options.estimator, n, chains) if clusters is None else RandomSigns()
        options = replace(options, null=null)
    if clusters is None:
        return options
    if isinstance(options.null, _FOR_INDEPENDENT_ROWS):
        raise ValueError(
            f"`null` must not be {name_of(options.null)!r} with `groups` or `horizon`: it is for independent rows. "
            "Leave `null` out, for random signs that rows of a group or block share."
        )
    return replace(options, clusters=clusters, null=options.null or RandomSigns())
