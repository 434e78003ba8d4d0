"""Warnings on dependent rows, false and true, and intervals of `diagnose`: python benchmarks/dependence_warnings.py.

Independent rows are calibrated or not, in random order or sorted; a warning of serial correlation or close targets is
then a false alarm. Predictions are Gaussian; the targets have the distributions named.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from functools import partial
from pathlib import Path

import numpy as np

from scorecal import Gaussian, diagnose
from scorecal._lib.files import write_whole
from scorecal.cautions import rows_of
from scorecal.cautions.copies import close_targets
from scorecal.cautions.serial import serial_correlation

Data = tuple[np.ndarray, np.ndarray, np.ndarray]  # means, spreads and targets (n, d)
NOISE: dict[str, Callable[[np.random.Generator, tuple[int, int]], np.ndarray]] = {
    "Gaussian": lambda rng, size: rng.normal(size=size),
    "t3": lambda rng, size: rng.standard_t(3, size=size),
    "skewed": lambda rng, size: rng.gamma(0.5, size=size) * 2**0.5 - 2**-0.5,
}


def wrong(mean: np.ndarray, sd: np.ndarray, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Mean and spread of the targets for one of several kinds of miscalibration, or none."""
    kind = rng.integers(6)
    shift = [0.0, 0.5, 0.5 * mean, 0.5 * mean**2, np.sin(3.0 * mean), 0.0][kind]
    return mean + sd * shift, sd * [1.0, 0.5, 0.7, 1.0, 0.7, np.exp(0.5 * mean)][kind]


def independent(noise: str, n: int, d: int, rng: np.random.Generator, n_distinct: int = 0) -> Data:
    """Predictions of locations and spreads that vary; `n_distinct` of them, if given."""
    mean, sd = rng.normal(size=(n, d)), np.exp(0.5 * rng.normal(size=(n, d)))
    if n_distinct:
        chosen = rng.integers(n_distinct, size=n)
        mean, sd = mean[chosen], sd[chosen]
    centre, spread = wrong(mean, sd, rng)
    return mean, sd, centre + spread * NOISE[noise](rng, (n, d))


def counts(n: int, rng: np.random.Generator) -> Data:
    rate = rng.gamma(4.0, size=(n, 1))
    return rate, np.sqrt(rate), rng.poisson(rate).astype(float)


def in_order(data: Data, by: np.ndarray) -> Data:
    order = np.argsort(by, kind="stable")
    return data[0][order], data[1][order], data[2][order]


def overlapping(n: int, h: int, rng: np.random.Generator) -> Data:
    """Calibrated h-step forecasts of an AR(1) process with coefficient .8."""
    x = np.zeros(n + h + 100)
    for t, step in enumerate(rng.normal(size=len(x) - 1), 1):
        x[t] = 0.8 * x[t - 1] + step
    x = x[100:, None]
    sd = float(np.sqrt(np.sum(0.8 ** (2.0 * np.arange(h)))))
    return 0.8**h * x[:n], np.full((n, 1), sd), x[h:]


def clusters(n: int, size: int, correlation: float, rng: np.random.Generator, one_prediction: bool = False) -> Data:
    """Calibrated predictions for clusters of adjacent rows; with `one_prediction` for each, in random order."""
    mean = np.repeat(rng.normal(size=(n // size, 1)), size, axis=0) if one_prediction else rng.normal(size=(n, 1))
    shared = np.repeat(rng.normal(size=(n // size, 1)), size, axis=0)
    y = mean + np.sqrt(correlation) * shared + np.sqrt(1.0 - correlation) * rng.normal(size=(n, 1))
    data = mean, np.ones((n, 1)), y
    return in_order(data, rng.random(n)) if one_prediction else data


def false_alarms() -> dict[str, Callable[[np.random.Generator], Data]]:
    cells: dict[str, Callable[[np.random.Generator], Data]] = {}
    for noise in NOISE:
        for n, d in ((20, 1), (20, 2), (50, 1), (50, 8), (200, 1), (200, 2), (200, 8), (1000, 1)):
            cells[f"{noise}, n = {n}, d = {d}"] = lambda rng, noise=noise, n=n, d=d: independent(noise, n, d, rng)
    for n, n_distinct in ((50, 20), (200, 3), (200, 40), (200, 100), (1000, 100)):
        name = f"{n_distinct} predictions, n = {n}"
        cells[name] = lambda rng, n=n, m=n_distinct: independent("Gaussian", n, 1, rng, m)
        cells[f"{name}, sorted"] = lambda rng, n=n, m=n_distinct: by_column(independent("Gaussian", n, 1, rng, m), 0)
        cells[f"{name}, in runs"] = lambda rng, n=n, m=n_distinct: in_runs(independent("Gaussian", n, 1, rng, m))
    for n in (20, 200, 1000):
        for k, column in enumerate(("mean", "spread", "target")):
            cells[f"sorted by {column}, n = {n}"] = lambda rng, n=n, k=k: by_column(
                independent("Gaussian", n, 1, rng), k
            )
        cells[f"sorted by size of the mean, n = {n}"] = lambda rng, n=n: by_size(independent("Gaussian", n, 1, rng))
        cells[f"sorted by target, roughly, n = {n}"] = lambda rng, n=n: roughly(independent("Gaussian", n, 1, rng), rng)
        cells[f"sorted by a covariate, n = {n}"] = lambda rng, n=n: covariate(n, rng)
        cells[f"counts, n = {n}"] = lambda rng, n=n: counts(n, rng)
        cells[f"counts, sorted, n = {n}"] = lambda rng, n=n: by_column(counts(n, rng), 2)
    return cells


def by_column(data: Data, k: int) -> Data:
    return in_order(data, data[k][:, 0])


def by_size(data: Data) -> Data:
    return in_order(data, np.abs(data[0][:, 0]))


def roughly(data: Data, rng: np.random.Generator) -> Data:
    return in_order(data, data[2][:, 0] + 0.3 * rng.normal(size=len(data[2])))


def covariate(n: int, rng: np.random.Generator) -> Data:
    """Rows sorted by a covariate on which means and biases depend."""
    x = np.sort(rng.uniform(0.0, 10.0, n))[:, None]
    return np.sin(x), np.ones((n, 1)), np.sin(x) + 0.5 * np.cos(2.0 * x) + rng.normal(size=(n, 1))


def in_runs(data: Data) -> Data:
    """Rows of one prediction next to each other, the predictions in no order."""
    return in_order(data, np.sin(1e6 * data[0][:, 0]))


def true_alarms() -> dict[str, Callable[[np.random.Generator], Data]]:
    cells: dict[str, Callable[[np.random.Generator], Data]] = {}
    for n, h in ((50, 6), (200, 2), (200, 6), (200, 24), (1000, 24)):
        cells[f"overlapping forecasts, h = {h}, n = {n}"] = lambda rng, n=n, h=h: overlapping(n, h, rng)
    for n, size, share in ((200, 5, 0.5), (200, 10, 0.3), (1000, 10, 0.1), (1000, 10, 0.3)):
        name = f"clusters of {size}, correlation {share}, n = {n}"
        cells[f"{name}, adjacent"] = lambda rng, a=(n, size, share): clusters(*a, rng)
        cells[f"{name}, one prediction each"] = lambda rng, a=(n, size, share): clusters(*a, rng, one_prediction=True)
    return cells


def rates(cells: dict[str, Callable[[np.random.Generator], Data]], repeats: int, seed: int) -> list[str]:
    lines = [f"| {repeats} data sets each | serial correlation | close targets |", "|---|---|---|"]
    for k, (name, draw) in enumerate(cells.items()):
        rng, found = np.random.default_rng([seed, k]), np.zeros(2, dtype=int)
        for _ in range(repeats):
            mean, sd, y = draw(rng)
            rows = rows_of(Gaussian(mean, sd), y, None)
            found += [serial_correlation(rows) is not None, close_targets(rows) is not None]
        lines.append(f"| {name} | {found[0] / repeats:.2%} | {found[1] / repeats:.2%} |")
        print(lines[-1], flush=True)
    return lines


def held(
    draw: Callable[[np.random.Generator], Data], repeats: int, rng: np.random.Generator, **options: object
) -> np.ndarray:
    """Shares of data sets in which the 95 % intervals of `diagnose` for bias and spread hold the truth."""
    found, result = np.zeros(2), None
    for _ in range(repeats):
        mean, sd, y = draw(rng)
        # Intervals that need not hold together do not depend on the test, of which the first is used for all.
        options |= {"covariates": {}, "simultaneous": False, "result": result, "rng": 0}
        diagnosis = diagnose(Gaussian(mean, sd), y, **options)
        result = diagnosis.result
        found += [diagnosis.bias[0].holds(0.0), diagnosis.confidence_ratio[0].holds(1.0)]
    return found / repeats


def intervals(repeats: int, seed: int) -> list[str]:
    lines = [f"| {repeats} data sets each | bias | spread | bias, told | spread, told |", "|---|---|---|---|---|"]
    for n, size, share in ((200, 10, 0.3), (400, 10, 0.3), (1000, 10, 0.1)):
        groups = np.repeat(np.arange(n // size), size)
        draw = partial(clusters, n, size, share)
        shares = (held(draw, repeats, np.random.default_rng(seed), **told) for told in ({}, {"groups": groups}))
        lines.append(_line(f"clusters of {size}, correlation {share}, n = {n}", *shares))
    for n, h in ((400, 2), (400, 6), (1000, 6), (1000, 24)):
        draw = partial(overlapping, n, h)
        shares = (held(draw, repeats, np.random.default_rng(seed), **told) for told in ({}, {"horizon": h}))
        lines.append(_line(f"overlapping forecasts, h = {h}, n = {n}", *shares))
    return lines


def _line(name: str, *shares: np.ndarray) -> str:
    line = " | ".join([f"| {name}", *(f"{share:.1%}" for share in np.concatenate(shares)), ""]).strip()
    print(line, flush=True)
    return line


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeats", type=int, default=20_000, help="data sets a cell of independent rows (20,000)")
    parser.add_argument("--seed", type=int, default=0, help="of the random numbers (0)")
    parser.add_argument("--out", type=Path, default=Path(__file__).parent / "results" / "dependence_warnings.md")
    options = parser.parse_args()
    lines = [
        "# How often warnings on dependent rows come",
        "",
        f"By `python benchmarks/dependence_warnings.py --repeats {options.repeats} --seed {options.seed}`.",
        "Independent rows, each data set calibrated or miscalibrated in one of five ways: all warnings here are false.",
        "",
        *rates(false_alarms(), options.repeats, options.seed),
        "",
        "Rows that depend on each other, calibrated:",
        "",
        *rates(true_alarms(), max(options.repeats // 20, 1), options.seed),
        "",
        "Data sets in which 95 % intervals of `diagnose` hold the truth, plain and with `groups=` or `horizon=`:",
        "",
        *intervals(max(options.repeats // 10, 1), options.seed),
    ]
    write_whole(options.out, "\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
