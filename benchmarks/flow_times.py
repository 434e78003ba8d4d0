"""Cost of `calibration_test` on trained posteriors of sbi, beside `kccsd_test`: python benchmarks/flow_times.py.

Two moons; one process, one thread. Each time is the shortest of three, of new predictions each time, so that embeddings
and draws are computed anew.
"""

import argparse
import logging
import time
import warnings
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path
from typing import Any

import torch
from sbi.inference import NLE, NPE, NRE
from sbi_cases import MOONS, NoTracker, pairs, prior_of

import scorecal as sc
from scorecal._lib.files import check_writable, write_whole

N_SIMULATIONS, N_EPOCHS, REPEATS, SIZES = 2000, 20, 3, (100, 300, 1000)
TRAINERS: dict[str, tuple[Any, dict[str, str]]] = {
    "NPE, maf": (NPE, {"density_estimator": "maf"}),
    "NPE, nsf": (NPE, {"density_estimator": "nsf"}),
    "NLE, maf": (NLE, {"density_estimator": "maf"}),
    "NRE": (NRE, {}),
}


def trained(trainer: Any, settings: dict[str, str]) -> Any:
    theta, x = pairs(MOONS, 10**6, N_SIMULATIONS)
    found = trainer(prior_of(MOONS), **settings, tracker=NoTracker(), show_progress_bars=False)
    found.append_simulations(theta, x).train(max_num_epochs=N_EPOCHS, show_train_summary=False)
    return found.build_posterior()


def seconds(call: Callable[[], Any]) -> float:
    found = []
    for _ in range(REPEATS):
        start = time.process_time()
        call()
        found.append(time.process_time() - start)
    return min(found)


def row_of(name: str, posterior: Any, n: int) -> str:
    theta, x = pairs(MOONS, 0, n)
    times = [
        seconds(lambda test=test: test(sc.from_sbi(posterior, x), theta, rng=0))
        for test in (sc.kccsd_test, sc.calibration_test)
    ]
    return f"| {name} | {n} | {times[0]:.3f} | {times[1]:.3f} | {times[1] / times[0]:.1f} |"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, default=Path(__file__).parent / "results" / "flow_times.md")
    options = parser.parse_args()
    check_writable(options.out)
    torch.set_num_threads(1)
    warnings.simplefilter("ignore")
    logging.disable(logging.WARNING)
    versions = ", ".join(f"{name} {version(name)}" for name in ("scorecal", "sbi", "torch"))
    lines = [
        "# Cost of `calibration_test` on posteriors of sbi",
        "",
        f"`python benchmarks/flow_times.py`; {versions}. Processor seconds of one thread, with 999",
        f"resamples: the least of {REPEATS}. Two moons. NPE tells locations from a few draws; for NLE and NRE they are",
        "fitted to scores. Those that are rejected are asked again, for the words.",
        "",
        "| posterior | n | `kccsd_test` | `calibration_test` | ratio |",
        "|---|---|---|---|---|",
    ]
    for name, (trainer, settings) in TRAINERS.items():
        posterior = trained(trainer, settings)
        for n in SIZES:
            lines.append(row_of(name, posterior, n))
            print(lines[-1], flush=True)
    write_whole(options.out, "\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
