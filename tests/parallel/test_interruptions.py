"""Kills, a full disk, other workers: a rerun ends with the table of a run that nothing disturbed."""

import os
import signal
import sqlite3
import subprocess
import sys
from contextlib import closing, contextmanager

import pytest
from processes import is_gone, wait_until

# Tests that leave a mark with the number of their process, and take their time.
SCRIPT = """
import os, signal, sys, time
from contextlib import nullcontext
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
import scorecal as sc
from scorecal.experiments import KCCSD, SKCE, Model, Test, cluster, grid, lgm, qgm, sweep
from scorecal.parallel.dask import cluster

folder, workers, address, pause = Path(sys.argv[1]), int(sys.argv[2]), sys.argv[3], float(sys.argv[4])
largest_file = int(sys.argv[5])
if largest_file:
    import resource
    resource.setrlimit(resource.RLIMIT_FSIZE, (largest_file, largest_file))

@dataclass(frozen=True)
class Marked:
    pause: float = field(compare=False)  # the same test, whether it takes its time or not

    def __call__(self, predictions, y, rng):
        (folder / f"{os.getpid()}.{time.monotonic_ns()}.mark").touch()
        time.sleep(self.pause)
        return float(rng.random())

models = [Model("LGM", partial(lgm, delta=0.0)), Model("QGM", partial(qgm, delta=1.0))]
MMD = sc.kernels.MMD(sc.kernels.Gaussian(1.0))
long = " with a name that fills the disk" * 4
tests = [KCCSD("KCCSD", sc.kernels.GFD(n_base=3)), SKCE("SKCE", MMD, n_samples=3), Test(long, Marked(pause))]
if __name__ == "__main__":
    signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell may have told its background jobs to ignore it
    with nullcontext(workers) if address == "here" else cluster(address) as using:
        sweep(grid(models, tests, [20, 60]), 8, folder / "results.sqlite", n_resamples=99, workers=using)
"""
N_RESULTS = 2 * 3 * 2 * 8


@pytest.fixture(scope="module")
def script(tmp_path_factory):
    path = tmp_path_factory.mktemp("script") / "script.py"
    path.write_text(SCRIPT)
    return path


@pytest.fixture(scope="module")
def undisturbed(script, tmp_path_factory):
    folder = tmp_path_factory.mktemp("undisturbed")
    run(script, folder, workers=1)
    rows = table(folder)
    assert len(rows) == N_RESULTS
    return rows


@contextmanager
def started(script, folder, workers=2, address="here", pause=0.0, largest_file=0):
    arguments = [sys.executable, script, folder, str(workers), address, str(pause), str(largest_file)]
    with subprocess.Popen(arguments, stderr=subprocess.PIPE, text=True, start_new_session=True) as process:
        try:
            yield process
        finally:
            process.kill()


def run(script, folder, **options):
    with started(script, folder, **options) as process:
        _, errors = process.communicate(timeout=120)
    assert process.returncode == 0, errors


def table(folder):
    """Every digit of every row, in the order of the keys."""
    with closing(sqlite3.connect(folder / "results.sqlite")) as connection:
        return connection.execute("select * from results order by model, n, repetition, test").fetchall()


def marks(folder):
    return [int(path.name.split(".")[0]) for path in folder.glob("*.mark")]


def test_two_workers_give_the_table_of_one(script, undisturbed, tmp_path):
    run(script, tmp_path, workers=2, pause=0.1)
    assert table(tmp_path) == undisturbed
    assert len(set(marks(tmp_path))) == 2


@pytest.mark.parametrize("workers", [1, 2])
def test_kill_of_the_parent(script, undisturbed, tmp_path, workers):
    with started(script, tmp_path, workers=workers, pause=0.2) as process:
        wait_until(lambda: len(marks(tmp_path)) > 8)
        process.kill()
        process.communicate()
    before = table(tmp_path)
    assert 0 < len(before) < N_RESULTS
    assert set(before) <= set(undisturbed)
    wait_until(lambda: all(is_gone(pid) for pid in marks(tmp_path)))  # no worker outlives its parent
    run(script, tmp_path, workers=workers)
    assert table(tmp_path) == undisturbed


def test_kill_of_a_worker(script, undisturbed, tmp_path):
    with started(script, tmp_path, pause=0.3) as process:
        wait_until(lambda: len(marks(tmp_path)) > 8)
        os.kill(marks(tmp_path)[0], signal.SIGKILL)
        _, errors = process.communicate(timeout=60)
    assert process.returncode != 0
    assert "A worker process died" in errors
    assert 0 < len(table(tmp_path)) < N_RESULTS
    run(script, tmp_path)
    assert table(tmp_path) == undisturbed


def test_interrupt_from_the_keyboard(script, undisturbed, tmp_path):
    with started(script, tmp_path, pause=0.3) as process:
        wait_until(lambda: len(marks(tmp_path)) > 8)
        os.killpg(process.pid, signal.SIGINT)
        process.communicate(timeout=60)
    assert process.returncode != 0
    assert 0 < len(table(tmp_path)) < N_RESULTS
    wait_until(lambda: all(is_gone(pid) for pid in marks(tmp_path)))
    run(script, tmp_path)
    assert table(tmp_path) == undisturbed


def test_full_disk(script, undisturbed, tmp_path):
    """A limit on the size of files stands in for the disk: the system refuses to write, in the middle of a commit."""
    with started(script, tmp_path, workers=1, largest_file=22_000) as process:
        _, errors = process.communicate(timeout=60)
    assert process.returncode != 0
    assert "Likely cause: the disk is full" in errors
    assert 0 < len(table(tmp_path)) < N_RESULTS
    run(script, tmp_path)
    assert table(tmp_path) == undisturbed


def test_a_second_run_on_the_same_file_says_so_and_stops(script, undisturbed, tmp_path):
    with started(script, tmp_path, pause=2.0):
        wait_until(lambda: marks(tmp_path))
        with started(script, tmp_path) as second:
            _, errors = second.communicate(timeout=60)
    assert second.returncode != 0
    assert "results.sqlite is in use by another run" in errors
    run(script, tmp_path)
    assert table(tmp_path) == undisturbed


def test_a_dask_cluster_that_loses_a_worker_gives_the_same_table(script, undisturbed, tmp_path, dask_cluster):
    with started(script, tmp_path, address=dask_cluster, pause=0.15) as process:
        wait_until(lambda: len(set(marks(tmp_path))) == 2)
        os.kill(marks(tmp_path)[0], signal.SIGKILL)
        _, errors = process.communicate(timeout=120)
    assert process.returncode == 0, errors
    assert table(tmp_path) == undisturbed
