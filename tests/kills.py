"""Commands that are stopped while they work and write, by Ctrl-C, kill -9 or a full disk, at moments by a seed.

Afterwards every file is the old one or the new one, whole; nothing else lies beside them but, after kill -9, a file
that says of itself that it is unfinished; and the same command, run once more, gives what a run in peace gives.

    python tests/kills.py --moments 50 --seed 0
"""

import argparse
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from sqlite3 import connect

import numpy as np
from disks import can_mount, small_disk

# A shell may have told its background jobs to ignore Ctrl-C.
RUN = """
import resource, signal, sys
signal.signal(signal.SIGINT, signal.default_int_handler)
from scorecal.cli import main
if int(sys.argv[1]):
    resource.setrlimit(resource.RLIMIT_FSIZE, 2 * (int(sys.argv[1]),))
print("ready", flush=True)
sys.exit(main(sys.argv[2:]))
"""
FULL = "full disk"
WAYS = {"Ctrl-C": signal.SIGINT, "kill -9": signal.SIGKILL, FULL: FULL}
_FILLER = "filler"


@dataclass(frozen=True)
class Command:
    """A command that writes into a folder; its files after an earlier run, and after a run in peace."""

    arguments: Callable[[Path], list[str]]
    before: dict[str, bytes]
    after: dict[str, bytes]
    seconds: float
    databases: tuple[str, ...] = ()

    @property
    def files(self) -> list[str]:
        """Names of the files that are replaced as a whole."""
        return sorted(self.after.keys() - set(self.databases))


def files_in(folder):
    return {path.name: path.read_bytes() for path in folder.iterdir() if path.name != _FILLER}


def start(arguments, largest_file=0):
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    command = [sys.executable, "-c", RUN, str(largest_file), *arguments]
    process = subprocess.Popen(command, **pipes, start_new_session=True)
    assert process.stdout.readline() == "ready\n", process.communicate()
    return process


def run_in_peace(arguments):
    """Run the command to its end; return how long it took from where it began to work."""
    with start(arguments) as process:
        begin = time.monotonic()
        _, errors = process.communicate(timeout=120)
    assert process.returncode == 0, errors
    return time.monotonic() - begin


def _command(arguments, folder, earlier, databases=()):
    """Run `earlier` and then the command itself in a new folder, in peace, and keep what they leave."""
    folder.mkdir()
    run_in_peace(earlier(folder))
    before = files_in(folder)
    seconds = run_in_peace(arguments(folder))
    after = files_in(folder)
    assert before.keys() == after.keys()
    assert before != after
    return Command(arguments, before, after, seconds, databases)


def report_command(folder):
    """`scorecal test --report`, where there is a report already."""
    mean = np.random.default_rng(0).normal(size=200)
    table = np.stack([mean, np.ones(200), mean[::-1]], 1)
    np.savetxt(folder / "a.csv", table, delimiter=",", header="mu,sd,u", comments="")
    options = ["--mean", "mu", "--std", "sd", "--target", "u", "--n-resamples", "99"]

    def arguments(there, seed=1):
        return ["test", str(folder / "a.csv"), *options, "--seed", str(seed), "--report", str(there / "r.html")]

    return _command(arguments, folder / "peace", lambda there: arguments(there, seed=0))


def reproduce_command(folder):
    """`scorecal reproduce`, with one data set more than there are results of."""

    def arguments(there, repeats=2):
        return ["reproduce", "fig2", "--repeats", str(repeats), "--workers", "1", "--out", str(there)]

    return _command(arguments, folder / "peace", lambda there: arguments(there, repeats=1), ("results.sqlite",))


def try_moments(command, folder, how, moments, seed):
    """Stop the command at so many moments, in a new folder, and count what was found; some moments come too late."""
    rng, found = random.Random(seed), Counter()
    with _folder_for(how, folder) as mounted:
        while found["in the middle of the run"] < moments:
            assert found["too late"] < 10 * moments
            for path in folder.iterdir():
                path.unlink()
            for name, content in command.before.items():
                (folder / name).write_bytes(content)
            _stop_once(command, folder, how, rng, found, mounted)
    return found


@contextmanager
def _folder_for(how, folder):
    """Make the folder, on a small disk of its own if that is to be full; yield whether that could be mounted."""
    folder.mkdir()
    if how == FULL and can_mount(folder):
        with small_disk(folder, 4096):
            yield True
    else:
        yield False


def _stop_once(command, folder, how, rng, found, mounted):
    limit, largest = 0, max(map(len, command.after.values()))
    if how == FULL and not mounted:
        limit = rng.randrange(1, largest)
    elif how == FULL and rng.random() < 0.5:
        _fill(folder, leave=rng.randrange(largest))
    with start(command.arguments(folder), limit) as process:
        try:
            if how != FULL or not (limit or (folder / _FILLER).exists()):
                _wait_for_a_moment(process, folder, command.files, command.seconds, rng)
            was_running = process.poll() is None
            if how == FULL and not limit and not (folder / _FILLER).exists():
                _fill(folder, leave=0)
            elif how != FULL and was_running:
                os.killpg(process.pid, how)
            _, errors = process.communicate(timeout=120)
        finally:
            process.kill()
    found["in the middle of the run" if was_running else "too late"] += 1
    _check(command, folder, how, process.returncode, errors, found)
    (folder / _FILLER).unlink(missing_ok=True)
    run_in_peace(command.arguments(folder))
    there = files_in(folder)
    assert there.keys() == command.after.keys()
    assert all(there[name] == command.after[name] for name in command.files)


def _wait_for_a_moment(process, folder, names, seconds, rng):
    """Wait for a moment anywhere in the run, or for one in which the command has begun to write a file."""
    end = time.monotonic() + seconds * rng.random() * 1.05
    if rng.random() < 0.5:
        while time.monotonic() < end and process.poll() is None:
            time.sleep(0.001)
        return
    name, begun = f".{rng.choice(names)}.", rng.random() < 0.8  # otherwise it may be the trial before the work
    while process.poll() is None:
        for path in folder.glob(f"{name}*"):
            with suppress(FileNotFoundError):
                if path.stat().st_size >= begun:
                    time.sleep(rng.random() * 0.0005)
                    return


def _fill(folder, leave):
    """Fill the disk of the folder but for some bytes."""
    disk = os.statvfs(folder)
    left = disk.f_bavail * disk.f_frsize - leave
    try:
        with open(folder / _FILLER, "wb", buffering=0) as file:
            while left > 0:
                left -= file.write(bytes(min(left, 4096)))
    except OSError:
        pass  # the command was faster


def _check(command, folder, how, status, errors, found):
    there = files_in(folder)
    unfinished = [name for name in there if name.endswith(".unfinished")]
    extra = there.keys() - command.before.keys() - set(unfinished)
    extra -= {f"{name}-journal" for name in command.databases}
    assert not extra, extra
    n_new = 0
    for name in command.files:
        assert there[name] in (command.before[name], command.after[name]), f"{name} is half written"
        n_new += there[name] == command.after[name]
    for name in command.databases:
        with closing(connect(folder / name)) as database:
            assert database.execute("pragma integrity_check").fetchall() == [("ok",)]
    found["all old" if n_new == 0 else "all new" if n_new == len(command.files) else "some new"] += 1
    found["unfinished files left"] += len(unfinished)
    found[f"with status {status}"] += 1
    if how == signal.SIGKILL:
        assert status in (0, -signal.SIGKILL), errors
        return
    assert not unfinished
    if how == FULL:
        assert status in (0, 2), errors
        assert len(errors.splitlines()) == (status == 2), errors
    elif status == 130:
        assert "interrupted" in errors
        assert len(errors.splitlines()) == 1, errors


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--moments", type=int, default=50, help="of each kind, for each command (50)")
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    for make in (report_command, reproduce_command):
        with tempfile.TemporaryDirectory() as folder:
            command = make(Path(folder))
            for name, how in WAYS.items():
                found = try_moments(command, Path(folder) / name, how, options.moments, options.seed)
                counts = ", ".join(f"{count} {what}" for what, count in sorted(found.items()))
                print(f"{make.__name__}, {name}: {counts}", flush=True)


if __name__ == "__main__":
    main()
