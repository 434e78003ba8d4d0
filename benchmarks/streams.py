"""`scorecal test` on folders of Parquet files larger than it may hold: memory, a kill, and a dask cluster.

    python benchmarks/streams.py FOLDER > benchmarks/results/streams.md

FOLDER takes the data, some 24 bytes a row, and outcomes as they come: what was interrupted goes on where it stopped.
Rows are calibrated Gaussian forecasts of one number. Each run of `scorecal test` is a process of its own.
"""

from __future__ import annotations

import argparse
import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import dask
import numpy as np
import pyarrow
from distributed import Client, LocalCluster
from pyarrow import parquet

import scorecal as sc
from scorecal.streams.files import load
from scorecal.streams.known import KNOWN

ROWS_OF_FILE, ROWS_OF_GROUP = 10**6, 200_000
COLUMNS = ["--mean", "mu", "--std", "sd", "--target", "y"]
RUN = (
    "import json, resource, sys; from scorecal.cli import main; status = main(sys.argv[2:]);"
    "open(sys.argv[1], 'w').write(str(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)); sys.exit(status)"
)
N_RUNS = 3
ONE_THREAD = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}


def make(folder: Path, n: int) -> Path:
    """Return a folder of n rows, which is made if it is not there."""
    folder.mkdir(parents=True, exist_ok=True)
    for k in range(-(-n // ROWS_OF_FILE)):
        path = folder / f"part-{k:04d}.parquet"
        if path.exists():
            continue
        rng, size = np.random.default_rng(k), min(ROWS_OF_FILE, n - k * ROWS_OF_FILE)
        mean, sd = rng.normal(size=size), np.exp(0.2 * rng.normal(size=size))
        table = pyarrow.table({"mu": mean, "sd": sd, "y": mean + sd * rng.normal(size=size)})
        parquet.write_table(table, path.with_suffix(".new"), row_group_size=ROWS_OF_GROUP)
        path.with_suffix(".new").rename(path)
    return folder


def command(folder: Path, peak: Path, *options: str) -> list[str]:
    return [
        sys.executable,
        "-c",
        RUN,
        str(peak),
        "test",
        str(folder),
        *COLUMNS,
        "--n-resamples",
        "199",
        "--json",
        *options,
    ]


def judged(folder: Path, *options: str) -> dict[str, Any]:
    """Run `scorecal test` in a process; return its p-value, seconds and largest memory."""
    peak, start = folder.with_suffix(".peak"), time.perf_counter()
    environment = os.environ | ONE_THREAD
    done = subprocess.run(command(folder, peak, *options), capture_output=True, text=True, check=True, env=environment)
    found = json.loads(done.stdout)
    seconds = time.perf_counter() - start
    return {
        "n": found["n"],
        "pvalue": found["pvalue"],
        "statistic": found["statistic"],
        "seconds": seconds,
        "megabytes": int(peak.read_text()) / 1024,
    }


def killed(folder: Path) -> dict[str, Any]:
    """Kill a run once half of the second pass is in its file of sums, and run the same again."""
    state, peak = folder.with_suffix(".state"), folder.with_suffix(".peak")
    state.unlink(missing_ok=True)
    half = 0.5 * len(list(folder.glob("*.parquet"))) * ROWS_OF_FILE / ROWS_OF_GROUP
    start = time.perf_counter()
    process = subprocess.Popen(
        command(folder, peak, "--state", str(state)), stdout=subprocess.DEVNULL, env=os.environ | ONE_THREAD
    )
    done = 0
    while done < half and process.poll() is None:
        time.sleep(2.0)
        if state.exists():
            done = load(state, "sums so far", KNOWN)["stages"].get("second", {"done": 0})["done"]
    process.send_signal(signal.SIGKILL)
    process.wait()
    before = time.perf_counter() - start
    found = judged(folder, "--state", str(state))
    state.unlink()
    return found | {"seconds before the kill": before, "parts before the kill": done}


def on_cluster(folder: Path, n_workers: int, *, kill: bool = False) -> dict[str, Any]:
    """Judge the files on a dask cluster of so many processes with one thread each; kill one of them on the way."""

    def read(path: str) -> tuple[Any, Any]:
        from pyarrow import parquet

        import scorecal as sc

        table = parquet.read_table(path)
        mean, sd, y = (table[name].to_numpy() for name in ("mu", "sd", "y"))
        return sc.Gaussian(mean, sd), y

    def kill_one(client: Client) -> None:
        time.sleep(10.0)
        os.kill(next(iter(client.run(os.getpid).values())), signal.SIGKILL)

    # Without dask's own setting, by which workers give memory back after every array: see benchmarks/cluster.py.
    dask.config.set({"distributed.nanny.pre-spawn-environ": ONE_THREAD})
    parts = sorted(map(str, folder.glob("*.parquet")))
    batches = sc.streams.Batches(parts, read, [ROWS_OF_FILE] * len(parts))
    with (
        LocalCluster(n_workers=n_workers, threads_per_worker=1, dashboard_address=":0") as cluster,
        Client(cluster) as client,
    ):
        client.run(lambda: __import__("scorecal.streams.verdict"))
        busy = -sum(client.run(time.process_time).values())
        own, start = -time.process_time(), time.perf_counter()
        if kill:
            threading.Thread(target=kill_one, args=(client,), daemon=True).start()
        judgement = sc.streams.judge(batches, n_resamples=199, workers=client.map, rng=0)
        seconds, own = time.perf_counter() - start, own + time.process_time()
        busy += sum(client.run(time.process_time).values())
    result = judgement.result
    found = {"n": result.n, "pvalue": result.pvalue, "statistic": result.statistic, "seconds": seconds}
    return found | {"seconds of the client": own, "seconds of the workers": busy}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--n", type=int, default=5 * 10**7)
    parser.add_argument("--n-cluster", type=int, default=8 * 10**6)
    options = parser.parse_args()
    options.folder.mkdir(parents=True, exist_ok=True)
    kept = options.folder / "outcomes.json"
    found: dict[str, Any] = json.loads(kept.read_text()) if kept.exists() else {}

    def folder(n: int) -> Path:
        return make(options.folder / f"rows-{n}", n)

    def step(name: str, work: Callable[[], dict[str, Any]]) -> None:
        if name not in found:
            found[name] = work()
            kept.write_text(json.dumps(found))

    sizes = [10**6, 4 * 10**6, options.n]
    for n in sizes:
        step(f"test {n}", partial(judged, folder(n)))
    step("killed", partial(killed, folder(options.n)))
    step("2, one killed", partial(on_cluster, folder(options.n_cluster), 2, kill=True))
    for k in range(N_RUNS):  # by turns, since others may be at work on the machine
        for n_workers in (1, 2):
            step(f"{n_workers}, run {k}", partial(on_cluster, folder(options.n_cluster), n_workers))
    report(found, sizes, options.n_cluster)


def report(found: dict[str, Any], sizes: list[int], n_cluster: int) -> None:
    print("# Rows larger than memory\n")
    print(f"Printed by `python benchmarks/streams.py FOLDER --n {sizes[-1]} --n-cluster {n_cluster}`; calibrated")
    print("forecasts of one number, B = 199.\n")
    print("`scorecal test` on folders of Parquet files, two cores:\n")
    print("| rows | time [s] | memory [MB] | p |\n|---|---|---|---|")
    for each in (found[f"test {n}"] for n in sizes):
        print(f"| {each['n']} | {each['seconds']:.0f} | {each['megabytes']:.0f} | {each['pvalue']} |")
    again, whole = found["killed"], found[f"test {sizes[-1]}"]
    same = "the same" if again["statistic"] == whole["statistic"] else "another"
    print(
        f"\nKilled after {again['seconds before the kill']:.0f} s, with {again['parts before the kill']} parts of the "
        f"second pass in the file of sums, and started again: {again['seconds']:.0f} s more, "
        f"{again['megabytes']:.0f} MB, p = {again['pvalue']}, {same} statistic to the last bit."
    )
    print(
        f"\nA dask cluster of processes with one thread each, {n_cluster} rows, the best of {N_RUNS} runs by turns:\n"
    )
    print("| processes | time [s] | CPU time of the client, of the workers [s] | p |\n|---|---|---|---|")
    one, two = (
        min((found[f"{n_workers}, run {k}"] for k in range(N_RUNS)), key=lambda each: each["seconds"])
        for n_workers in (1, 2)
    )
    lost = found["2, one killed"]
    for name, each in (("1", one), ("2", two), ("2, one killed after 10 s", lost)):
        own, busy = each["seconds of the client"], each["seconds of the workers"]
        shown = f"{own:.1f}, {busy:.1f}" if each is not lost else ""
        print(f"| {name} | {each['seconds']:.1f} | {shown} | {each['pvalue']} |")
    print(f"\nTwo are {one['seconds'] / two['seconds']:.2f} times as fast as one.")
    equal = len({each["statistic"] for each in (one, two, lost)}) == 1
    print(f"\nStatistics of the three are {'equal to the last bit' if equal else 'different'}.")


if __name__ == "__main__":
    main()
