"""Bounds on the memory of data and draws: too much is refused before the system ends the process."""

import math
import os
from pathlib import Path

from ..predictions import AnyPredictions, Categorical
from .table import InputError

_CONTAINERS = (  # folders, and files of the limit and of what is in use, of both versions
    ("/sys/fs/cgroup", "memory.max", "memory.current"),
    ("/sys/fs/cgroup/memory", "memory.limit_in_bytes", "memory.usage_in_bytes"),
)
_CACHES = ("active_file ", "inactive_file ")  # of files; they count as in use, and are given up when asked for

_BYTES_OF_SIGNS, _ROWS_AT_ONCE = 24, 8192  # `diagnose` holds the signs of so many rows, in three arrays at worst


def memory_for_data() -> float:
    """Half of the memory, in bytes, that is free or could be; infinite where it is not known.

    A test needs about as much memory again as its data.
    """
    return 0.5 * _available()


def check_memory(source: str, needed: float, available: float) -> None:
    """Raise if data would take more than what is available to them."""
    if needed > available:
        raise InputError(
            f"{source}: the data would take {needed / 1e9:.1f} GB or more of memory, but only {available / 1e9:.1f} GB "
            "can be given to them on this machine. Likely causes: a damaged or malicious file, or too many rows."
        )


def check_draws(predictions: AnyPredictions | Categorical, n_resamples: int) -> None:
    """Raise if the draws that were asked for need more memory than there is."""
    n, d = predictions.n, 1 if isinstance(predictions, Categorical) else predictions.dim
    needed, available = n_resamples * (_BYTES_OF_SIGNS * min(n, _ROWS_AT_ONCE) + n // 4 + 1000 * d), _available()
    if needed > available:
        raise InputError(
            f"--n-resamples {n_resamples} needs about {needed / 1e9:.3g} GB of memory for {n} rows, but there are only "
            f"{available / 1e9:.1f} GB. Give fewer."
        )


def _available() -> float:
    """Bytes that this process may take: of the machine, its container and its own limit."""
    return min([_machine(), _own_limit(), *(left_in(*container) for container in _CONTAINERS)])


def _own_limit() -> float:
    try:
        import resource
    except ImportError:  # Windows
        return math.inf
    limit = resource.getrlimit(resource.RLIMIT_AS)[0]
    return math.inf if limit == resource.RLIM_INFINITY else limit


def _machine() -> float:
    try:
        lines = Path("/proc/meminfo").read_text().splitlines()
        return next(1024.0 * int(line.split()[1]) for line in lines if line.startswith("MemAvailable"))
    except (OSError, StopIteration):  # not Linux
        pass
    try:
        return float(os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE"))
    except (AttributeError, OSError, ValueError):  # Windows
        return math.inf


def left_in(folder: str, limit: str, in_use: str) -> float:
    """Bytes that a container may still take."""
    try:
        most, used = (float((Path(folder) / name).read_text()) for name in (limit, in_use))
        lines = (Path(folder) / "memory.stat").read_text().splitlines()
        return max(0.0, most - used + sum(int(line.split()[1]) for line in lines if line.startswith(_CACHES)))
    except (OSError, ValueError):  # no such group, or "max"
        return math.inf
