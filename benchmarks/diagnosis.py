"""What `diagnose` states, and how its intervals cover: python benchmarks/diagnosis.py.

Calibrated data, data with one wrong dimension, and skewed or heavy-tailed errors. Statements are made only where the
test rejects, so that of calibrated data sets only those are diagnosed. It takes about an hour of one core.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator
from concurrent.futures import Executor, ProcessPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from scipy import stats

from scorecal import Gaussian, calibration_test, diagnose
from scorecal._lib.files import check_writable, write_whole

N_RESAMPLES, DIMENSIONS, WRONG = 199, 12, 4
FLAWS = {"spread 1.4 of the claimed": (1.4, 0.0), "spread 0.7": (0.7, 0.0), "bias 0.35 sd": (1.0, 0.35)}
Draw = Callable[[np.random.Generator, int], np.ndarray]
NOISE: dict[str, tuple[Draw, float, float]] = {
    "normal": (lambda rng, n: rng.normal(size=n), 0.0, 1.0),
    "t, 4 degrees of freedom": (lambda rng, n: rng.standard_t(4, size=n), 0.0, 2.0**0.5),
    "gamma, shape 2": (lambda rng, n: rng.gamma(2.0, size=n), 2.0, 2.0**0.5),
    "lognormal, sigma 0.5": (
        lambda rng, n: rng.lognormal(sigma=0.5, size=n),
        *np.power(stats.lognorm(0.5).stats(), [1.0, 0.5]),
    ),
    "lognormal, sigma 1": (
        lambda rng, n: rng.lognormal(sigma=1.0, size=n),
        *np.power(stats.lognorm(1.0).stats(), [1.0, 0.5]),
    ),
}


def data(seed: int, n: int, d: int, spread: Any = 1.0, shift: Any = 0.0) -> tuple[Gaussian, np.ndarray]:
    """Gaussian predictions of different spreads, and targets off by so many of these, with so many times the spread."""
    rng = np.random.default_rng(seed)
    mean, sd = 2.0 * rng.normal(size=(n, d)), np.exp(0.3 * rng.normal(size=(n, d)))
    return Gaussian(mean, sd), mean + sd * (spread * rng.normal(size=(n, d)) - shift)


def judged(n: int, d: int, seed: int) -> tuple[bool, bool]:
    """Whether calibrated data are rejected, and diagnosed with any statement."""
    predictions, y = data(seed, n, d)
    result = calibration_test(predictions, y, n_resamples=N_RESAMPLES, rng=seed)
    if not result.rejects():
        return False, False
    return True, bool(diagnose(predictions, y, result=result, n_resamples=N_RESAMPLES, rng=seed).statements)


def calibrated(pool: Executor, repeats: int) -> Iterator[str]:
    yield "| n | d | rejected | any statement |"
    yield "|---|---|---|---|"
    for n in (100, 500):
        for d in (1, 3, 10, 20):
            rejected, stated = np.mean(list(pool.map(partial(judged, n, d), range(repeats), chunksize=10)), axis=0)
            yield f"| {n} | {d} | {rejected:.1%} | {stated:.1%} |"


def named(spread: float, shift: float, seed: int) -> tuple[bool, bool, bool]:
    """Whether data with one wrong dimension are rejected, and it is named, and named alone."""
    wrong = np.arange(DIMENSIONS) == WRONG
    predictions, y = data(seed, 500, DIMENSIONS, np.where(wrong, spread, 1.0), shift * wrong)
    found = diagnose(predictions, y, n_resamples=N_RESAMPLES, rng=seed)
    right = [sentence.startswith(f"y_{WRONG + 1}: ") for sentence in found.statements]
    return found.result.rejects(), any(right), bool(right) and all(right)


def one_wrong(pool: Executor, repeats: int) -> Iterator[str]:
    yield "| wrong in one of 12 dimensions | rejected | named | named alone |"
    yield "|---|---|---|---|"
    for name, flaw in FLAWS.items():
        shares = np.mean(list(pool.map(partial(named, *flaw), range(repeats), chunksize=5)), axis=0)
        yield " | ".join([f"| {name}", *(f"{share:.1%}" for share in shares), ""]).strip()


def covered(repeats: int, name: str, n: int) -> str:
    (draw, mean, sd), held, widths = NOISE[name], np.zeros(2), []
    rng = np.random.default_rng(0)
    for seed in range(repeats):
        predictions, y = Gaussian(np.full(n, mean), sd), draw(rng, n)
        found = diagnose(predictions, y, covariates={}, simultaneous=False, n_resamples=99, rng=seed)
        (off,), (ratio,) = found.bias, found.confidence_ratio
        held += [off.holds(0.0), ratio.holds(1.0)]
        widths.append(np.log(ratio.high / ratio.low))
    shares = held / repeats
    return f"| {name} | {n} | {shares[0]:.1%} | {shares[1]:.1%} | {np.median(widths):.2f} |"


def coverage(pool: Executor, repeats: int) -> Iterator[str]:
    yield "| noise | n | bias | spread | width of the latter, log scale |"
    yield "|---|---|---|---|---|"
    yield from pool.map(partial(covered, repeats), *zip(*((name, n) for name in NOISE for n in (50, 400)), strict=True))


def told(lines: Iterator[str]) -> Iterator[str]:
    for line in lines:
        print(line, flush=True)
        yield line


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeats", type=int, default=1000, help="calibrated data sets a cell (1000)")
    parser.add_argument("--workers", type=int, default=2, help="processes (2)")
    parser.add_argument("--out", type=Path, default=Path(__file__).parent / "results" / "diagnosis.md")
    options = parser.parse_args()
    check_writable(options.out)
    some = max(options.repeats // 5, 1)
    with ProcessPoolExecutor(options.workers) as pool:
        tables = [
            list(told(table(pool, repeats)))
            for table, repeats in ((calibrated, options.repeats), (one_wrong, some), (coverage, options.repeats))
        ]
    lines = [
        "# What `diagnose` states, and how its intervals cover",
        "",
        f"By `python benchmarks/diagnosis.py --repeats {options.repeats}`; seeds from 0.",
        "",
        f"Calibrated data, {options.repeats} data sets each: rejected by the test, and diagnosed with any statement.",
        "",
        *tables[0],
        "",
        f"One of {DIMENSIONS} dimensions wrong, n = 500, {some} data sets each: rejected, named by a statement, and",
        "named alone, with no statement on anything else.",
        "",
        *tables[1],
        "",
        f"95 % intervals, each by itself, that hold the truth, {options.repeats} data sets each.",
        "",
        *tables[2],
    ]
    write_whole(options.out, "\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
