"""Sums over parts, added in their order, whoever computes them: no number depends on how work was shared out."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable
from contextlib import closing
from functools import partial
from itertools import islice
from typing import Any

from ..parallel.progress import progress
from ..parallel.workers import Map, in_order, map_tasks

Numbered = tuple[int, Any]


def sum_over(
    work: Callable[[Any, Numbered], Any],
    parts: Iterable[Any],
    n_parts: int,
    shared: Any,
    workers: int | Map | None,
    *,
    label: str,
    begun: tuple[int, Any] = (0, None),
    keep: Callable[[int, Any], object] = lambda done, total: None,
) -> Any:
    """Return the sum of work(shared, (number, part)) over all parts, with the first few of them `begun` already.

    `keep(done, total)` is called after each part with the number of parts so far and their sum.
    """
    done, total = begun
    with (
        closing(_results(work, parts, n_parts, done, shared, workers)) as results,
        progress(n_parts, "part", done=done, label=label, delay=2.0) as advance,
    ):
        for found in results:
            total = found if total is None else total + found
            done += 1
            keep(done, total)
            advance(1)
    if done != n_parts:
        raise ValueError(f"`parts` must give {n_parts} batches, as many as before or as `sizes` has, but gave {done}.")
    return total


def _results(
    work: Callable[[Any, Numbered], Any],
    parts: Iterable[Any],
    n_parts: int,
    done: int,
    shared: Any,
    workers: int | Map | None,
) -> Generator[Any, None, None]:
    """Yield what work returns for each part that is not done, in order."""
    left = islice(enumerate(parts), done, n_parts)
    if workers is None:  # a part at a time, whose rows all cores share; parts may be too large to be held together
        yield from (work(shared, task) for task in left)
        return
    tasks = [(number - done, part) for number, part in left]
    yield from in_order(map_tasks(partial(_numbered, done, work), tasks, workers, shared), n_parts - done)


def _numbered(done: int, work: Callable[[Any, Numbered], Any], shared: Any, task: Numbered) -> Numbered:
    number, part = task
    return number, work(shared, (number + done, part))
