"""Nothing is asked of the network, and nothing is unpickled: Python itself reports both."""

import subprocess
import sys

import numpy as np
import pyarrow
import pytest
from pyarrow import parquet

WATCH = """
import sys
def report(event, arguments):
    if event.startswith("socket.") and event != "socket.__new__" or event == "pickle.find_class":
        print("reported", event, arguments, file=sys.stderr)
sys.addaudithook(report)
"""
COMMAND = "from scorecal.cli import main; sys.exit(main(sys.argv[1:]))"


def reports(code, *arguments):
    """Lines that tell of addresses that were looked up or connected to, and of names that a pickle asked for."""
    command = [sys.executable, "-c", WATCH + code, *map(str, arguments)]
    run = subprocess.run(command, capture_output=True, text=True, timeout=120, check=True)
    return [line for line in run.stderr.splitlines() if line.startswith("reported")]


def write_files(folder):
    rng = np.random.default_rng(0)
    mean = rng.normal(size=60)
    table = {"mu": mean, "sd": np.ones(60), "y": mean + rng.normal(size=60)}
    lines = [",".join(map(str, row)) for row in (tuple(table), *zip(*table.values(), strict=True))]
    (folder / "file.csv").write_text("\n".join(lines) + "\n")
    parquet.write_table(pyarrow.table(table), folder / "file.parquet")
    base = rng.normal(size=(6, 1))
    scores = (mean - table["y"])[:, None], mean[:, None, None] - base
    np.savez(
        folder / "file.npz", targets=table["y"][:, None], scores=scores[0], base_scores=scores[1], base_points=base
    )


COLUMNS = ("--mean", "mu", "--std", "sd", "--target", "y")


@pytest.mark.parametrize(("name", "options"), [("file.csv", COLUMNS), ("file.parquet", COLUMNS), ("file.npz", ())])
def test_judging_a_file_asks_nobody_and_unpickles_nothing(tmp_path, name, options):
    write_files(tmp_path)
    assert reports(COMMAND, "test", tmp_path / name, *options, "--report", tmp_path / "report.html") == []
    assert (tmp_path / "report.html").exists()


def test_python_would_tell():
    code = "import pickle, socket; pickle.loads(pickle.dumps(socket.socket)); socket.gethostbyname('127.0.0.1')"
    events = [line.split()[1] for line in reports(code)]
    assert events == ["pickle.find_class", "socket.gethostbyname"]
