"""Threads on all cores, and limits on the threads of the BLAS."""

import threading
from collections import deque
from collections.abc import Callable, Generator, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from itertools import islice
from typing import TypeVar

from .._lib.cores import on_one_core

Task = TypeVar("Task")
Result = TypeVar("Result")

_turn = threading.Lock()


class _SingleThreadedBLAS:
    """Limit the BLAS of the whole process to one thread, from the first entry until the last exit."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._n_inside = 0

    def __enter__(self) -> None:
        from threadpoolctl import threadpool_limits

        with self._lock:
            if self._n_inside == 0:
                self._limits = threadpool_limits(1, user_api="blas")
            self._n_inside += 1

    def __exit__(self, *error: object) -> None:
        with self._lock:
            self._n_inside -= 1
            if self._n_inside == 0:
                self._limits.restore_original_limits()


_single_threaded_blas = _SingleThreadedBLAS()


@contextmanager
def _all_cores() -> Iterator[None]:
    """Let parallel tiles use all cores, each with a single-threaded BLAS; callers in several threads take turns."""
    with _turn, _single_threaded_blas:
        yield


@contextmanager
def one_core() -> Iterator[None]:
    """Work on one core, as one of many parallel tasks: neither tiles nor the BLAS start threads."""
    token = on_one_core.set(True)
    try:
        with _single_threaded_blas:
            yield
    finally:
        on_one_core.reset(token)


def in_threads(work: Callable[[Task], Result], tasks: Sequence[Task], n_threads: int) -> Generator[Result, None, None]:
    """Yield the results of the tasks in order, computed in threads of this process."""
    if n_threads == 1:
        yield from map(work, tasks)
        return
    # Elementwise NumPy uses one core only: parallel tiles, each with a single-threaded BLAS, use all of them.
    with _all_cores(), ThreadPoolExecutor(n_threads) as pool:
        try:
            waiting = iter(tasks)
            ahead = deque(pool.submit(work, task) for task in islice(waiting, 4 * n_threads))
            while ahead:
                yield ahead.popleft().result()
                ahead.extend(pool.submit(work, task) for task in islice(waiting, 1))
        finally:
            pool.shutdown(wait=True, cancel_futures=True)
