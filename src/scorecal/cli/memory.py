"""How much memory data may take, so that a hostile file is refused before the machine runs out of it."""

import math
import os
from pathlib import Path

from .table import InputError

_LIMITS_OF_CONTAINERS = ("/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes")


def memory_for_data() -> float:
    """Half of the memory, in bytes, that is free or could be: a test needs as much again as its data.

    What is refused by this could not have been tested; so no data that could are. Infinite where it is not known.
    """
    found = [_machine(), *(_number_in(path) for path in _LIMITS_OF_CONTAINERS)]
    return 0.5 * min(found)


def check_memory(source: str, needed: float, available: float) -> None:
    """Raise if data would take more than what is available to them."""
    if needed > available:
        raise InputError(
            f"{source}: the data would take {needed / 1e9:.1f} GB or more of memory, but only {available / 1e9:.1f} GB "
            "can be given to them on this machine. Likely causes: a damaged or malicious file, or too many rows."
        )


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


def _number_in(path: str) -> float:
    try:
        return float(Path(path).read_text())
    except (OSError, ValueError):  # no such group, or "max"
        return math.inf
