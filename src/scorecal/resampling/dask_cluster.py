"""Tasks on a cluster of `dask.distributed`."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from contextlib import contextmanager
from itertools import islice
from types import MethodType
from typing import Any, TypeGuard, TypeVar

from .._warn import warn_user

__all__ = ["DIED", "WorkerDiedError", "cluster", "is_dask", "on_cluster"]

Result = TypeVar("Result")

DIED = (
    "A worker process died. Likely causes: it was killed, or memory ran out. What had been recorded is safe; run the "
    "same again to go on."
)
_N_AT_ONCE = 2000  # tasks


class WorkerDiedError(RuntimeError):
    """A worker process ended in the middle of a task."""


def is_dask(workers: Any) -> TypeGuard[MethodType]:
    """Whether it is the map of a `distributed.Client`, which gives futures in place of results."""
    return isinstance(workers, MethodType) and any(
        base.__module__.startswith("distributed.") for base in type(workers.__self__).__mro__
    )


def on_cluster(
    client: Any, work: Callable[..., Result], tasks: Sequence[Any], shared: Any
) -> Generator[Result, None, None]:
    from distributed import CancelledError, KilledWorker, as_completed

    if not client.scheduler_info()["workers"]:
        warn_user(f"The cluster at {client.scheduler.address} has no workers yet; waiting for one.")
        client.wait_for_workers(1)
    # Every worker has a copy: one that is lost takes nothing with it.
    first = [] if shared is None else [client.scatter(shared, broadcast=True, hash=False)]
    waiting = iter(tasks)
    futures = as_completed([client.submit(work, *first, task, pure=False) for task in islice(waiting, _N_AT_ONCE)])
    try:
        for future in futures:
            yield future.result()
            for task in islice(waiting, 1):
                futures.add(client.submit(work, *first, task, pure=False))
    except (CancelledError, KilledWorker) as error:
        raise WorkerDiedError(f"{DIED} The cluster says: {error}") from None
    finally:
        client.cancel([*futures.futures, *first])


@contextmanager
def cluster(address: str) -> Iterator[Callable[..., Iterable[Any]]]:
    """A map, for `workers`, whose tasks run on the `dask.distributed` cluster with this scheduler.

    Parameters
    ----------
    address : str
        Of the scheduler, such as "tcp://10.0.0.1:8786". Its workers must have scorecal, and your own modules.
    """
    try:
        from distributed import Client
    except ImportError:
        raise ImportError('A cluster needs dask: pip install "scorecal[dask]".') from None
    try:
        client = Client(address)
    except ValueError as error:
        raise ConnectionError(
            f"{address!r} is not the address of a scheduler, such as tcp://host:8786: {error}."
        ) from None
    with client:
        yield client.map
