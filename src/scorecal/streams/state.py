"""Sums so far in a file, so that a run that was killed goes on where it stopped."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from .files import FileError, load, save

_SECONDS = 20.0  # between two times that sums are written
_KIND = "sums so far"


def begun(path: Path | None, stage: str, settings: Mapping[str, Any], known: Mapping[str, type]) -> tuple[int, Any]:
    """Return how many parts of a stage are done, and their sum; raise if the file is of another run."""
    if path is None or not path.exists():
        return 0, None
    held = load(path, _KIND, known)
    for name, value in settings.items():
        if held["settings"].get(name) != value:
            raise FileError(
                f"{path}: the sums are of another run, with {name} = {held['settings'].get(name)!r} and not {value!r}. "
                "Give another file, or remove this one."
            )
    found = held["stages"].get(stage)
    return (0, None) if found is None else (found["done"], found["total"])


def keeper(
    path: Path | None, stage: str, n_parts: int, settings: Mapping[str, Any], earlier: Mapping[str, Any]
) -> Callable[[int, Any], None]:
    """Return the function that writes sums to the file every so often, and when all parts are done.

    `earlier` holds the stages before this one, done.
    """
    last = time.monotonic()

    def keep(done: int, total: Any) -> None:
        nonlocal last
        if path is None or (done < n_parts and time.monotonic() - last < _SECONDS):
            return
        stages = {**earlier, stage: {"done": done, "total": total}}
        save(path, _KIND, {"settings": dict(settings), "stages": stages})
        last = time.monotonic()

    return keep
