"""What `diagnose` states, and how its intervals cover: python benchmarks/diagnosis.py.

Calibrated data, data with one wrong dimension, and skewed or heavy-tailed errors. Statements are made only where the
test rejects, so that of calibrated data sets only those are diagnosed. It takes about half an hour on one core.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator
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


def calibrated(repeats: int) -> Iterator[str]:
    yield "| n | d | rejected | any statement |"
    yield "|---|---|---|---|"
    for n in (100, 500):
        for d in (1, 3, 10, 20):
            rejected = stated = 0
            for seed in range(repeats):
                predictions, y = data(seed, n, d)
                result = calibration_test(predictions, y, n_resamples=N_RESAMPLES, rng=seed)
                if result.rejects():
                    found = diagnose(predictions, y, result=result, n_resamples=N_RESAMPLES, rng=seed)
                    rejected, stated = rejected + 1, stated + bool(found.statements)
            yield f"| {n} | {d} | {rejected / repeats:.1%} | {stated / repeats:.1%} |"


def one_wrong(repeats: int) -> Iterator[str]:
    yield "| wrong in one of 12 dimensions | rejected | named | named alone |"
    yield "|---|---|---|---|"
    wrong = np.arange(DIMENSIONS) == WRONG
    start = f"y_{WRONG + 1}: "
    for name, (spread, shift) in FLAWS.items():
        counts = np.zeros(3)
        for seed in range(repeats):
            predictions, y = data(seed, 500, DIMENSIONS, np.where(wrong, spread, 1.0), shift * wrong)
            found = diagnose(predictions, y, n_resamples=N_RESAMPLES, rng=seed)
            named = [sentence.startswith(start) for sentence in found.statements]
            counts += [found.result.rejects(), any(named), bool(named) and all(named)]
        yield " | ".join([f"| {name}", *(f"{share:.1%}" for share in counts / repeats), ""]).strip()


def coverage(repeats: int) -> Iterator[str]:
    yield "| noise | n | bias | spread | width of the latter, log scale |"
    yield "|---|---|---|---|---|"
    for name, (draw, mean, sd) in NOISE.items():
        for n in (50, 400):
            held, widths, rng, result = np.zeros(2), [], np.random.default_rng(0), None
            for _ in range(repeats):
                predictions, y = Gaussian(np.zeros(n), 1.0), -draw(rng, n)
                # Intervals that need not hold together do not depend on the test, of which the first is used for all.
                found = diagnose(predictions, y, covariates={}, result=result, simultaneous=False, rng=0)
                result, (off,), (ratio,) = found.result, found.bias, found.confidence_ratio
                held += [off.holds(mean), ratio.holds(sd)]
                widths.append(np.log(ratio.high / ratio.low))
            shares = held / repeats
            yield f"| {name} | {n} | {shares[0]:.1%} | {shares[1]:.1%} | {np.median(widths):.2f} |"


def told(lines: Iterator[str]) -> Iterator[str]:
    for line in lines:
        print(line, flush=True)
        yield line


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeats", type=int, default=1000, help="calibrated data sets a cell (1000)")
    parser.add_argument("--out", type=Path, default=Path(__file__).parent / "results" / "diagnosis.md")
    options = parser.parse_args()
    check_writable(options.out)
    some, many = max(options.repeats // 5, 1), 2 * options.repeats
    lines = [
        "# What `diagnose` states, and how its intervals cover",
        "",
        f"By `python benchmarks/diagnosis.py --repeats {options.repeats}`; seeds from 0.",
        "",
        f"Calibrated data, {options.repeats} data sets each: rejected by the test, and diagnosed with any statement.",
        "",
        *told(calibrated(options.repeats)),
        "",
        f"One of {DIMENSIONS} dimensions wrong, n = 500, {some} data sets each: rejected, named by a statement, and",
        "named alone, with no statement on anything else.",
        "",
        *told(one_wrong(some)),
        "",
        f"95 % intervals, each by itself, that hold the truth, {many} data sets each.",
        "",
        *told(coverage(many)),
    ]
    write_whole(options.out, "\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
