"""Time and memory of `kccsd_test`, against the bare products that it cannot do without, and of `calibration_test`.

Run with `make bench`. The floor multiplies matrices of the same sizes over the same upper triangle and does nothing
else; it is timed in two ways, in strips with a BLAS of all cores and in tiles side by side with a BLAS of one core
each, and the faster counts. Test and floor alternate in one process; the best of several runs is kept.
"""

from __future__ import annotations

import argparse
import multiprocessing
import subprocess
import sys
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import partial
from itertools import pairwise
from pathlib import Path

import numpy as np
from threadpoolctl import threadpool_limits

import scorecal as sc
from scorecal._lib.cores import cpu_count

D, N_BASE, B = 5, 10, 500


def data(n: int, dtype: str) -> tuple[sc.Gaussian, np.ndarray]:
    rng = np.random.default_rng(0)
    mean = rng.standard_normal((n, D)).astype(dtype)
    y = mean + rng.standard_normal((n, D)).astype(dtype)
    return sc.Gaussian(mean, np.ones(n, dtype)), y


def kernels(target: str) -> dict[str, object]:
    kernel = sc.kernels.Gaussian(3.0) if target == "gaussian" else sc.kernels.IMQ(3.0)
    return {"distribution_kernel": sc.kernels.GFD(n_base=N_BASE, bandwidth=3.0), "target_kernel": kernel}


def inner_dimensions(target: str) -> list[int]:
    """Widths of the products of a tile, norms included; the bootstrap, of width B, comes on top."""
    if target == "gaussian":
        return [N_BASE * D + D + 2, 2 * D + 2]
    return [N_BASE * D + 2, D + 2, D, 2 * D + 2]


def floors(n: int, target: str, dtype: str) -> list[Callable[[], None]]:
    rng = np.random.default_rng(0)
    factors = [rng.standard_normal((n, width)).astype(dtype) for width in inner_dimensions(target)]
    signs = rng.choice(
        np.asarray([-1, 1], dtype="float32"), (n, B)
    )  # float64 data are multiplied with signs in float32

    def multiply(rows: slice, cols: slice) -> None:
        for factor in factors:
            block = factor[rows] @ factor[cols].T
        block.astype(signs.dtype, copy=False) @ signs[cols]

    def strips() -> None:
        for start in range(0, n, 1024):
            multiply(slice(start, start + 1024), slice(start, n))

    def row(start: int) -> None:
        for column in range(start, n, 384):
            multiply(slice(start, start + 384), slice(column, column + 384))

    def tiles() -> None:
        with threadpool_limits(1, user_api="blas"), ThreadPoolExecutor(cpu_count()) as pool:
            list(pool.map(row, range(0, n, 384)))

    return [strips, tiles]


def seconds(function: Callable[[], object]) -> float:
    start = time.perf_counter()
    function()
    return time.perf_counter() - start


def against_floor(n: int, repeats: int) -> None:
    print(f"Time over the bare matrix products (n = {n}, d = {D}, {N_BASE} base points, B = {B})\n")
    print("| target kernel | dtype | test [s] | floor, strips [s] | floor, tiles [s] | test / faster floor |")
    print("|---|---|---|---|---|---|")
    for target in ("gaussian", "imq"):
        for dtype in ("float64", "float32"):
            predictions, y = data(n, dtype)
            chosen = kernels(target)
            contenders = [
                lambda p=predictions, y=y, c=chosen: sc.kccsd_test(p, y, n_resamples=B, rng=0, **c),
                *floors(n, target, dtype),
            ]
            rounds = [[seconds(contender) for contender in contenders] for _ in range(repeats)]
            test, strips, tiles = np.min(rounds, axis=0)
            print(f"| {target} | {dtype} | {test:.3f} | {strips:.3f} | {tiles:.3f} | {test / min(strips, tiles):.2f} |")


def mixed_against_full(n: int, repeats: int) -> None:
    predictions, y = data(n, "float64")
    contenders = [
        lambda precision=precision: sc.kccsd_test(predictions, y, n_resamples=999, precision=precision, rng=0)
        for precision in ("mixed", "full")
    ]
    mixed, full = np.min([[seconds(contender) for contender in contenders] for _ in range(repeats)], axis=0)
    print(f'\n`precision="mixed"` over `"full"` (float64, n = {n}, d = {D}, B = 999): ', end="")
    print(f"{mixed:.3f} s / {full:.3f} s = {mixed / full:.2f}")


def at_scale(n: int) -> None:
    """Once each, in a fresh process: test, memory and floors."""
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        test, megabytes, strips, tiles = pool.apply(measure_at_scale, (n,))
    print(f"\nAt scale (n = {n}, Gaussian kernels, float32, B = {B}), each once\n")
    print("| test [s] | floor, strips [s] | floor, tiles [s] | test / faster floor | growth of the process [MB] |")
    print("|---|---|---|---|---|")
    print(f"| {test:.1f} | {strips:.1f} | {tiles:.1f} | {test / min(strips, tiles):.2f} | {megabytes:.0f} |")


def measure_at_scale(n: int) -> tuple[float, float, float, float]:
    predictions, y = data(n, "float32")
    before = peak_megabytes()
    test = seconds(lambda: sc.kccsd_test(predictions, y, n_resamples=B, rng=0, **kernels("gaussian")))
    megabytes = peak_megabytes() - before
    strips, tiles = (seconds(floor) for floor in floors(n, "gaussian", "float32"))
    return test, megabytes, strips, tiles


def against_kccsd(n: int, repeats: int) -> None:
    """With default views, bandwidths fixed in both."""
    predictions, y = data(n, "float64")
    between = sc.kernels.GFD(bandwidth=3.0)
    views = [
        replace(view, distribution_kernel=between) if view.distribution_kernel == sc.kernels.GFD() else view
        for view in sc.views.default_views(D)
    ]
    contenders = [
        lambda: sc.calibration_test(predictions, y, views=views, n_resamples=B, rng=0),
        lambda: sc.kccsd_test(
            predictions, y, distribution_kernel=between, target_kernel=sc.kernels.Gaussian(3.0), n_resamples=B, rng=0
        ),
    ]
    ours, paper = np.min([[seconds(contender) for contender in contenders] for _ in range(repeats)], axis=0)
    print(f"\n`calibration_test` with {len(views)} views over `kccsd_test` (n = {n}, d = {D}, B = {B}): ", end="")
    print(f"{ours:.3f} s / {paper:.3f} s = {ours / paper:.2f}")


N_SIGNS = 199
ROWS = 4096  # of a block of the bare pass


@dataclass(frozen=True)
class BarePass:
    """What `calibration_test` cannot do without, for Gaussians whose frame is known: one pass over blocks of rows.

    Each row is whitened, the features of all default views and of the low-rank one are computed once, with their
    squares, and multiplied with signs in float32. Nothing is checked, corrected for skewness or kept by row. With
    `regions`, the features of `diagnose` are also added up with signs in the 20 parts of each of its 2 d covariates.
    """

    mean: np.ndarray
    scale: np.ndarray
    y: np.ndarray
    regions: bool = False

    def __call__(self) -> None:
        n, d = self.mean.shape
        rng = np.random.default_rng(0)
        sample = rng.integers(0, n, min(n, 100_000))
        columns = self._columns(slice(0, n))
        knots = np.sort(columns[sample], axis=0).T.copy()
        cuts = np.quantile(columns[sample], np.arange(1, 20) / 20, axis=0).T.copy()
        waves = rng.standard_normal((d * d + 2 * d, 50))
        packed = np.frombuffer(rng.bytes(n * N_SIGNS // 8 + 8), dtype=np.uint8)
        table = (2.0 * np.unpackbits(np.arange(256, dtype=np.uint8)[:, None], axis=1) - 1.0).astype(np.float32)
        views = [view for view in sc.views.default_views(d) if view.finite_rank]
        kernels = {view.bounded or view.target_kernel for view in views} - {sc.kernels.Outlying()}

        def block(start: int) -> list[np.ndarray]:
            rows = slice(start, min(start + ROWS, n))
            m = rows.stop - start
            known = self._columns(rows)
            z = (self.y[rows] - self.mean[rows]) / self.scale[rows]
            found = {kernel: kernel.features(z, -z) for kernel in kernels}
            ranks = np.stack([np.searchsorted(knots[k], known[:, k]) for k in range(d + 1)], axis=1) / knots.shape[1]
            x = 2.0 * ranks - 1.0
            curves = np.stack([1.5 * x**2 - 0.5, (2.5 * x**2 - 1.5) * x, (4.375 * x**2 - 3.75) * x**2 + 0.375], axis=2)
            score, bounded = -z, found[sc.kernels.BoundedRadial(3.0 * d)]
            matrices = np.repeat((1.0 / self.scale[rows]) ** 2 * np.ones((m, d)), d, axis=1)
            points = np.concatenate([z, matrices, known[:, :d]], axis=1) @ waves
            cosine, sine = np.cos(points)[:, None, :], np.sin(points)[:, None, :]
            slopes = waves[:d][None]
            waved = [score[:, :, None] * cosine - slopes * sine, score[:, :, None] * sine + slopes * cosine]
            products = [
                score[:, :, None] * known[:, None, :],
                bounded[:, :, None] * known[:, None, :],
                score[:, :, None] * curves[:, :d],
                bounded[:, :, None] * curves.reshape(m, 1, -1),
                score * known[:, :d],
                np.sum(score * known[:, :d], axis=1, keepdims=True),
                *waved,
            ]
            features = np.concatenate([*found.values(), *(each.reshape(m, -1) for each in products)], axis=1)
            bits = packed[start * N_SIGNS // 8 : -(-rows.stop * N_SIGNS // 8)]
            signs = table[bits].reshape(-1)[: m * N_SIGNS].reshape(m, N_SIGNS)
            sums = [features.sum(axis=0), np.einsum("nq,nq->q", features, features)]
            sums.append(features.astype(np.float32).T @ signs)
            if self.regions:
                own = np.concatenate([z, z**2, z * np.roll(z, 1, axis=1), np.sum(z**2, axis=1, keepdims=True)], axis=1)
                sums.append(own.T @ own)
                sums += self._by_region(own.astype(np.float32), known, cuts, signs)
            return sums

        with threadpool_limits(1, user_api="blas"), ThreadPoolExecutor(cpu_count()) as pool:
            total: list[np.ndarray] = []
            for sums in pool.map(block, range(0, n, ROWS)):
                total = [a + b for a, b in zip(total, sums, strict=True)] if total else sums

    def _columns(self, rows: slice) -> np.ndarray:
        return np.column_stack([self.mean[rows], np.log(self.scale[rows]).mean(axis=1)])

    def _by_region(self, own: np.ndarray, known: np.ndarray, cuts: np.ndarray, signs: np.ndarray) -> list[np.ndarray]:
        """Sums of features and their signs over the parts of each covariate: locations, and spreads as often."""
        found = []
        for k in [*range(known.shape[1] - 1), *[known.shape[1] - 1] * (known.shape[1] - 1)]:
            bins = np.searchsorted(cuts[k], known[:, k])
            order = np.argsort(bins, kind="stable")
            ends = np.searchsorted(bins[order], np.arange(len(cuts[k]) + 2))
            parts = [order[a:b] for a, b in pairwise(ends)]
            found.append(np.stack([own[some].T @ signs[some] for some in parts]))
        return found


def many_rows(n: int, form: str) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Means, standard deviations and targets of calibrated Gaussians in three dimensions."""
    rng = np.random.default_rng(0)
    mean = rng.standard_normal((n, 3))
    scale = np.exp(0.3 * rng.standard_normal((n, 1 if form == "isotropic" else 3)))
    return mean, scale, mean + scale * rng.standard_normal((n, 3))


def against_bare_pass(n: int, repeats: int) -> None:
    """Low-rank test and diagnosis, each over its own bare pass, alternating; seconds and processor seconds."""
    print(f"\nTime over a bare pass (n = {n}, d = 3, Gaussian, float64, B = {N_SIGNS})\n")
    print("| predictions | function | time [s] | bare pass [s] | ratio | ratio of processor time |")
    print("|---|---|---|---|---|---|")
    for form, flaw in (("isotropic", 1.0), ("diagonal", 1.0), ("isotropic", 1.1)):
        mean, scale, y = many_rows(n, form)
        y = mean + flaw * (y - mean)
        predictions = sc.Gaussian(mean, scale)
        test = partial(sc.calibration_test, estimator="low-rank", null="signs")
        for name, function in (("calibration_test", test), ("diagnose", sc.diagnose)):
            ours = partial(function, predictions, y, n_resamples=N_SIGNS, rng=0)
            contenders = [ours, BarePass(mean, scale, y, regions=name == "diagnose")]
            rounds = np.array([[both_seconds(each) for each in contenders] for _ in range(repeats)])
            times, bare = np.min(rounds, axis=0)
            kind = form if flaw == 1.0 else f"{form}, spread x {flaw:g}"
            ratio, of_processors = times / bare
            print(f"| {kind} | `{name}` | {times[0]:.2f} | {bare[0]:.2f} | {ratio:.2f} | {of_processors:.2f} |")


def both_seconds(function: Callable[[], object]) -> tuple[float, float]:
    """Seconds, and seconds of all processors."""
    start, used = time.perf_counter(), time.process_time()
    function()
    return time.perf_counter() - start, time.process_time() - used


def growth(test: str, sizes: list[int]) -> None:
    print(f"\nGrowth of `{test}` in n (defaults, float64, B = {B}), each n in a fresh process\n")
    print("| n | test [s] | growth of the process [MB] |")
    print("|---|---|---|")
    times = []
    for n in sizes:
        with multiprocessing.get_context("spawn").Pool(1) as pool:
            elapsed, megabytes = pool.apply(measure, (test, n, B))
        times.append(elapsed)
        print(f"| {n} | {elapsed:.3f} | {megabytes:.0f} |")
    large = [k for k, n in enumerate(sizes) if n >= 5000]
    if len(large) > 1:
        slope = np.polyfit(np.log(np.take(sizes, large)), np.log(np.take(times, large)), 1)[0]
        print(f"\nFrom n = {sizes[large[0]]} up the time grows as n^{slope:.2f}.")


def measure(test: str, n: int, n_resamples: int) -> tuple[float, float]:
    """Seconds of a test, and by how many MB it raised the peak memory of the process above a small test."""
    predictions, y = data(n, "float64")
    function = getattr(sc, test)
    function(sc.Gaussian(y[:16] * 0.0, 1.0), y[:16], rng=0)
    before = peak_megabytes()
    elapsed = seconds(lambda: function(predictions, y, n_resamples=n_resamples, rng=0))
    return elapsed, peak_megabytes() - before


def peak_megabytes() -> float:
    """Peak resident memory of this process alone (`ru_maxrss` would begin at its parent's)."""
    status = Path("/proc/self/status").read_text()
    return int(status.split("VmHWM:")[1].split()[0]) / 1024


def cold_start(repeats: int) -> None:
    code = "import scorecal as sc; p, y = sc.experiments.mgm(200, 0.1, rng=0); sc.kccsd_test(p, y, rng=0).pvalue"
    times = [seconds(lambda: subprocess.run([sys.executable, "-c", code], check=True)) for _ in range(repeats)]
    print(f"\nCold start, new interpreter to p-value at n = 200: {np.median(times):.2f} s (median of {repeats})")


def first_call_in_jax(repeats: int) -> None:
    code = """import time, jax.numpy as jnp, numpy as np, scorecal as sc
p, y = sc.experiments.mgm(200, 0.1, rng=0)
p, y = sc.Gaussian(jnp.asarray(p.mean), jnp.asarray(p.scale)), jnp.asarray(y)
start = time.perf_counter()
sc.calibration_test(p, y, rng=0)
print(time.perf_counter() - start)"""
    run = [subprocess.run([sys.executable, "-c", code], check=True, capture_output=True) for _ in range(repeats)]
    times = [float(done.stdout) for done in run]
    median = np.median(times)
    print(f"\nFirst `calibration_test` of a process on JAX arrays (n = 200): {median:.2f} s (median of {repeats})")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--n", type=int, default=8192)
    parser.add_argument("--repeats", type=int, default=7)
    parser.add_argument("--sizes", type=int, nargs="+", default=[1000, 2500, 5000, 10_000, 20_000, 40_000])
    parser.add_argument("--rows", type=int, default=1_000_000, help="of the bare pass")
    parser.add_argument("--large", type=int, default=100_000)
    arguments = parser.parse_args()
    print(
        f"# Speed\n\nPrinted by `python benchmarks/speed.py`, which `make bench` runs, on {cpu_count()} cores; seed 0."
    )
    cold_start(arguments.repeats)
    first_call_in_jax(arguments.repeats)
    print()
    against_floor(arguments.n, arguments.repeats)
    mixed_against_full(arguments.n, arguments.repeats)
    against_kccsd(5000, arguments.repeats)
    against_bare_pass(arguments.rows, max(1, arguments.repeats // 2))
    at_scale(arguments.large)
    growth("kccsd_test", arguments.sizes)
    growth("calibration_test", arguments.sizes)


if __name__ == "__main__":
    main()
