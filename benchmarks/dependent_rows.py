"""Level and power on rows that depend on each other, with `groups` and `horizon`, and what ignoring them does.

    python benchmarks/dependent_rows.py [--repeats 1000] [--workers 2]

Writes the number of rejections of each cell to results/dependent_rows.csv as it comes, and goes on where it was; then
the tables to results/dependent_rows.md.
"""

from __future__ import annotations

import argparse
import csv
from collections.abc import Callable
from concurrent.futures import Executor, ProcessPoolExecutor
from functools import partial
from pathlib import Path

import numpy as np

import scorecal as sc
from scorecal._lib.files import write_whole

RESULTS = Path(__file__).parent / "results"
N_RESAMPLES = 199
AT_ONCE = 25  # data sets of one task of a process
Made = tuple[
    np.ndarray, np.ndarray, np.ndarray, dict
]  # means, standard deviations, errors in units of these, arguments


def autoregression(n: int, horizon: int, slope: float, rng: np.random.Generator, given: bool = True) -> Made:
    """Forecasts of an autoregression (slope 1: a random walk) `horizon` steps ahead, issued at every step."""
    steps = rng.normal(size=n + horizon + (100 if slope < 1 else 0))
    y = np.zeros(len(steps))
    for t in range(1, len(y)):
        y[t] = slope * y[t - 1] + steps[t]
    mean = slope**horizon * y[-n - horizon : -horizon]
    sd = np.full(n, np.sqrt(np.sum(slope ** (2.0 * np.arange(horizon)))))
    return mean, sd, (y[-n:] - mean) / sd, {"horizon": horizon} if given else {}


def garch(n: int, rng: np.random.Generator) -> Made:
    """One-step forecasts of a GARCH(1, 1), whose spreads depend on the errors before."""
    errors, variances = rng.normal(size=n + 100), np.ones(n + 100)
    for t in range(1, n + 100):
        variances[t] = 0.05 + (0.15 * errors[t - 1] ** 2 + 0.8) * variances[t - 1]
    return np.zeros(n), np.sqrt(variances[-n:]), errors[-n:], {"horizon": 1}


def clusters(n: int, size: int, correlation: float, rng: np.random.Generator) -> Made:
    """Groups of rows whose errors have an intraclass correlation, and whose predictions are alike too."""
    groups = np.arange(n) // size
    shared, own, mean, other = (rng.normal(size=n) for _ in range(4))
    errors = np.sqrt(correlation) * shared[groups] + np.sqrt(1.0 - correlation) * own
    return mean[groups] + other, np.ones(n), errors, {"groups": groups}


def stations(n: int, number: int, horizon: int, rng: np.random.Generator) -> Made:
    """Several independent series of overlapping forecasts, their rows in turn."""
    parts = [autoregression(n // number, horizon, 0.8, rng)[:3] for _ in range(number)]
    mean, sd, errors = (np.stack(part, axis=1).ravel() for part in zip(*parts, strict=True))
    return mean, sd, errors, {"groups": np.arange(len(mean)) % number, "horizon": horizon}


def independent(n: int, rng: np.random.Generator) -> Made:
    return rng.normal(size=n), np.ones(n), rng.normal(size=n), {}


INDEPENDENT = "independent, n = "


LEVEL: dict[str, Callable[[np.random.Generator], Made]] = {
    **{
        f"autoregression .8, {h} steps ahead, n = {n}": lambda rng, n=n, h=h: autoregression(n, h, 0.8, rng)
        for n, h in ((400, 2), (400, 6), (1000, 2), (1000, 6), (1000, 24))
    },
    **{
        f"random walk, {h} steps ahead, n = {n}": lambda rng, n=n, h=h: autoregression(n, h, 1.0, rng)
        for n, h in ((400, 2), (400, 6), (300, 6))
    },
    "random walk, one step ahead, n = 200": lambda rng: autoregression(200, 1, 1.0, rng),
    "autoregression .8, one step ahead, n = 200": lambda rng: autoregression(200, 1, 0.8, rng),
    "GARCH(1, 1), one step ahead, n = 200": lambda rng: garch(200, rng),
    "random walk, one step ahead, n = 1000": lambda rng: autoregression(1000, 1, 1.0, rng),
    "GARCH(1, 1), one step ahead, n = 1000": lambda rng: garch(1000, rng),
    **{
        f"groups of {m}, correlation {rho:g}, n = 400": lambda rng, m=m, rho=rho: clusters(400, m, rho, rng)
        for m in (5, 10)
        for rho in (0.1, 0.3)
    },
    "five stations, 2 steps ahead, n = 400": lambda rng: stations(400, 5, 2, rng),
}
TESTS = {"calibration_test": sc.calibration_test, "kccsd_test": sc.kccsd_test}
FLAWS = {"shift .2": (0.2, 1.0), "sd x .85": (0.0, 0.85)}


def correlations(horizon: int, slope: float = 0.8) -> np.ndarray:
    """Correlation of the errors of forecasts 1, 2, ... rows apart, as far as they overlap."""
    weights = slope ** np.arange(horizon)
    return np.array([weights[:-k] @ weights[k:] for k in range(1, horizon)]) / (weights @ weights)


POWER = {
    "groups of 5, correlation .3, n = 400": (lambda rng: clusters(400, 5, 0.3, rng), 4 * 0.3, 4 * 0.3**2),
    "groups of 10, correlation .3, n = 400": (lambda rng: clusters(400, 10, 0.3, rng), 9 * 0.3, 9 * 0.3**2),
    **{
        f"autoregression .8, {h} steps ahead, n = {n}": (
            lambda rng, n=n, h=h: autoregression(n, h, 0.8, rng),
            2 * np.sum(correlations(h)),
            2 * np.sum(correlations(h) ** 2),
        )
        for n, h in ((400, 2), (400, 6), (1000, 6))
    },
}


def maker(name: str) -> Callable[[np.random.Generator], Made]:
    if name.startswith(INDEPENDENT):
        return partial(independent, int(name.removeprefix(INDEPENDENT)))
    return LEVEL[name] if name in LEVEL else POWER[name][0]


def rejections(name: str, test: str, flaw: str, told: bool, seeds: range) -> int:
    make, (shift, scale), total = maker(name), FLAWS.get(flaw, (0.0, 1.0)), 0
    for seed in seeds:
        mean, sd, errors, arguments = make(np.random.default_rng(seed))
        predictions = sc.Gaussian(mean - shift * sd, scale * sd)
        arguments = arguments if told else {}
        if "horizon" in arguments and test == "calibration_test":
            arguments = arguments | {"covariates": {"row": np.arange(len(mean))}}  # which drift they look for
        result = TESTS[test](
            predictions, mean + sd * errors, null="signs", n_resamples=N_RESAMPLES, rng=seed, **arguments
        )
        total += result.rejects()
    return total


class Rates:
    """Rejection rates, kept in a file."""

    def __init__(self, path: Path, pool: Executor) -> None:
        self.path, self.pool = path, pool
        self.known = {tuple(row[:-1]): int(row[-1]) for row in csv.reader(path.open())} if path.exists() else {}

    def __call__(self, name: str, test: str, flaw: str, repeats: int, told: bool = True) -> float:
        key = (name, test, flaw, "told" if told else "not told", str(repeats))
        if key not in self.known:
            parts = [range(start, min(start + AT_ONCE, repeats)) for start in range(0, repeats, AT_ONCE)]
            self.known[key] = sum(self.pool.map(partial(rejections, name, test, flaw, told), parts))
            with self.path.open("a", newline="") as file:
                csv.writer(file).writerow([*key, self.known[key]])
        return self.known[key] / repeats


def level_table(rates: Rates, repeats: int) -> list[str]:
    fewer = repeats // 5
    lines = [
        f"Calibrated, {repeats} data sets a cell, and {fewer} for rows that are taken for independent.",
        "",
        "| rows | `calibration_test` | taken for independent | `kccsd_test` | taken for independent |",
        "|---|---|---|---|---|",
    ]
    for name in LEVEL:
        found = [
            rates(name, test, "none", count, told)
            for test in TESTS
            for count, told in ((repeats, True), (fewer, False))
        ]
        lines.append(f"| {name} | " + " | ".join(f"{rate:.3f}" for rate in found) + " |")
        print(lines[-1], flush=True)
    return lines


def power_table(rates: Rates, repeats: int) -> list[str]:
    lines = [
        f"Power of `calibration_test`, {repeats} data sets a cell, beside that on as many independent rows as carry",
        "the same information: n over 1 + the sum of correlations with other rows, of errors for a shift, and of",
        "their squares for a wrong spread.",
        "",
        "| rows | flaw | dependent rows | effective n | so many independent rows |",
        "|---|---|---|---|---|",
    ]
    for name, (_, of_errors, of_squares) in POWER.items():
        for flaw, inflation in zip(FLAWS, (of_errors, of_squares), strict=True):
            n = round(int(name.split()[-1]) / (1.0 + inflation))
            found = rates(name, "calibration_test", flaw, repeats)
            alone = rates(f"{INDEPENDENT}{n}", "calibration_test", flaw, repeats)
            lines.append(f"| {name} | {flaw} | {found:.2f} | {n} | {alone:.2f} |")
            print(lines[-1], flush=True)
    return lines


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeats", type=int, default=1000, help="data sets a cell of the level (1000)")
    parser.add_argument("--workers", type=int, default=2, help="processes (2)")
    parser.add_argument("--out", type=Path, default=RESULTS / "dependent_rows.md")
    options = parser.parse_args()
    with ProcessPoolExecutor(options.workers) as pool:
        rates = Rates(options.out.with_suffix(".csv"), pool)
        tables = [*level_table(rates, options.repeats), "", *power_table(rates, options.repeats * 2 // 5)]
    lines = [
        "# Rows that depend on each other",
        "",
        f"`python benchmarks/dependent_rows.py --repeats {options.repeats}`: data sets that are rejected at level .05,",
        f"B = {N_RESAMPLES}, seeds from 0. The 99 % band of 1000 data sets is .032 to .068.",
        "",
        *tables,
    ]
    write_whole(options.out, "\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
