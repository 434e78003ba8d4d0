"""Tasks side by side: in this process, in processes of this machine, or on a cluster."""

from __future__ import annotations

import os
import threading
import time
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import cache, partial
from typing import Any, TypeVar

from .threads import cpu_count, one_core

__all__ = ["Map", "WorkerDiedError", "cluster", "spread"]

Task = TypeVar("Task")
Result = TypeVar("Result")
Map = Callable[[Callable[[Any], Any], Sequence[Any]], Iterable[Any]]


class WorkerDiedError(RuntimeError):
    """A worker process ended in the middle of a task."""


def spread(function: Callable[[Task], Result], tasks: Sequence[Task], workers: int | Map = 1) -> Iterator[Result]:
    """function(task) for every task, each on one core; results come as they are ready, in any order.

    `workers` is as in SciPy: the number of processes (1: this one; -1: one for each core), or a map-like callable.
    """
    work = partial(_on_one_core, function)
    if callable(workers):
        return iter(workers(work, tasks))
    if isinstance(workers, bool) or not isinstance(workers, int) or (workers < 1 and workers != -1):
        raise ValueError(f"`workers` must be a positive integer, -1 or a map-like callable, but is {workers!r}.")
    n_processes = min(cpu_count() if workers == -1 else workers, len(tasks))
    return map(work, tasks) if n_processes <= 1 else _in_processes(work, tasks, n_processes)


def _in_processes(work: Callable[[Task], Result], tasks: Sequence[Task], n_processes: int) -> Iterator[Result]:
    try:
        from joblib import Parallel, delayed
        from joblib.externals.loky.process_executor import TerminatedWorkerError
    except ImportError:
        raise ImportError('More than one worker needs joblib: pip install "scorecal[reproduce]".') from None
    work = partial(_in_child, os.getpid(), work)
    results = Parallel(n_processes, return_as="generator_unordered")(delayed(work)(task) for task in tasks)
    try:
        for result in results:  # noqa: UP028 (`yield from` would close `results` before `finally` does)
            yield result
    except TerminatedWorkerError:
        raise WorkerDiedError("A worker process died. Likely causes: it was killed, or memory ran out.") from None
    finally:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # that tasks are given up is no news to who stops
            results.close()


@contextmanager
def cluster(address: str) -> Iterator[Map]:
    """A map for `spread` whose tasks run on the `dask.distributed` cluster with this scheduler."""
    try:
        from distributed import Client, as_completed
    except ImportError:
        raise ImportError('A cluster needs dask: pip install "scorecal[dask]".') from None

    def run(function: Callable[[Any], Any], tasks: Sequence[Any]) -> Iterator[Any]:
        futures = client.map(function, tasks, pure=False)
        for future in as_completed(futures):
            yield future.result()
            future.release()

    with Client(address) as client:
        yield run


def _in_child(parent: int, work: Callable[[Task], Result], task: Task) -> Result:
    _end_with(parent)
    return work(task)


@cache
def _end_with(parent: int) -> None:
    """End this process soon after its parent: one that was killed cannot tell its workers."""

    def watch() -> None:
        while os.getppid() == parent:
            time.sleep(0.5)
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()


def _on_one_core(function: Callable[[Task], Result], task: Task) -> Result:
    with one_core():
        return function(task)
