"""Batches in processes and on a cluster: the same numbers, also where a worker is lost."""

import os
import signal
import threading

import joblib
import numpy as np
import pytest
from distributed import Client
from processes import wait_until

from scorecal.streams import Batches, judge

N_PARTS, SIZE = 8, 120


def read_here(part):
    return reader()(part)


def reader(pause=0.0):
    def read(part):  # a local function is sent whole: workers need not import this module
        import time

        import numpy as np

        import scorecal as sc

        time.sleep(pause)
        rng = np.random.default_rng(part)
        mean = rng.normal(size=(SIZE, 1))
        return sc.Gaussian(mean, 0.9), mean + rng.normal(size=(SIZE, 1))

    return read


@pytest.fixture(scope="module")
def here():
    return judge(Batches(range(N_PARTS), reader(), [SIZE] * N_PARTS), n_resamples=49, rng=1)


def check_same(found, here):
    assert found.result.statistic == here.result.statistic
    np.testing.assert_array_equal(found.result.null_distribution, here.result.null_distribution)
    assert str(found.diagnosis) == str(here.diagnosis)


def by_joblib(function, tasks):
    """A map on any of joblib's backends."""
    with joblib.parallel_config(backend="threading"):
        return joblib.Parallel(2)(joblib.delayed(function)(task) for task in tasks)


@pytest.mark.parametrize("workers", [1, by_joblib])
def test_maps_give_the_same(here, workers):
    check_same(judge(Batches(range(N_PARTS), read_here), n_resamples=49, workers=workers, rng=1), here)


def test_a_cluster_that_loses_a_worker_gives_the_same(here, dask_cluster):
    """The sums of a part are added in its place, whoever makes them, and however often."""

    def kill_one():
        with Client(dask_cluster) as watching:
            pids = list(watching.run(os.getpid).values())
            wait_until(lambda: any(watching.processing().values()))
            os.kill(pids[0], signal.SIGKILL)
            killed.append(finished.is_set())

    killed, finished = [], threading.Event()
    with Client(dask_cluster) as client:
        # Data that lie on the cluster: workers that have a part add it up.
        parts = client.map(reader(), range(N_PARTS), pure=False)
        check_same(judge(Batches(parts, sizes=[SIZE] * N_PARTS), n_resamples=49, workers=client.map, rng=1), here)
        killer = threading.Thread(target=kill_one)
        killer.start()
        slow = Batches(range(N_PARTS), reader(0.1), [SIZE] * N_PARTS)
        found = judge(slow, n_resamples=49, workers=client.map, rng=1)
        finished.set()
        killer.join()
    assert killed == [False]
    check_same(found, here)
