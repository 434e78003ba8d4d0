"""Tasks in threads on all cores, or on one core beside others."""

import os
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from itertools import chain, islice
from typing import Any, TypeVar

from .._lib.cores import on_one_core
from .blas import single_threaded_blas

Task = TypeVar("Task")
Result = TypeVar("Result")

# Its one entry is the caller who uses all cores. No lock: an interrupt may come before one knows that one holds it.
_turn: dict[str, object] = {}

if hasattr(os, "register_at_fork"):  # not on Windows
    os.register_at_fork(after_in_child=_turn.clear)


@contextmanager
def one_core() -> Iterator[None]:
    """Work on one core, as one of many parallel tasks: neither tiles nor the BLAS start threads."""
    token = on_one_core.set(True)
    try:
        with single_threaded_blas:
            yield
    finally:
        on_one_core.reset(token)


def run_on_one_core(function: Callable[..., Result], *arguments: Any) -> Result:
    """Return function(*arguments), computed on one core."""
    with one_core():
        return function(*arguments)


def in_threads(work: Callable[[Task], Result], tasks: Iterable[Task], n_threads: int) -> Generator[Result, None, None]:
    """Yield the results of the tasks in order, computed in threads of this process.

    Callers take turns at using all cores. Who finds them in use does one task after another in his own thread until
    they are free. So nobody waits for a caller who may be waiting for him: the task of one may itself be a caller.
    """
    caller = object()
    waiting = iter(tasks)
    first = list(islice(waiting, 2))
    n_threads = n_threads if len(first) > 1 else 1  # threads take longer to start than a small task
    waiting = chain(first, waiting)
    try:
        for task in waiting:
            if n_threads > 1 and _turn.setdefault("caller", caller) is caller:
                yield from _on_all_cores(work, chain([task], waiting), n_threads)
            else:
                yield work(task)
    finally:
        if _turn.get("caller") is caller:
            _turn.clear()


def _on_all_cores(
    work: Callable[[Task], Result], tasks: Iterable[Task], n_threads: int
) -> Generator[Result, None, None]:
    # Elementwise NumPy uses one core only: parallel tiles, each with a single-threaded BLAS, use all of them.
    with single_threaded_blas, ThreadPoolExecutor(n_threads) as pool:
        try:
            waiting = iter(tasks)
            ahead = deque(pool.submit(run_on_one_core, work, task) for task in islice(waiting, 4 * n_threads))
            while ahead:
                yield ahead.popleft().result()
                ahead.extend(pool.submit(run_on_one_core, work, task) for task in islice(waiting, 1))
        finally:
            pool.shutdown(wait=True, cancel_futures=True)
