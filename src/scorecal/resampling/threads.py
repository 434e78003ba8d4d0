"""Cores, and whose turn it is to use them."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager

__all__ = ["all_cores", "cpu_count"]

_turn = threading.Lock()


def cpu_count() -> int:
    """Cores that this process may use."""
    try:
        return len(os.sched_getaffinity(0))
    except AttributeError:  # not on Linux
        return os.cpu_count() or 1


@contextmanager
def all_cores() -> Iterator[None]:
    """Limit the BLAS to one thread, so that tiles side by side can use all cores.

    The limit holds for the whole process. Callers in several threads therefore take turns: side by side, the second
    would restore the limit of the first; and each uses all cores anyway.
    """
    from threadpoolctl import threadpool_limits

    with _turn, threadpool_limits(1, user_api="blas"):
        yield
