"""Tasks on a cluster of `dask.distributed`."""

from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from contextlib import contextmanager
from itertools import islice
from types import MethodType
from typing import Any, TypeGuard, TypeVar

from .._lib.extras import needs
from .._lib.warn import warn_user

Result = TypeVar("Result")

DIED = (
    "A worker process died. Likely causes: it was killed, or memory ran out. Recorded results are safe; run the same "
    "again to continue."
)
_N_AT_ONCE = 2000  # tasks
_N_ATTEMPTS = 4


class WorkerDiedError(RuntimeError):
    """A worker process ended in the middle of a task."""


def is_dask(workers: Any) -> TypeGuard[MethodType]:
    """Return whether `workers` is the map of a `distributed.Client`, which returns futures in place of results."""
    return isinstance(workers, MethodType) and any(
        base.__module__.startswith("distributed.") for base in type(workers.__self__).__mro__
    )


def on_cluster(
    client: Any, work: Callable[..., Result], tasks: Sequence[Any], shared: Any
) -> Generator[Result, None, None]:
    """Yield the results of all tasks, as they finish on a dask cluster; repeat those of workers that were lost."""
    from distributed import CancelledError, KilledWorker

    if not client.scheduler_info()["workers"]:
        warn_user(f"The cluster at {client.scheduler.address} has no workers yet; waiting for one.")
        client.wait_for_workers(1)
    remaining = dict(enumerate(tasks))
    for attempt in range(_N_ATTEMPTS):
        try:
            yield from _all_of(client, work, remaining, shared)
            return
        except CancelledError as error:
            # Every worker has a copy of the data, but dask may drop copies, and a lost worker may have held the last.
            if attempt + 1 == _N_ATTEMPTS or not client.scheduler_info()["workers"]:
                raise WorkerDiedError(f"{DIED} The cluster says: {error}") from None
        except KilledWorker as error:
            raise WorkerDiedError(f"{DIED} The cluster says: {error}") from None


def _all_of(
    client: Any, work: Callable[..., Result], remaining: dict[int, Any], shared: Any
) -> Generator[Result, None, None]:
    """Yield the results of the remaining tasks, and remove finished tasks from `remaining`."""
    from distributed import as_completed

    first = [] if shared is None else [client.scatter(shared, broadcast=True, hash=False)]
    numbers: dict[str, int] = {}

    def submit(number: int) -> Any:
        future = client.submit(work, *first, remaining[number], pure=False)
        numbers[future.key] = number
        return future

    waiting = iter(list(remaining))
    futures = as_completed([submit(number) for number in islice(waiting, _N_AT_ONCE)])
    try:
        for future in futures:
            result = future.result()
            del remaining[numbers[future.key]]
            yield result
            for number in islice(waiting, 1):
                futures.add(submit(number))
    finally:
        client.cancel([*futures.futures, *first])


@contextmanager
def cluster(address: str) -> Iterator[Callable[..., Iterable[Any]]]:
    """Yield a map, for `workers`, whose tasks run on the `dask.distributed` cluster with this scheduler.

    Parameters
    ----------
    address : str
        Address of the scheduler, such as "tcp://10.0.0.1:8786". Its workers must have scorecal and your own modules.
    """
    try:
        from distributed import Client
    except ImportError:
        raise needs("A cluster needs dask", "dask") from None
    try:
        client = Client(address)
    except ValueError as error:
        raise ConnectionError(
            f"`address` must be that of a dask scheduler, such as tcp://host:8786, but {address!r} gave: {error}."
        ) from None
    with client:
        yield client.map
