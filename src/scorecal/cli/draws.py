"""Whether the draws that were asked for fit into memory: the system would kill the process, and say nothing."""

import math
import os
from contextlib import suppress
from pathlib import Path

from ..predictions import Predictions
from .table import InputError

_ROWS_AT_ONCE = 8192  # rows whose random signs are held at a time, as three arrays of numbers at worst


def check_draws(predictions: Predictions, n_resamples: int) -> None:
    """Raise if the draws need more memory than there is."""
    n, d = predictions.n, predictions.dim
    needed = n_resamples * (24 * min(n, _ROWS_AT_ONCE) + n // 4 + 1000 * d)
    there = _memory()
    if needed > there:
        raise InputError(
            f"--n-resamples {n_resamples} needs about {needed / 1e9:.3g} GB of memory for {n} rows, where there are "
            f"{there / 1e9:.3g}. Give fewer."
        )


def _memory() -> float:
    """Bytes that this process may take: of the machine, its container and its own limit; infinity if unknown."""
    found = [math.inf]
    with suppress(AttributeError, ValueError, OSError):
        found.append(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"))
    with suppress(OSError, ValueError):
        found.append(float(Path("/sys/fs/cgroup/memory.max").read_text()))  # of a container; "max" if it has none
    with suppress(ImportError):
        import resource

        limit = resource.getrlimit(resource.RLIMIT_AS)[0]
        found.append(math.inf if limit == resource.RLIM_INFINITY else limit)
    return min(found)
