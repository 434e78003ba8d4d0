"""Parallel tasks: in this process, in processes of this machine, or on a cluster."""

import os
import threading
import time
from collections.abc import Callable, Generator, Iterable, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from contextlib import closing, nullcontext
from functools import partial
from itertools import islice
from multiprocessing import current_process
from typing import Any, TypeVar

from .._lib.cores import cpu_count
from .._lib.extras import needs
from .dask import DIED, WorkerDiedError, is_dask, on_cluster
from .sharing import from_file, on_file
from .threads import run_on_one_core

Task = TypeVar("Task")
Result = TypeVar("Result")
Map = Callable[..., Iterable[Any]]  # takes a function and tasks

# The environment of processes that use one core each, whatever libraries their tasks use.
_ONE_CORE = dict.fromkeys(
    (
        *("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "BLIS_NUM_THREADS", "VECLIB_MAXIMUM_THREADS"),
        *("NUMBA_NUM_THREADS", "NUMEXPR_NUM_THREADS", "LOKY_MAX_CPU_COUNT"),
    ),
    "1",
)


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
    work = partial(run_on_one_core, function)
    number = 1 if callable(workers) else min(n_processes(workers), len(tasks))
    if is_dask(workers):
        yield from on_cluster(workers.__self__, work, tasks, shared)
    elif not callable(workers) and (number <= 1 or current_process().daemon):  # daemons may not start processes
        yield from map(work if shared is None else partial(work, shared), tasks)
    else:
        with nullcontext() if shared is None else on_file(shared) as path:
            work = work if path is None else partial(from_file, path, work)
            yield from workers(work, tasks) if callable(workers) else _in_processes(work, tasks, number)


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
    """Yield the results of the tasks as they finish in processes of our own, which end with the last of them."""
    try:
        from joblib.externals.loky import ProcessPoolExecutor
        from joblib.externals.loky.process_executor import TerminatedWorkerError
    except ImportError:
        raise needs("More than one worker needs joblib", "reproduce") from None
    pool = ProcessPoolExecutor(number, initializer=_end_with, initargs=(os.getpid(),), env=_ONE_CORE)
    waiting = iter(tasks)

    def submit(n_tasks: int) -> set[Future[Result]]:
        return {pool.submit(work, task) for task in islice(waiting, n_tasks)}

    unfinished = True
    try:
        # Ctrl-C interrupts the main thread anywhere; in another, the start of processes is never left half done.
        with ThreadPoolExecutor(1) as starter:
            ahead = starter.submit(submit, 2 * number).result()  # as many as fit the queue that the processes read
        while ahead:
            done, ahead = wait(ahead, return_when=FIRST_COMPLETED)
            for future in done:
                yield future.result()
            ahead |= submit(len(done))
        unfinished = False
    except TerminatedWorkerError:
        raise WorkerDiedError(DIED) from None
    finally:
        # To wait is to hold a lock of loky's, which would stay locked in a child that another thread forks meanwhile.
        # Windows has no fork, and deletes no file that a process still uses.
        pool.shutdown(wait=not hasattr(os, "fork"), kill_workers=unfinished)


def _end_with(parent: int) -> None:
    """End this process soon after its parent, which cannot end its workers if it is killed."""

    def watch() -> None:
        while os.getppid() == parent:
            time.sleep(0.5)
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()
