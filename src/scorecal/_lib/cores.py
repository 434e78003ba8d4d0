"""Number of cores that a task may use."""

import os
from contextvars import ContextVar

on_one_core = ContextVar("on_one_core", default=False)


def is_side_by_side() -> bool:
    """Return whether this task runs beside others, each on one core."""
    return on_one_core.get()


def cpu_count() -> int:
    """Number of cores that this process may use: 1 if it runs beside others."""
    if is_side_by_side():
        return 1
    try:
        return len(os.sched_getaffinity(0))
    except AttributeError:  # not on Linux
        return os.cpu_count() or 1
