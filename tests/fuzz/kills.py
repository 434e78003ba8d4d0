"""Campaign: commands killed at random instants and run again end as if nothing had happened.

After every kill, each file that a reader may find is whole: as it was before, or as an undisturbed run leaves it.
"""

import os
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable
from contextlib import closing
from functools import cache
from pathlib import Path
from typing import Any

from hypothesis import strategies as st

from .campaign import Campaign
from .files import COLUMNS, whole

RESULTS = "results.sqlite"
OLD = b"the report of last week"
COMMANDS = {
    "report": ["test", "forecasts.csv", *COLUMNS, "--report", "report.html", "--n-resamples", "99"],
    "reproduce": ["reproduce", "f1", "--repeats", "1", "--workers", "1", "--out", "."],
    "two workers": ["reproduce", "f1", "--repeats", "1", "--workers", "2", "--out", "."],
}
SIGNALS = {"kill": signal.SIGKILL, "interrupt": signal.SIGINT}
# A shell may have told its background jobs to ignore interrupts.
_MAIN = "import signal, sys; signal.signal(signal.SIGINT, signal.default_int_handler); from scorecal.cli import main; "
_START = [sys.executable, "-c", _MAIN + "sys.exit(main())"]


@st.composite
def cases(draw: Any) -> dict[str, Any]:
    """Draw a command, and signals with the share of its usual time after which each comes."""
    instant = st.integers(0, 99).map(lambda k: (50 + k) % 100 / 100)  # the simplest case is a kill half-way
    kill = st.tuples(st.sampled_from(list(SIGNALS)), instant).map(list)
    return {
        "command": draw(st.sampled_from(list(COMMANDS))),
        "kills": draw(st.lists(kill, min_size=1, max_size=3)),
    }


def prepare(folder: Path) -> None:
    """Put the input into a folder, and a report that is already there."""
    (folder / "forecasts.csv").write_bytes(whole("csv"))
    (folder / "report.html").write_bytes(OLD)


def started(command: str, folder: Path) -> subprocess.Popen[str]:
    """Start a command in a folder, with workers in its own group of processes."""
    quiet: dict[str, Any] = {"stdout": subprocess.DEVNULL, "stderr": subprocess.PIPE, "text": True}
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    return subprocess.Popen([*_START, *COMMANDS[command]], cwd=folder, env=environment, start_new_session=True, **quiet)


def finish(command: str, folder: Path) -> None:
    """Run a command to its end."""
    with started(command, folder) as process:
        _, errors = process.communicate(timeout=600)
    assert process.returncode == 0, f"run again, {command} ends with {process.returncode}: {errors}"


def files_of(folder: Path) -> dict[str, bytes]:
    """Return what a reader finds: files that are not hidden, but for the results."""
    found = (path for path in folder.iterdir() if not path.name.startswith((".", RESULTS)))
    return {path.name: path.read_bytes() for path in found}


def results_of(folder: Path) -> set[tuple[Any, ...]]:
    """Return the rows of the results; opening the file also undoes what a killed run had not finished."""
    if not (folder / RESULTS).exists():
        return set()
    with closing(sqlite3.connect(folder / RESULTS)) as connection:
        tables = {name for (name,) in connection.execute("select name from sqlite_master where type = 'table'")}
        return set(connection.execute("select * from results")) if "results" in tables else set()


@cache
def undisturbed(command: str) -> tuple[float, dict[str, bytes], set[tuple[Any, ...]]]:
    """Return the usual time of a command, and the files and results that it leaves."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        prepare(folder)
        start = time.monotonic()
        finish(command, folder)
        return time.monotonic() - start, files_of(folder), results_of(folder)


def check(case: dict[str, Any]) -> None:
    """Raise if a kill leaves half a file, or if the command, run again, ends otherwise than an undisturbed run."""
    command = case["command"]
    seconds, files, results = undisturbed(command)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        prepare(folder)
        before = files_of(folder)
        for kind, share in case["kills"]:
            _kill(command, folder, SIGNALS[kind], share * seconds)
            _whole(files_of(folder), [before, files])
            assert results_of(folder) <= results, "results that an undisturbed run does not have"
        finish(command, folder)
        left = [path.name for path in folder.iterdir() if path.name.startswith(".")]
        assert not left, f"left behind: {left}"
        assert results_of(folder) == results, "other results than those of an undisturbed run"
        _whole(files_of(folder), [files])


def _kill(command: str, folder: Path, how: signal.Signals, seconds: float) -> None:
    """Start a command and stop it: as a user does from the keyboard, all of its processes, or the first one alone."""
    with started(command, folder) as process:
        try:
            process.communicate(timeout=seconds)
        except subprocess.TimeoutExpired:
            if how == signal.SIGINT:
                os.killpg(process.pid, how)
            else:
                process.kill()
            process.communicate(timeout=120)


def _whole(found: dict[str, bytes], allowed: Iterable[dict[str, bytes]]) -> None:
    for name, content in found.items():
        versions = [each[name] for each in allowed if name in each]
        assert content in versions, f"{name} holds {len(content)} bytes, and not {[len(each) for each in versions]}"


KILLS = Campaign("kills", cases(), check, quick=1, minimise=False)
