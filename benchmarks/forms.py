"""Level and power for predictions without scores: python benchmarks/forms.py [--repeats 2000].

Calibrated predictions of many forms, and some that are wrong, beside simple checks. Draws number 99. It takes about
an hour on one core.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from scipy import stats

import scorecal as sc
from scorecal._lib.files import check_writable, write_whole
from scorecal.coordinates import in_normal_scores

N_RESAMPLES = 99
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


def uniformity(predictions: Any, y: np.ndarray, seed: int) -> float:
    """Kolmogorov and Smirnov's test of randomised PIT values, with Bonferroni's correction for several dimensions."""
    gaussian, targets = in_normal_scores(predictions, y, np.random.default_rng(seed))
    mean, covariance = gaussian.moments()
    z = (targets - mean) / np.sqrt(np.einsum("nkk->nk", covariance))
    return min(1.0, z.shape[1] * min(stats.kstest(column, "norm").pvalue for column in z.T))


def share(make: Callable[[int, np.random.Generator], Data], n: int, repeats: int, test: Callable[..., float]) -> float:
    rejected = 0
    for seed in range(repeats):
        predictions, y = make(n, np.random.default_rng([seed, n]))
        rejected += test(predictions, y, seed) <= 0.05
    return rejected / repeats


def judged(predictions: Any, y: np.ndarray, seed: int) -> float:
    return sc.calibration_test(predictions, y, n_resamples=N_RESAMPLES, rng=seed).pvalue


def percent(rate: float, repeats: int) -> str:
    return f"{100 * rate:.1f} ± {100 * (rate * (1.0 - rate) / repeats) ** 0.5:.1f}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeats", type=int, default=2000, help="data sets a cell of the level (2000)")
    parser.add_argument("--out", type=Path, default=Path(__file__).parent / "results" / "forms.md")
    options = parser.parse_args()
    check_writable(options.out)
    n_power = max(1, options.repeats // 10)
    lines = [
        "# Predictions without scores: level and power",
        "",
        f"`python benchmarks/forms.py --repeats {options.repeats}`: data sets rejected at level .05 by the default",
        f"`calibration_test`, in percent, with the binomial error; B = {N_RESAMPLES}; {options.repeats} data sets a",
        f"cell of the level, and {n_power} of the power, n = 200. KS is the Kolmogorov-Smirnov test of randomised PIT",
        "values.",
        "",
        "| calibrated | n = 50 | n = 200 |",
        "|---|---|---|",
    ]
    for name, make in CALIBRATED.items():
        found = [share(make, n, options.repeats, judged) for n in (50, 200)]
        lines.append(f"| {name} | {' | '.join(percent(rate, options.repeats) for rate in found)} |")
        print(lines[-1], flush=True)
    lines += ["", "| wrong | calibration_test | KS |", "|---|---|---|"]
    for name, make in WRONG.items():
        found = [share(make, 200, n_power, test) for test in (judged, uniformity)]
        lines.append(f"| {name} | {' | '.join(percent(rate, n_power) for rate in found)} |")
        print(lines[-1], flush=True)
    write_whole(options.out, "\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
