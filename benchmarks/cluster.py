"""`kccsd_test` on a dask cluster of one and of two workers with one thread each: python benchmarks/cluster.py

With and without the setting by which dask's workers give memory back to the system after every array. Times are the
best of several runs; the first run of each cluster, in which workers import scorecal, does not count.
"""

from __future__ import annotations

import argparse
import time

import dask
import numpy as np
from distributed import Client, LocalCluster

import scorecal as sc
from scorecal.results import CalibrationResult

ONE_THREAD = {"OMP_NUM_THREADS": 1, "MKL_NUM_THREADS": 1, "OPENBLAS_NUM_THREADS": 1}
GIVE_BACK = {"MALLOC_TRIM_THRESHOLD_": 65536}  # as dask has it; from then on this process has it too, so it comes last
CLUSTERS = {
    "1 worker": (1, ONE_THREAD),
    "2 workers": (2, ONE_THREAD),
    "1 worker, dask's own settings": (1, {**ONE_THREAD, **GIVE_BACK}),
    "2 workers, dask's own settings": (2, {**ONE_THREAD, **GIVE_BACK}),
}


def timed(workers: object, predictions: sc.Gaussian, y: np.ndarray) -> tuple[float, CalibrationResult]:
    start = time.perf_counter()
    result = sc.kccsd_test(predictions, y, n_resamples=500, workers=workers, rng=0)
    return time.perf_counter() - start, result


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--n", type=int, default=20_000)
    parser.add_argument("--repeats", type=int, default=3)
    options = parser.parse_args()
    predictions, y = sc.experiments.mgm(options.n, 0.0, rng=0)
    here = timed(None, predictions, y)[1]
    best, results = {}, {}
    for name, (n_workers, environment) in CLUSTERS.items():
        with dask.config.set({"distributed.nanny.pre-spawn-environ": environment}):
            cluster = LocalCluster(n_workers=n_workers, threads_per_worker=1, dashboard_address=":0")
        with cluster, Client(cluster) as client:
            times = []
            for _ in range(options.repeats + 1):
                seconds, results[name] = timed(client.map, predictions, y)
                times.append(seconds)
        best[name] = min(times[1:])
    print("# A dask cluster on one machine\n\nPrinted by `python benchmarks/cluster.py`; seed 0.\n")
    print(f"n = {options.n}, d = {predictions.dim}, B = 500, float64, one thread a worker\n")
    print(
        "| cluster | time [s] | times as fast as the first | largest difference from one process, in sd of the null |"
    )
    print("|---|---|---|---|")
    for name, result in results.items():
        off = np.max(np.abs(result.null_distribution - here.null_distribution)) / np.std(here.null_distribution)
        print(f"| {name} | {best[name]:.2f} | {best['1 worker'] / best[name]:.2f} | {off:.0e} |")


if __name__ == "__main__":
    main()
