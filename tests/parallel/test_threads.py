"""Threads: callers never wait for one another, forked children start afresh, and nothing stays limited or taken."""

import os
import threading
from contextlib import closing

import pytest
from processes import run_script
from threadpoolctl import threadpool_info, threadpool_limits

from scorecal._lib.cores import cpu_count
from scorecal.parallel.threads import in_threads

forks = pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")


def in_main_thread(_task):
    return threading.current_thread() is threading.main_thread()


def blas_threads():
    return {pool["num_threads"] for pool in threadpool_info() if pool["user_api"] == "blas"}


# What scripts share. They would hang where a test in this process would take the whole suite with it.
START = """
import os, signal, threading
from concurrent.futures import ThreadPoolExecutor
from threadpoolctl import threadpool_info, threadpool_limits
import scipy.linalg  # another BLAS
import scorecal as sc
from scorecal._lib.cores import cpu_count
from scorecal.parallel.threads import in_threads, one_core
from scorecal.resampling import engine
from scorecal.views import View

engine.cpu_count = lambda: 2
setting = threading.Thread(target=lambda: threadpool_limits(2, user_api="blas"))
setting.start()
setting.join()

def blas_threads():
    return {pool["num_threads"] for pool in threadpool_info() if pool["user_api"] == "blas"}

def in_main_thread(task):
    return threading.current_thread() is threading.main_thread()

def has_all_cores():
    return not any(in_threads(in_main_thread, range(3), 2)) and blas_threads() == {2}

predictions, y = sc.experiments.flawed(900, 2, "scale", 0.8, rng=0)

class Cubes:
    separable = True

    def __init__(self, also=lambda: None):
        self.also = also

    def features(self, targets, scores):
        self.also()
        return scores * targets**3 + 3.0 * targets**2

def cubes(also=lambda: None):
    view = View("v", "shape", Cubes(also), coordinates="marginal")
    return sc.calibration_test(predictions, y, views=[view], n_resamples=19, rng=0).pvalue
"""


def test_features_may_call_a_test(tmp_path):
    """Here, and in a thread that they wait for."""
    script = """
with ThreadPoolExecutor(1) as pool:
    there = lambda: pool.submit(sc.kccsd, predictions, y).result()
    print(cubes() == cubes(lambda: sc.kccsd(predictions, y)) == cubes(there), has_all_cores())
"""
    assert run_script(tmp_path, START + script) == "True True\n"


def test_tasks_use_one_core_each():
    assert list(in_threads(lambda _: cpu_count(), range(3), 2)) == [1, 1, 1]
    with threadpool_limits(2, user_api="blas"):
        assert list(in_threads(lambda _: blas_threads(), range(3), 2)) == [{1}] * 3
        assert blas_threads() == {2}


def test_callers_take_turns(tmp_path):
    """The second works in its own thread while the first has all cores, and then has them itself."""
    script = """
started, ended = threading.Event(), threading.Event()
first = threading.Thread(target=lambda: list(in_threads(lambda task: started.set() or ended.wait(), range(9), 2)))
first.start()
started.wait()

def second(task):
    if task == 1:
        ended.set()
        first.join()
    return in_main_thread(task)

print(list(in_threads(second, range(4), 2)))
"""
    assert run_script(tmp_path, START + script) == "[True, True, False, False]\n"


def test_results_that_nobody_takes_leave_all_cores_to_others():
    def spoil():
        with closing(in_threads(in_main_thread, range(100), 2)) as results:
            for _ in results:
                raise KeyError

    with pytest.raises(KeyError):
        spoil()
    assert not any(in_threads(in_main_thread, range(3), 2))


def test_an_interrupt_leaves_all_cores_to_others(tmp_path):
    script = """
signal.signal(signal.SIGINT, signal.default_int_handler)
try:
    list(in_threads(lambda task: os.kill(os.getpid(), signal.SIGINT), range(9), 2))
except KeyboardInterrupt:
    print(has_all_cores())
"""
    assert run_script(tmp_path, START + script) == "True\n"


@forks
@pytest.mark.parametrize("how", ["os", "multiprocessing"])
def test_a_child_forked_during_a_test_starts_afresh(tmp_path, how):
    script = f"""
started, ended = threading.Event(), threading.Event()
test = threading.Thread(target=cubes, args=(lambda: started.set() or ended.wait(),))
test.start()
started.wait()

def child():
    print(has_all_cores(), cubes() > 0, flush=True)

if {how!r} == "os":
    pid = os.fork()
    if pid == 0:
        child()
        os._exit(0)
    os.waitpid(pid, 0)
else:
    import multiprocessing
    process = multiprocessing.get_context("fork").Process(target=child)
    process.start()
    process.join()
ended.set()
test.join()
print(has_all_cores())
"""
    assert run_script(tmp_path, START + script) == "True True\nTrue\n"


@forks
def test_a_child_forked_by_a_task_stays_on_one_core(tmp_path):
    script = """
def fork(task):
    pid = os.fork()
    if pid == 0:
        before = cpu_count(), blas_threads(), cubes() > 0
        with one_core():
            pass
        os.write(1, f"{before} {cpu_count()} {blas_threads()}\\n".encode())
        os._exit(0)
    os.waitpid(pid, 0)

list(in_threads(fork, [0, 1], 2))
print(has_all_cores())
"""
    assert run_script(tmp_path, START + script) == "(1, {1}, True) 1 {1}\n" * 2 + "True\n"


@forks
def test_a_child_forked_while_moments_are_computed_computes_its_own(tmp_path):
    """Python 3.11 locks a cached property, for all objects of its class, as long as one of them computes it."""
    script = """
started, ended = threading.Event(), threading.Event()

class Slow:
    n, dim, score = predictions.n, predictions.dim, predictions.score

    def moments(self):
        started.set()
        ended.wait()
        return predictions.moments()

test = threading.Thread(target=lambda: sc.calibration_test(Slow(), y, n_resamples=19, rng=0))
test.start()
started.wait()
pid = os.fork()
if pid == 0:
    print(cubes() > 0, flush=True)
    os._exit(0)
os.waitpid(pid, 0)
ended.set()
test.join()
"""
    assert run_script(tmp_path, START + script) == "True\n"


@forks
def test_a_child_forked_while_a_bar_is_drawn_draws_none(tmp_path):
    script = """
import sys
from scorecal.parallel.progress import progress
from tqdm import tqdm

sys.stderr.isatty = lambda: True
started, ended = threading.Event(), threading.Event()

def draw():
    with tqdm.get_lock():
        started.set()
        ended.wait()

drawing = threading.Thread(target=draw)
drawing.start()
started.wait()
pid = os.fork()
if pid == 0:
    with progress(10, "test") as advance:
        advance(5)
    print("done", flush=True)
    os._exit(0)
os.waitpid(pid, 0)
ended.set()
drawing.join()
"""
    assert run_script(tmp_path, START + script) == "done\n"


def test_the_blas_is_as_before_whoever_leaves_last(tmp_path):
    """threadpoolctl obeys the thread that set a limit, and no other while that one lives: here, the first to enter."""
    script = """
entered = [threading.Event() for _ in range(2)]
left = threading.Event()

def first():
    with one_core():
        entered[0].set()
        entered[1].wait()
    left.set()

def second():
    entered[0].wait()
    with one_core():
        entered[1].set()
        left.wait()
        print(blas_threads())

with ThreadPoolExecutor(2) as pool:
    for running in [pool.submit(first), pool.submit(second)]:
        running.result()
    print(blas_threads())
"""
    assert run_script(tmp_path, START + script) == "{1}\n{2}\n"
