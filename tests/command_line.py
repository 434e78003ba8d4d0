"""Files for the command line, and what it says of them."""

import json
import subprocess
import sys

import numpy as np

from scorecal.cli import main

N = 240
ONE = ["--mean", "mu", "--std", "su", "--target", "u"]
_WITH_MEMORY = (
    "import sys; from pathlib import Path; from scorecal.cli import main; status = main(sys.argv[1:]);"
    "words = Path('/proc/self/status').read_text().split(); print(words[words.index('VmHWM:') + 1], file=sys.stderr);"
    "sys.exit(status)"
)


def forecasts(n=N):
    """Means, standard deviations and targets of calibrated forecasts."""
    rng = np.random.default_rng(0)
    mean = rng.normal(size=n)
    return {"mu": mean, "su": np.ones(n), "u": mean + rng.normal(size=n)}


def text_of(columns, delimiter=","):
    rows = zip(*columns.values(), strict=True)
    return "".join(delimiter.join(map(str, row)) + "\n" for row in (columns, *rows))


def write(path, columns, delimiter=","):
    path.write_text(text_of(columns, delimiter), encoding="utf-8")
    return path


def refusal(capsys, path, *options):
    """The one line that says why a file is refused."""
    assert main(["test", str(path), *options]) == 2
    found = capsys.readouterr()
    assert found.out == ""
    assert found.err.startswith("scorecal test: ")
    assert found.err.count("\n") == 1
    return found.err


def result(capsys, path, *options):
    """The result as JSON, and what was said besides."""
    assert main(["test", str(path), *options, "--json", "--n-resamples", "99"]) == 0
    found = capsys.readouterr()
    return json.loads(found.out), found.err


def refusal_and_memory(path, *options, **process):
    """The one line that says why a file is refused, and the most memory that was used, in bytes."""
    command = [sys.executable, "-c", _WITH_MEMORY, "test", str(path), *options]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, **process)
    error, memory = done.stderr.splitlines()
    assert (done.returncode, done.stdout) == (2, "")
    return error, 1024 * int(memory)
