"""Workers: the same numbers from threads, processes, maps and a dask cluster; and nothing left behind."""

import multiprocessing
import os
import pty
import signal
import subprocess
import sys
import termios
import threading
import time
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest
import torch
from backends import make_backend
from distributed import Client
from processes import is_gone, run_script, wait_until

import scorecal as sc
from scorecal.pairwise import Features
from scorecal.parallel.dask import WorkerDiedError, on_cluster
from scorecal.parallel.workers import map_tasks
from scorecal.resampling import ComputeOptions, RandomSigns, u_statistics
from scorecal.resampling.estimators import Complete
from scorecal.resampling.tiles import PairSumJob, groups_of_strips

on_linux = pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="processes are looked up in /proc")


@pytest.fixture(scope="module")
def data():
    return sc.experiments.mgm(1500, 0.1, rng=0)


@pytest.fixture(scope="module")
def by_threads(data):
    return [test(*data, n_resamples=99, rng=1) for test in (sc.kccsd_test, sc.calibration_test)]


@contextmanager
def workers_called(name):
    spawning = multiprocessing.get_context("spawn")
    if name == "executor":
        with ProcessPoolExecutor(2, mp_context=spawning) as executor:
            yield executor.map
    elif name == "pool":
        with spawning.Pool(2) as pool:
            yield pool.imap
    elif name == "threads":
        with ThreadPoolExecutor(2) as executor:
            yield executor.map
    else:
        yield name


def check_same(result, expected):
    assert result.pvalue == expected.pvalue
    scale = np.abs(expected.null_distribution).max()
    np.testing.assert_allclose(result.statistic, expected.statistic, rtol=0, atol=1e-12 * scale)
    np.testing.assert_allclose(result.null_distribution, expected.null_distribution, rtol=0, atol=1e-12 * scale)
    np.testing.assert_allclose(
        result.contributions, expected.contributions, rtol=0, atol=1e-12 * np.abs(expected.contributions).max()
    )


@pytest.mark.parametrize("name", [1, 2, "executor", "pool", "threads", map])
def test_processes_and_maps_give_the_numbers_of_threads(data, by_threads, name):
    with workers_called(name) as workers:
        for test, expected in zip((sc.kccsd_test, sc.calibration_test), by_threads, strict=True):
            check_same(test(*data, n_resamples=99, workers=workers, rng=1), expected)


def test_a_dask_cluster_gives_the_numbers_of_threads(data, by_threads, dask_cluster):
    with Client(dask_cluster) as client:
        for test, expected in zip((sc.kccsd_test, sc.calibration_test), by_threads, strict=True):
            check_same(test(*data, n_resamples=99, workers=client.map, rng=1), expected)


@on_linux
def test_a_dask_cluster_that_loses_a_worker_gives_the_same_numbers(dask_cluster):
    predictions, y = sc.experiments.mgm(6000, 0.1, rng=0)
    expected = sc.kccsd_test(predictions, y, n_resamples=499, rng=1)
    killed = []

    def kill_one():
        with Client(dask_cluster) as watching:
            pids = list(watching.run(os.getpid).values())
            wait_until(lambda: any(watching.processing().values()))
            os.kill(pids[0], signal.SIGKILL)
            killed.append(finished.is_set())

    finished = threading.Event()
    with Client(dask_cluster) as client:
        killer = threading.Thread(target=kill_one)
        killer.start()
        result = sc.kccsd_test(predictions, y, n_resamples=499, workers=client.map, rng=1)
        finished.set()
        killer.join()
    assert killed == [False]
    check_same(result, expected)


@on_linux
def test_data_that_a_cluster_lost_are_sent_again(dask_cluster):
    """As when a worker takes the last copy along: the data are taken away after the first result."""

    def add(shared, task):
        time.sleep(0.05)
        return shared[0] + task

    with Client(dask_cluster) as client:
        sent, scatter = [], client.scatter
        client.scatter = lambda *arguments, **options: sent.append(scatter(*arguments, **options)) or sent[-1]
        results = on_cluster(client, add, range(40), [100])
        found = [next(results)]
        client.cancel([sent[0]], force=True)
        found += results
        assert sorted(found) == list(range(100, 140))
        assert len(sent) == 2
        results = on_cluster(client, add, range(40), [100])
        taken_away = (client.cancel([sent[-1]], force=True) for _ in results)
        with pytest.raises(WorkerDiedError, match="A worker process died"):
            list(taken_away)


MPI_SCRIPT = """
import scorecal as sc
from mpi4py.futures import MPIPoolExecutor
if __name__ == "__main__":
    with MPIPoolExecutor() as executor:
        result = sc.kccsd_test(*sc.experiments.mgm(1500, 0.1, rng=0), n_resamples=99, workers=executor.map, rng=1)
        print(executor.num_workers, repr(float(result.statistic)), result.pvalue)
"""


@on_linux
def test_mpi_gives_the_numbers_of_threads(by_threads, tmp_path):
    (tmp_path / "script.py").write_text(MPI_SCRIPT)
    mpiexec = [str(Path(sys.executable).parent / "mpiexec"), "-n", "3"]
    command = [*mpiexec, sys.executable, "-m", "mpi4py.futures", "script.py"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=120, check=True)
    n_workers, statistic, pvalue = done.stdout.split()
    assert n_workers == "2"
    assert float(statistic) == pytest.approx(by_threads[0].statistic, rel=1e-12)
    assert float(pvalue) == by_threads[0].pvalue


@pytest.mark.parametrize("name", ["numpy", "torch", "cuda"])
def test_torch_and_linear_have_workers(data, name):
    backend, (predictions, y) = make_backend(name), data
    given = sc.Gaussian(backend.array(np.asarray(predictions.mean)[:100]), 1.0), backend.array(np.asarray(y)[:100])
    for estimator in ("complete", "linear"):
        options = {"estimator": estimator, "n_resamples": 19, "rng": 1}
        check_same(sc.kccsd_test(*given, workers=2, **options), sc.kccsd_test(*given, **options))


@pytest.mark.parametrize("estimator", ["complete", "incomplete"])
def test_tasks_hold_every_tile_once(estimator):
    pairing = (sc.estimators.Incomplete(30) if estimator == "incomplete" else Complete()).pairing(2000)
    triangle = PairSumJob((), pairing, 2000, 8, None)
    groups = groups_of_strips(triangle, 64)
    assert [strip for group in groups for strip in group] == triangle.strips
    tiles = [(strip.row, j) for strip in triangle.strips for j in range(strip.first, strip.last)]
    assert len(set(tiles)) == len(tiles)
    near = 5 if estimator == "incomplete" else 250  # 30 points apart: at most four blocks of eight
    assert set(tiles) == {(i, j) for i in range(250) for j in range(i, min(i + near, 250))}
    sizes = [sum(strip.last - strip.first for strip in group) for group in groups]
    longest = max(strip.last - strip.first for strip in triangle.strips)
    assert 32 <= len(groups) <= 64
    assert max(sizes) <= len(tiles) / 64 + longest


def test_jax_has_no_workers():
    y = make_backend("jax").array(np.random.default_rng(0).normal(size=(20, 1)))
    with pytest.raises(TypeError, match="`workers` must be None for JAX arrays"):
        sc.kccsd_test(sc.Gaussian(0.5 * y, 1.0), y, workers=2)


def test_features_stay_in_this_process():
    values = np.random.default_rng(0).normal(size=(50, 2))
    signs = RandomSigns().draw(50, 19, np.random.default_rng(0))
    unpicklable = Features(lambda rows: values[rows, :])
    here, there = (u_statistics([unpicklable], values, signs, options=ComputeOptions(workers=w)) for w in (None, 2))
    np.testing.assert_array_equal(here.null, there.null)


def test_a_worker_has_one_core_and_may_have_workers_of_its_own():
    def cores_and_nested_sum(task):  # local functions are sent whole: workers need not import this module
        import joblib

        return joblib.cpu_count(), os.environ["OMP_NUM_THREADS"], sum(map_tasks(abs, [-1, -2, -task], 2))

    assert sorted(map_tasks(cores_and_nested_sum, [3, 4], 2)) == [(1, "1", 6), (1, "1", 7)]


def test_an_error_of_a_task_ends_all_others_without_another_word(tmp_path, capfd):
    def fail_beside_others(task):
        if task == 0:
            wait_until((tmp_path / "begun").exists)
            raise ArithmeticError("in the first task")
        (tmp_path / "begun").touch()
        threading.Event().wait()

    with pytest.raises(ArithmeticError, match="in the first task"):
        list(map_tasks(fail_beside_others, range(10), 2))
    wait_until(lambda: not multiprocessing.active_children())
    assert not capfd.readouterr().err


EXECUTOR_OF_ONES_OWN = """
import os, threading, time
from pathlib import Path
import joblib
from joblib.externals.loky import get_reusable_executor
import scorecal as sc

def wait_for(path):
    Path(f"{os.getpid()}.mark").touch()
    while not path.exists():
        time.sleep(0.02)
    return 1

def loop():
    print(joblib.Parallel(2)(joblib.delayed(wait_for)(Path("tested")) for _ in range(4)))

def end_executor():
    loop_is_over.wait()
    executor = get_reusable_executor(2)
    executor.submit(wait_for, Path("again"))
    ending.set()
    executor.shutdown(wait=True)

def test():
    result = sc.kccsd_test(*sc.experiments.mgm(900, 0.1, rng=0), n_resamples=19, workers=2, rng=0)
    print(result.pvalue)

loop_is_over, ending = threading.Event(), threading.Event()
threads = [threading.Thread(target=target) for target in (loop, end_executor)]
for thread in threads:
    thread.start()
while len(list(Path().glob("*.mark"))) < 2:
    time.sleep(0.02)
test()
Path("tested").touch()
threads[0].join()
loop_is_over.set()
ending.wait()
test()
Path("again").touch()
threads[1].join()
"""


def test_an_executor_of_joblib_that_is_in_use_is_left_alone(tmp_path):
    """A loop that waits for our test to end; and an executor that waits for it, in turn, before it ends itself."""
    printed = run_script(tmp_path, EXECUTOR_OF_ONES_OWN, cwd=tmp_path)
    assert printed == "0.05\n[1, 1, 1, 1]\n0.05\n"


def test_threads_may_have_workers_at_the_same_time(tmp_path):
    script = """
from concurrent.futures import ThreadPoolExecutor
import scorecal as sc

def test(n):
    return sc.kccsd_test(*sc.experiments.mgm(n, 0.1, rng=0), n_resamples=19, workers=2, rng=0).pvalue

with ThreadPoolExecutor(3) as pool:
    print(*pool.map(test, [900, 2500, 4500]))
"""
    assert run_script(tmp_path, script) == "0.05 0.05 0.05\n"


@pytest.mark.parametrize("workers", [0, -2, 1.5, True, "two"])
def test_workers_are_checked(data, workers):
    with pytest.raises(ValueError, match="`workers` must be a positive integer, -1 or a map-like callable, but is"):
        sc.kccsd_test(*data, workers=workers)


@pytest.mark.parametrize("memory", [0, -1e9, float("nan"), "1 GB", True])
def test_memory_is_checked(data, memory):
    with pytest.raises(ValueError, match="`memory` must be a number of bytes, at least 1048576"):
        sc.kccsd_test(*data, memory=memory)


def test_memory_changes_rounding_only(data):
    by_default, in_little = (
        sc.kccsd_test(*data, n_resamples=99, memory=memory, precision="full", rng=1) for memory in (None, 2e6)
    )
    check_same(in_little, by_default)


def test_a_function_that_cannot_be_sent_says_so():
    y = torch.as_tensor(np.random.default_rng(0).normal(size=(60, 1)))
    kernel = sc.kernels.OperatorFunction(lambda p, y, p2, y2: (-((y - y2) ** 2).sum()).exp() * torch.eye(1), y)
    with pytest.raises(TypeError, match=r"`workers` in other processes need functions .* that can be pickled"):
        sc.kccsd_test(sc.Gaussian(0.0 * y, 1.0), y, distribution_kernel=kernel, memory=2**20, workers=2, rng=0)


SCRIPT = """
import signal, sys
import numpy as np
import scorecal as sc
if __name__ == "__main__":
    signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell may have told its background jobs to ignore it
    n, workers = int(sys.argv[1]), None if sys.argv[2] == "None" else int(sys.argv[2])
    rng = np.random.default_rng(0)
    mean = rng.standard_normal((n, 5)).astype(np.float32)
    kernel = sc.kernels.GFD(n_base=10)
    predictions = sc.Gaussian(mean, np.ones(n, np.float32))
    sc.kccsd_test(predictions, mean + 1, distribution_kernel=kernel, n_resamples=500, workers=workers, rng=0)
"""


@contextmanager
def script_at_a_terminal(folder, n, workers):
    """The script, whose messages go to a terminal that we read."""
    (folder / "script.py").write_text(SCRIPT)
    ours, theirs = pty.openpty()
    termios.tcsetwinsize(ours, (24, 80))
    arguments = [sys.executable, folder / "script.py", str(n), str(workers)]
    environment = {**os.environ, "TMPDIR": str(folder)}
    with subprocess.Popen(arguments, stderr=theirs, env=environment, start_new_session=True) as process:
        os.close(theirs)
        try:
            yield process, ours
        finally:
            process.kill()
            os.close(ours)


def read_until(terminal, words, seen=b""):
    while not all(word in seen for word in words):
        seen += os.read(terminal, 4096)
    return seen


def children_of(pid):
    return [int(child) for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]


@on_linux
@pytest.mark.parametrize(
    ("n", "workers"), [(100_000, None), (40_000, 2), pytest.param(10**6, None, marks=pytest.mark.slow)]
)
def test_many_points_show_progress_do_not_grow_and_can_be_interrupted(tmp_path, n, workers):
    with script_at_a_terminal(tmp_path, n, workers) as (process, terminal):
        read_until(terminal, [b"tile", b"<"])  # 3%|... 1000/30000 [00:03<01:34, 300tile/s]
        children = children_of(process.pid)
        peak = [
            int(line.split()[1])
            for line in Path(f"/proc/{process.pid}/status").read_text().splitlines()
            if "VmHWM" in line
        ]
        os.killpg(process.pid, signal.SIGINT)
        process.wait(timeout=60)
    assert process.returncode != 0
    assert peak[0] * 1024 < 120e6 + 1300 * n  # kB; beyond NumPy itself, some 300 floats a row
    assert len(children) >= (workers or 0)
    wait_until(lambda: all(is_gone(pid) for pid in children))
    assert not list(tmp_path.glob("scorecal-*"))
