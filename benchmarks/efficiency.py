"""How many rows an ideal test needs, for each of ours: shift and spread in one dimension, and common ones in four.

    python benchmarks/efficiency.py [--repeats 1000]

The ideal test knows the flaw but for its sign, and its null distribution: two-sided, normal for the mean of all errors,
chi-square for the sum of their squares. Its power at any n is known, and the efficiency is the n at which it has the
power that `calibration_test` has at n = 200, over 200. Writes results/efficiency.md.
"""

import argparse
from collections.abc import Callable
from pathlib import Path

import numpy as np
from scipy.optimize import brentq
from scipy.stats import chi2, norm

import scorecal as sc
from scorecal._lib.files import write_whole

RESULTS = Path(__file__).parent / "results" / "efficiency.md"
N, ALPHA = 200, 0.05


def power_for_shift(n: float, d: int, shift: float) -> float:
    """Power of the two-sided test of the mean of n d errors."""
    edge, mean = norm.isf(0.5 * ALPHA), shift * np.sqrt(n * d)
    return float(norm.sf(edge - mean) + norm.cdf(-edge - mean))


def power_for_spread(n: float, d: int, ratio: float) -> float:
    """Power of the two-sided test of the sum of n d squares, of errors `ratio` times as large as claimed."""
    low, high = chi2.ppf([0.5 * ALPHA, 1.0 - 0.5 * ALPHA], n * d) / ratio**2
    return float(chi2.cdf(low, n * d) + chi2.sf(high, n * d))


def cases() -> list[tuple[str, int, float, float, Callable[[float], float]]]:
    """Return names, dimensions, shifts and ratios, and the power of the ideal test as a function of n."""
    found = []
    for d in (1, 4):
        shift = 0.19 / np.sqrt(d)
        found.append((f"shift {shift:.3g}", d, shift, 1.0, lambda n, d=d, shift=shift: power_for_shift(n, d, shift)))
        for ratio in (1.0 + 0.145 / np.sqrt(d), 1.0 - 0.125 / np.sqrt(d)):
            name = f"errors {ratio:.3g} times as large as claimed"
            found.append((name, d, 0.0, ratio, lambda n, d=d, ratio=ratio: power_for_spread(n, d, ratio)))
    return found


def power_of_ours(d: int, shift: float, ratio: float, repeats: int) -> float:
    rejected = 0
    for seed in range(repeats):
        rng = np.random.default_rng([seed, d])
        mean = rng.normal(size=(N, d))
        y = mean + shift + ratio * rng.normal(size=(N, d))
        rejected += sc.calibration_test(sc.Gaussian(mean, 1.0), y, n_resamples=199, rng=seed).rejects()
    return rejected / repeats


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeats", type=int, default=1000, help="data sets a case (1000)")
    repeats = parser.parse_args().repeats
    lines = [
        "# Efficiency",
        "",
        f"`python benchmarks/efficiency.py --repeats {repeats}`: power at level .05 and n = {N}, for Gaussian",
        "predictions, seeds from 0; and the share of rows with which the ideal two-sided test for this flaw alone has",
        "the same power, with its standard error.",
        "",
        "| flaw | d | `calibration_test` | ideal test | efficiency |",
        "|---|---|---|---|---|",
    ]
    for name, d, shift, ratio, ideal in cases():
        ours = power_of_ours(d, shift, ratio, repeats)
        error = np.sqrt(ours * (1.0 - ours) / repeats)
        share, low, high = (
            brentq(lambda n, goal=goal, ideal=ideal: ideal(n) - goal, 1.0, 4.0 * N) / N
            for goal in (ours, ours - error, ours + error)
        )
        lines.append(f"| {name} | {d} | {ours:.3f} | {ideal(N):.3f} | {share:.2f} ({0.5 * (high - low):.2f}) |")
        print(lines[-1], flush=True)
    write_whole(RESULTS, "\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
