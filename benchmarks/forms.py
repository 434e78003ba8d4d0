"""Level and power for predictions without scores: python benchmarks/forms.py [--repeats 2000].

Calibrated predictions of many forms, and some that are wrong, beside simple checks. Draws number 99. Results are kept
in a SQLite file beside the table, and a run that was stopped goes on from there; after a change to scorecal itself,
remove that file. It takes about half an hour on two cores.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from scipy import stats

import scorecal as sc
from scorecal._lib.files import check_writable, write_whole
from scorecal.coordinates import in_normal_scores
from scorecal.experiments import Cell, Model, Test, rejection_rates, sweep

N_RESAMPLES, ENOUGH, HIGHEST, MORE = 99, 2000, 0.065, 10_000
LEVELS = {
    3: [0.1, 0.5, 0.9],
    7: [0.05, 0.1, 0.25, 0.5, 0.75, 0.9, 0.95],
    23: [0.01, 0.025, *np.linspace(0.05, 0.95, 19), 0.975, 0.99],
}
Data = tuple[Any, np.ndarray]


def poisson(n: int, rng: np.random.Generator, mean: float) -> Data:
    rate = mean * np.exp(0.5 * rng.normal(size=n))
    return sc.as_predictions(stats.poisson(rate)), rng.poisson(rate)


def negative_binomial(n: int, rng: np.random.Generator, told: bool = True) -> Data:
    rate = 5.0 * np.exp(0.5 * rng.normal(size=n))
    y = rng.negative_binomial(5.0, 5.0 / (5.0 + rate))
    return sc.as_predictions(stats.nbinom(5.0, 5.0 / (5.0 + rate)) if told else stats.poisson(rate)), y


def binomial(n: int, rng: np.random.Generator) -> Data:
    trials, share = rng.integers(1, 20, n), rng.random(n)
    return sc.as_predictions(stats.binom(trials, share)), rng.binomial(trials, share)


def zero_inflated(n: int, rng: np.random.Generator) -> Data:
    rate, none = 3.0 * np.exp(0.5 * rng.normal(size=n)), rng.uniform(0.2, 0.6, n)

    def cdf(y: np.ndarray) -> np.ndarray:
        return np.where(y < 0, 0.0, none + (1.0 - none) * stats.poisson(rate).cdf(y))

    y = np.where(rng.random(n) < none, 0, rng.poisson(rate))
    mean, sd = (1.0 - none) * rate, np.sqrt((1.0 - none) * rate * (1.0 + none * rate))
    return sc.CdfFunction(cdf, mean=mean, scale=sd, below=lambda y: cdf(y - 1.0)), y


def mass_and_density(n: int, rng: np.random.Generator) -> Data:
    size, none = np.exp(0.5 * rng.normal(size=n)), rng.uniform(0.2, 0.8, n)

    def cdf(y: np.ndarray) -> np.ndarray:
        return np.where(y < 0, 0.0, none - (1.0 - none) * np.expm1(-np.maximum(y, 0.0) / size))

    y = np.where(rng.random(n) < none, 0.0, size * rng.exponential(size=n))
    mean, sd = (1.0 - none) * size, size * np.sqrt(1.0 - none**2)
    return sc.CdfFunction(cdf, mean=mean, scale=sd, below=lambda y: np.where(y <= 0, 0.0, cdf(y))), y


def quantiles(n: int, rng: np.random.Generator, q: int, sd: float = 1.0) -> Data:
    mean, scale = rng.normal(size=n), np.exp(0.3 * rng.normal(size=n))
    values = stats.norm.ppf(LEVELS[q], mean[:, None], sd * scale[:, None])
    return sc.from_quantiles(LEVELS[q], values), mean + scale * rng.normal(size=n)


def members(n: int, rng: np.random.Generator, m: int, d: int = 1, sd: float = 1.0) -> Data:
    mean, scale = rng.normal(size=(n, 1, d)), np.exp(0.3 * rng.normal(size=(n, 1, 1)))
    root = np.linalg.cholesky(0.5 * np.eye(d) + 0.5)
    draws = mean + scale * (rng.normal(size=(n, m + 1, d)) @ root.T) * np.where(np.arange(m + 1) < m, sd, 1.0)[:, None]
    return sc.from_samples(draws[:, :m, 0] if d == 1 else draws[:, :m]), draws[:, m]


def rounded(n: int, rng: np.random.Generator) -> Data:
    """Targets that were rounded to steps of half a standard deviation, and predictions that know it."""
    mean, step = rng.normal(size=n), 0.5

    def cdf(y: np.ndarray) -> np.ndarray:
        return stats.norm.cdf(np.floor(y / step + 1e-9) * step + 0.5 * step, mean)

    y = step * np.round((mean + rng.normal(size=n)) / step)
    return sc.CdfFunction(cdf, mean=mean, scale=np.ones(n), below=lambda y: cdf(y - step)), y


CALIBRATED: dict[str, Callable[[int, np.random.Generator], Data]] = {
    **{f"Poisson, mean {mean:g}": lambda n, rng, mean=mean: poisson(n, rng, mean) for mean in (0.3, 3.0, 100.0)},
    "negative binomial, k = 5": negative_binomial,
    "zero-inflated Poisson": zero_inflated,
    "binomial": binomial,
    "mass and density": mass_and_density,
    "rounded, as predicted": rounded,
    **{f"{q} quantiles": lambda n, rng, q=q: quantiles(n, rng, q) for q in LEVELS},
    **{f"{m} members": lambda n, rng, m=m: members(n, rng, m) for m in (10, 15, 20, 100)},
    **{f"{m} members, d = 3": lambda n, rng, m=m: members(n, rng, m, d=3) for m in (10, 15, 20, 100)},
}
WRONG: dict[str, Callable[[int, np.random.Generator], Data]] = {
    "Poisson told, negative binomial (k = 5) true": lambda n, rng: negative_binomial(n, rng, told=False),
    "7 quantiles, sd x 0.8": lambda n, rng: quantiles(n, rng, 7, sd=0.8),
    "100 members, sd x 0.8": lambda n, rng: members(n, rng, 100, sd=0.8),
    "100 members, d = 3, sd x 0.8": lambda n, rng: members(n, rng, 100, d=3, sd=0.8),
}


def judged(predictions: Any, y: np.ndarray, rng: np.random.Generator) -> float:
    return sc.calibration_test(predictions, y, n_resamples=N_RESAMPLES, rng=rng).pvalue


def uniformity(predictions: Any, y: np.ndarray, rng: np.random.Generator) -> float:
    """Kolmogorov and Smirnov's test of randomised PIT values, with Bonferroni's correction for several dimensions."""
    gaussian, targets = in_normal_scores(predictions, y, rng)
    mean, covariance = gaussian.moments()
    z = (targets - mean) / np.sqrt(np.einsum("nkk->nk", covariance))
    return min(1.0, z.shape[1] * min(stats.kstest(column, "norm").pvalue for column in z.T))


def energy_ranks(predictions: Any, y: np.ndarray, rng: np.random.Generator) -> float:
    """The same test of ranks of the target by its mean distance from the members, and theirs from each other."""
    points = np.concatenate([np.reshape(y, (len(y), 1, -1)), predictions.members], 1)
    distances = np.linalg.norm(points[:, :, None] - points[:, None], axis=3).sum(axis=2)
    below = np.sum(distances[:, 1:] < distances[:, :1], axis=1)
    return float(stats.kstest((below + rng.random(len(y))) / points.shape[1], "uniform").pvalue)


TEST, KS, ENERGY = Test("calibration_test", judged), Test("KS of PIT", uniformity), Test("energy ranks", energy_ranks)


def percent(counts: tuple[int, int] | None) -> str:
    if counts is None:
        return ""
    rate = counts[0] / counts[1]
    return f"{100 * rate:.1f} ± {100 * (rate * (1.0 - rate) / counts[1]) ** 0.5:.1f}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeats", type=int, default=2000, help="data sets a cell of the level (2000)")
    parser.add_argument("--workers", type=int, default=-1, help="processes; one for each core by default")
    parser.add_argument("--out", type=Path, default=Path(__file__).parent / "results" / "forms.md")
    options = parser.parse_args()
    check_writable(options.out)
    n_power = max(1, options.repeats // 10)

    def rates(cells: list[Cell], repeats: int) -> dict[tuple[str, int, str], tuple[int, int]]:
        store = options.out.with_suffix(".sqlite")
        found = sweep(cells, repeats, store, n_resamples=N_RESAMPLES, workers=options.workers, what="forms")
        return rejection_rates(found)

    calibrated = [Cell(Model(name, make), n, TEST) for name, make in CALIBRATED.items() for n in (50, 200)]
    level = rates(calibrated, options.repeats)
    high = [
        c for c in calibrated if level[c.model.name, c.n, TEST.name][0] > HIGHEST * options.repeats >= HIGHEST * ENOUGH
    ]
    again = [replace(cell, model=replace(cell.model, name=f"{cell.model.name}, again")) for cell in high]
    more = rates(again, MORE) if again else {}
    wrong = [
        Cell(Model(name, make), 200, test)
        for name, make in WRONG.items()
        for test in ((TEST, KS, ENERGY) if "members" in name else (TEST, KS))
    ]
    power, tables = rates(wrong, n_power), ((level, ""), (more, ", again"))
    of_level = {
        name: [percent(found.get((name + other, n, TEST.name))) for n in (50, 200) for found, other in tables]
        for name in CALIBRATED
    }
    of_power = {name: [percent(power.get((name, 200, test.name))) for test in (TEST, KS, ENERGY)] for name in WRONG}
    lines = [
        "# Predictions without scores: level and power",
        "",
        f"`python benchmarks/forms.py --repeats {options.repeats}`: data sets rejected at level .05 by the default",
        f"`calibration_test`, in percent, with the binomial error; B = {N_RESAMPLES}; {options.repeats} data sets a",
        f"cell of the level, and {n_power} of the power, n = 200. KS is the Kolmogorov-Smirnov test of randomised PIT",
        "values, and energy ranks that of ranks of the target by its mean distance from the members. Cells above 6.5 %",
        f"of {ENOUGH} or more data sets are run once more, on {MORE} others.",
        "",
        "| calibrated | n = 50 | others | n = 200 | others |",
        "|---|---|---|---|---|",
        *(f"| {name} | {' | '.join(found)} |" for name, found in of_level.items()),
        "",
        "| wrong | calibration_test | KS | energy ranks |",
        "|---|---|---|---|",
        *(f"| {name} | {' | '.join(found)} |" for name, found in of_power.items()),
    ]
    write_whole(options.out, "\n".join(lines) + "\n")
    print("\n".join(lines))


if __name__ == "__main__":
    main()
