"""Progress bars on a terminal."""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from .._lib.cores import is_side_by_side
from .._lib.text import visible


@contextmanager
def progress(
    total: int, unit: str, *, done: int = 0, label: str = "", delay: float = 0.0
) -> Iterator[Callable[[int], object]]:
    """Yield a function to call with each number of units done; it shows a bar, on a terminal and in one task only."""
    if not sys.stderr.isatty() or is_side_by_side():
        yield lambda n: None
        return
    from tqdm import tqdm

    name = visible(label) or None
    with tqdm(total=total, initial=done, unit=unit, desc=name, delay=delay, leave=False, smoothing=0) as bar:
        yield bar.update
