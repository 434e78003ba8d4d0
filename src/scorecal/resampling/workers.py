"""Tasks side by side: in this process, in processes of this machine, or on a cluster."""

from __future__ import annotations

import os
import threading
import time
import warnings
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import cache, partial
from itertools import islice
from typing import Any, TypeVar

from .threads import cpu_count, one_core

__all__ = ["Map", "WorkerDiedError", "cluster", "n_processes", "spread"]

Task = TypeVar("Task")
Result = TypeVar("Result")
Map = Callable[[Callable[[Any], Any], Sequence[Any]], Iterable[Any]]


_DIED = (
    "A worker process died. Likely causes: it was killed, or memory ran out. What had been recorded is safe; run the "
    "same again to go on."
)
_N_ON_CLUSTER = 2000  # tasks at once


class WorkerDiedError(RuntimeError):
    """A worker process ended in the middle of a task."""


def n_processes(workers: int) -> int:
    """The number that `workers` stands for."""
    if isinstance(workers, bool) or not isinstance(workers, int) or (workers < 1 and workers != -1):
        raise ValueError(f"`workers` must be a positive integer, -1 or a map-like callable, but is {workers!r}.")
    return cpu_count() if workers == -1 else workers


def spread(
    function: Callable[[Task], Result], tasks: Sequence[Task], workers: int | Map = 1
) -> Generator[Result, None, None]:
    """function(task) for every task, each on one core; results come as they are ready, in any order.

    `workers` is as in SciPy: the number of processes (1: this one; -1: one for each core), or a map-like callable.
    """
    work = partial(_on_one_core, function)
    if callable(workers):
        yield from workers(work, tasks)
    elif (number := min(n_processes(workers), len(tasks))) <= 1:
        yield from map(work, tasks)
    else:
        yield from _in_processes(work, tasks, number)


def _in_processes(work: Callable[[Task], Result], tasks: Sequence[Task], number: int) -> Generator[Result, None, None]:
    try:
        from joblib import Parallel, delayed
        from joblib.externals.loky.process_executor import TerminatedWorkerError
    except ImportError:
        raise ImportError('More than one worker needs joblib: pip install "scorecal[reproduce]".') from None
    work = partial(_in_child, os.getpid(), work)
    parallel = Parallel(number, backend="loky", return_as="generator_unordered")
    results = parallel(delayed(work)(task) for task in tasks)
    try:
        for result in results:  # noqa: UP028 (`yield from` would close `results` before `finally` does)
            yield result
    except TerminatedWorkerError:
        raise WorkerDiedError(_DIED) from None
    finally:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # that tasks are given up is no news to who stops
            results.close()


@contextmanager
def cluster(address: str) -> Iterator[Map]:
    """A map, for `workers`, whose tasks run on the `dask.distributed` cluster with this scheduler.

    Parameters
    ----------
    address : str
        Of the scheduler, such as "tcp://10.0.0.1:8786". Its workers must have scorecal, and your own modules.
    """
    try:
        from distributed import CancelledError, Client, KilledWorker, as_completed
    except ImportError:
        raise ImportError('A cluster needs dask: pip install "scorecal[dask]".') from None

    def run(function: Callable[[Any], Any], tasks: Sequence[Any]) -> Iterator[Any]:
        if not client.scheduler_info()["workers"]:
            warnings.warn(f"The cluster at {address} has no workers yet; waiting for one.", stacklevel=3)
        waiting = iter(tasks)
        futures = as_completed(client.map(function, list(islice(waiting, _N_ON_CLUSTER)), pure=False))
        try:
            for future in futures:
                yield future.result()
                for task in islice(waiting, 1):
                    futures.add(client.submit(function, task, pure=False))
        except (CancelledError, KilledWorker) as error:
            raise WorkerDiedError(f"{_DIED} The cluster says: {error}") from None

    try:
        client = Client(address)
    except ValueError as error:
        raise ConnectionError(
            f"{address!r} is not the address of a scheduler, such as tcp://host:8786: {error}."
        ) from None
    with client:
        yield run


def _in_child(parent: int, work: Callable[[Task], Result], task: Task) -> Result:
    _end_with(parent)
    return work(task)


@cache
def _end_with(parent: int) -> None:
    """End this process soon after its parent: one that was killed cannot tell its workers."""
    if os.getpid() == parent:  # joblib stays in this process where it may not start others
        return

    def watch() -> None:
        while os.getppid() == parent:
            time.sleep(0.5)
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()


def _on_one_core(function: Callable[[Task], Result], task: Task) -> Result:
    with one_core():
        return function(task)
