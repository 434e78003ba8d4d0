"""How much p-values of `calibration_test` vary over random draws, beside the error that results state.

    python benchmarks/pvalue_error.py

For each kind of predictions and n, the first calibrated data sets with p between .15 and .25 are tested again with
other seeds, and with other tables of draws where these do not depend on the seed. Writes results/pvalue_error.md in
about two minutes.
"""

from pathlib import Path

import numpy as np

import scorecal as sc
from scorecal._lib.files import write_whole

OUT = Path(__file__).parent / "results" / "pvalue_error.md"
DIM, SETS, SEEDS = 3, 3, 20


def made(kind: str, n: int, rng: np.random.Generator) -> tuple:
    """Calibrated predictions in three dimensions, and targets."""
    mean = rng.normal(size=(n, DIM))
    if kind == "Gaussian":
        return sc.Gaussian(mean, 1.0), mean + rng.normal(size=(n, DIM))
    predictions = sc.GaussianMixture(np.full((n, 2), 0.5), np.stack([mean - 0.5, mean + 0.5], 1), np.full((n, 2), 0.9))
    return predictions, predictions.sample(1, rng)[0]


def over_tables(predictions: sc.Gaussian, y: np.ndarray, n_draws: int) -> list[float]:
    """P-values from other tables of as many draws."""
    nulls = (sc.nulls.Simulate(seed) for seed in range(1, SEEDS + 1))
    return [sc.calibration_test(predictions, y, null=null, n_resamples=n_draws).pvalue for null in nulls]


def row_of(kind: str, n: int) -> str:
    rng, found = np.random.default_rng(n), []
    while len(found) < SETS:
        predictions, y = made(kind, n, rng)
        result = sc.calibration_test(predictions, y, rng=0)
        if 0.15 <= result.pvalue <= 0.25:
            found.append((predictions, y, result))
    by_seed, by_table, stated = [], [], []
    for predictions, y, result in found:
        same = (result, *(sc.calibration_test(predictions, y, rng=seed) for seed in range(1, SEEDS)))
        by_seed.append(np.std([each.pvalue for each in same], ddof=1))
        stated.append(np.mean([each.pvalue_error for each in same]))
        tables = kind == "Gaussian" and result.null == "simulate"
        by_table.append(np.std(over_tables(predictions, y, result.n_draws), ddof=1) if tables else np.nan)
    spread, other, error = (np.mean(np.square(each)) ** 0.5 for each in (by_seed, by_table, stated))
    shown = "" if np.isnan(other) else f"{other:.4f}"
    return f"| {kind} | {n} | {result.null} | {result.n_draws} | {spread:.4f} | {shown} | {error:.4f} |"


def main() -> None:
    lines = [
        "# How much p-values vary over draws",
        "",
        f"`python benchmarks/pvalue_error.py`: calibrated predictions, d = {DIM}, `calibration_test` as it is.",
        f"Root mean squares over {SETS} data sets with p between .15 and .25, {SEEDS} seeds each. Draws of Gaussian",
        "predictions that are simulated do not depend on `rng`; for these, other tables of as many draws stand beside.",
        "",
        "| predictions | n | null | draws | sd of p over `rng` | over tables | `pvalue_error` |",
        "|---|---|---|---|---|---|---|",
    ]
    for kind, sizes in (("Gaussian", (20, 100, 300, 600, 1000)), ("mixture of two", (20, 100, 400, 1000))):
        for n in sizes:
            lines.append(row_of(kind, n))
            print(lines[-1], flush=True)
    write_whole(OUT, "\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
