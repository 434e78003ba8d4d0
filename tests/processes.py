"""Waiting for processes, and for what they do."""

import os
import signal
import subprocess
import sys
import time
from contextlib import suppress


def wait_until(condition, seconds=60):
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "waited too long"
        time.sleep(0.02)


def is_gone(pid):
    """Ended, or only not yet buried."""
    try:
        with open(f"/proc/{pid}/stat") as stat:
            return stat.read().rpartition(")")[2].split()[0] == "Z"
    except FileNotFoundError:
        return True


def run_script(folder, text, seconds=60, **options):
    """Run a script and return what it prints; one that hangs is ended with all its children, and fails the test."""
    path = folder / "script.py"
    path.write_text(text)
    with subprocess.Popen(
        [sys.executable, path], stdout=subprocess.PIPE, text=True, start_new_session=True, **options
    ) as process:
        try:
            printed, _ = process.communicate(timeout=seconds)
        finally:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
    assert process.returncode == 0
    return printed
