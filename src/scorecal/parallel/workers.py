"""Parallel tasks: in this process, in processes of this machine, or on a cluster."""

import os
import threading
import time
import warnings
from collections.abc import Callable, Generator, Iterable, Sequence
from contextlib import closing, nullcontext
from functools import cache, partial
from typing import Any, TypeVar

from .._lib.cores import cpu_count
from .._lib.extras import needs
from .dask import DIED, WorkerDiedError, is_dask, on_cluster
from .sharing import from_file, on_file
from .threads import one_core

Task = TypeVar("Task")
Result = TypeVar("Result")
Map = Callable[..., Iterable[Any]]  # takes a function and tasks


def check_workers(workers: Any) -> None:
    """Raise unless `workers` is None, a map-like callable or a number of processes."""
    if workers is not None and not callable(workers):
        n_processes(workers)


def n_processes(workers: int) -> int:
    """Return the number of processes that `workers` stands for; -1 means one for each core."""
    if isinstance(workers, bool) or not isinstance(workers, int) or (workers < 1 and workers != -1):
        raise ValueError(f"`workers` must be a positive integer, -1 or a map-like callable, but is {workers!r}.")
    return cpu_count() if workers == -1 else workers


def map_tasks(
    function: Callable[..., Result], tasks: Sequence[Task], workers: int | Map = 1, shared: Any = None
) -> Generator[Result, None, None]:
    """Yield function(task) for every task, each on one core, in the order in which they finish.

    `workers` is as in SciPy: the number of processes (1: this one; -1: one for each core), or a map-like callable. The
    map of a dask client is recognised, and its futures are awaited.

    With `shared`, yield function(shared, task). `shared` is sent to every worker once: by the scheduler of a dask
    cluster, or else in a file.
    """
    work = partial(_on_one_core, function)
    if is_dask(workers):
        yield from on_cluster(workers.__self__, work, tasks, shared)
    elif not callable(workers) and min(n_processes(workers), len(tasks)) <= 1:
        yield from map(work if shared is None else partial(work, shared), tasks)
    else:
        with nullcontext() if shared is None else on_file(shared) as path:
            work = work if path is None else partial(from_file, path, work)
            if callable(workers):
                yield from workers(work, tasks)
            else:
                yield from _in_processes(work, tasks, min(n_processes(workers), len(tasks)))


def in_order(results: Generator[tuple[int, Result], None, None], expected: int) -> Generator[Result, None, None]:
    """Yield numbered results in the order of their numbers; early ones wait."""
    early: dict[int, Result] = {}
    awaited = 0
    with closing(results):
        for each in results:
            if not isinstance(each, tuple):
                raise TypeError(
                    f"`workers` must be a map that returns results, but it gave a {type(each).__name__}. For dask "
                    "give `client.map` itself."
                )
            number, result = each
            early[number] = result
            while awaited in early:
                yield early.pop(awaited)
                awaited += 1
    if awaited < expected:
        raise ValueError(
            f"`workers` must be a map that does all tasks, but task {awaited + 1} of {expected} is missing."
        )


def _in_processes(work: Callable[[Task], Result], tasks: Sequence[Task], number: int) -> Generator[Result, None, None]:
    try:
        from joblib import Parallel, delayed
        from joblib.externals.loky import get_reusable_executor
        from joblib.externals.loky.process_executor import TerminatedWorkerError
    except ImportError:
        raise needs("More than one worker needs joblib", "reproduce") from None
    work = partial(_in_child, os.getpid(), work)
    parallel = Parallel(number, backend="loky", return_as="generator_unordered")
    results = parallel(delayed(work)(task) for task in tasks)
    try:
        for result in results:  # noqa: UP028 (`yield from` would close `results` before `finally` does)
            yield result
    except TerminatedWorkerError:
        raise WorkerDiedError(DIED) from None
    finally:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # joblib would warn that the remaining tasks are dropped
            results.close()
        # Idle processes would end by themselves after some minutes, perhaps just as new work arrives.
        get_reusable_executor().shutdown(wait=True)


def _in_child(parent: int, work: Callable[[Task], Result], task: Task) -> Result:
    _end_with(parent)
    return work(task)


@cache
def _end_with(parent: int) -> None:
    """End this process soon after its parent, which cannot end its workers if it is killed."""
    if os.getpid() == parent:  # joblib runs tasks in this process where it may not start others
        return

    def watch() -> None:
        while os.getppid() == parent:
            time.sleep(0.5)
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()


def _on_one_core(function: Callable[..., Result], *arguments: Any) -> Result:
    with one_core():
        return function(*arguments)
