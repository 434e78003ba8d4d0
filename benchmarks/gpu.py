"""Tests on one GPU: times, memory, precision, and the bare products that `kccsd_test` cannot do without.

`python benchmarks/gpu.py` prints all parts, and `--parts tests first` some of them:

- tests: the tests at n = 10^6, with the peak of their memory;
- large: the low-rank tests at n = 10^7;
- first: the first call in a fresh process, over imports;
- every: every public function at n = 10^6, with its time or its error;
- precision: errors against float64;
- growth: `kccsd_test` and its floor for n from 10^3 to 10^7; the last takes minutes (`--sizes` chooses).

The floor multiplies matrices of the same sizes over the same upper triangle and
does nothing else: features in two parts of float16 each, which costs less than float32, and signs in float16 with
columns up to a multiple of 8. Both run in one process; the best of several runs is kept.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable

import numpy as np
import torch
from gpu_table import D, data, every, first, large, synchronise, tests

import scorecal as sc

N_BASE, B = 10, 500
PARTS = ("tests", "large", "first", "every", "precision", "growth")
WIDTHS = [-(-3 * (N_BASE * D + D + 2) // 64) * 64, -(-3 * (2 * D + 2) // 16) * 16]
TILE = 16384
KERNELS = {
    "distribution_kernel": sc.kernels.GFD(n_base=N_BASE, bandwidth=3.0),
    "target_kernel": sc.kernels.Gaussian(3.0),
}


def floor(n: int, device: str) -> Callable[[], None]:
    half = {"dtype": torch.float16, "device": device}
    factors = [torch.randn((n, width), **half) for width in WIDTHS]
    signs, block = torch.randn((n, -(-B // 8) * 8), **half), torch.randn((TILE, TILE), **half)

    def multiply() -> None:
        for row in range(0, n, TILE):
            for column in range(row, n, TILE):
                rows, cols = slice(row, min(row + TILE, n)), slice(column, min(column + TILE, n))
                for factor in factors:
                    factor[rows] @ factor[cols].T
                block[: rows.stop - row, : cols.stop - column] @ signs[cols]

    return multiply


def seconds(function: Callable[[], object], device: str) -> float:
    synchronise(device)
    start = time.perf_counter()
    function()
    synchronise(device)
    return time.perf_counter() - start


def growth(sizes: list[int], largest_floor: int, repeats: int, device: str) -> None:
    print(f"d = {D}, {N_BASE} base points, B = {B}, float32, complete statistic, on {name_of(device)}\n")
    print("| n | test [s] | floor [s] | test / floor | peak memory [GB] |")
    print("|---|---|---|---|---|")
    times = []
    for n in sizes:
        predictions, y = data(n, device)

        def test(predictions: sc.Gaussian = predictions, y: torch.Tensor = y) -> object:
            return sc.kccsd_test(predictions, y, n_resamples=B, rng=0, **KERNELS)

        if device == "cuda":
            torch.cuda.reset_peak_memory_stats()
        rounds = [seconds(test, device) for _ in range(1 + repeats if n <= largest_floor else 1)]
        peak = torch.cuda.max_memory_allocated() / 1e9 if device == "cuda" else float("nan")
        times.append(min(rounds))
        bare = min(seconds(floor(n, device), device) for _ in range(repeats)) if n <= largest_floor else float("nan")
        compared = f"{bare:.4f} | {times[-1] / bare:.2f}" if n <= largest_floor else "not run | not run"
        print(f"| {n} | {times[-1]:.3f} | {compared} | {peak:.2f} |", flush=True)
    large = [k for k, n in enumerate(sizes) if n >= 100_000]
    if len(large) > 1:
        slope = np.polyfit(np.log(np.take(sizes, large)), np.log(np.take(times, large)), 1)[0]
        print(f"\nFrom n = {sizes[large[0]]} up the time grows as n^{slope:.2f}.")


def precision(n: int, device: str) -> None:
    exact = sc.kccsd_test(*data(n, device, torch.float64), n_resamples=B, rng=0, **KERNELS)
    sd = exact.null_distribution.std()
    print(f"\nErrors against float64 at n = {n}, in standard deviations of the null distribution\n")
    print("| precision | statistic | bootstrap draws, largest | bootstrap draws, root mean square |")
    print("|---|---|---|---|")
    for mode in ("mixed", "full"):
        found = sc.kccsd_test(*data(n, device), n_resamples=B, precision=mode, rng=0, **KERNELS)
        off = np.abs(found.null_distribution - exact.null_distribution) / sd
        statistic = abs(found.statistic - exact.statistic) / sd
        print(f"| {mode} | {statistic:.1e} | {off.max():.1e} | {np.sqrt(np.mean(off**2)):.1e} |")


def name_of(device: str) -> str:
    return torch.cuda.get_device_name() if device == "cuda" else device


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--device", default="cuda")
    parser.add_argument("--sizes", type=int, nargs="+", default=[10**3, 10**4, 10**5, 10**6, 10**7])
    parser.add_argument("--largest-floor", type=int, default=10**6, help="beyond this n only the test is run, once")
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--precision-sizes", type=int, nargs="+", default=[20_000, 300_000])
    parser.add_argument("--parts", nargs="+", choices=PARTS, default=PARTS)
    parser.add_argument(
        "--n", type=int, default=10**6, help="rows of tests, first and every; large has ten times these"
    )
    parser.add_argument("--limit", type=int, default=60, help="seconds after which a function of a table is given up")
    arguments = parser.parse_args()
    device, n, chosen = arguments.device, arguments.n, arguments.parts
    print(f"# On one GPU\n\nPrinted by `python benchmarks/gpu.py`; seed 0. {name_of(device)}.\n")
    if "tests" in chosen:
        tests(n, device, arguments.repeats, arguments.limit)
    if "large" in chosen:
        large(10 * n, device, arguments.limit)
    if "first" in chosen:
        first(n, device)
    if "every" in chosen:
        every(n, device, arguments.limit)
    if "precision" in chosen:
        for size in arguments.precision_sizes:
            precision(size, device)
        print()
    if "growth" in chosen:
        growth(arguments.sizes, arguments.largest_floor, arguments.repeats, device)
