"""How often a right model is rejected, by how its predictions are made: python benchmarks/cross_validation.py.

Targets are linear in five inputs, with Gaussian noise of one spread; least squares estimates coefficients and spread.
"""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import numpy as np

from scorecal import Gaussian, calibration_test
from scorecal._lib.files import write_whole

Predicted = tuple[np.ndarray, np.ndarray, np.ndarray]  # means, spreads and targets (n,)
N_INPUTS = 5


def least_squares(x: np.ndarray, y: np.ndarray, new: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Predicted means and spreads, which know of the error of the coefficients."""
    inverse = np.linalg.pinv(x)
    spread = np.sqrt(np.sum((y - x @ (inverse @ y)) ** 2) / (len(y) - x.shape[1]))
    return new @ (inverse @ y), spread * np.sqrt(1.0 + np.sum((new @ inverse) ** 2, axis=1))


def folds(x: np.ndarray, y: np.ndarray, n_folds: int) -> Predicted:
    mean, sd = np.empty((2, len(y)))
    for k in range(n_folds):
        held = np.arange(len(y)) % n_folds == k
        mean[held], sd[held] = least_squares(x[~held], y[~held], x[held])
    return mean, sd, y


def with_one_spread(predicted: Predicted) -> Predicted:
    mean, sd, y = predicted
    return mean, np.full(len(y), sd.mean()), y


def apart(x: np.ndarray, y: np.ndarray, share: float) -> Predicted:
    """Fit to a share of the rows; the others are tested."""
    n = round(share * len(y))
    return *least_squares(x[:n], y[:n], x[n:]), y[n:]


def in_turn(x: np.ndarray, y: np.ndarray, n_first: int) -> Predicted:
    """Each row by a model fitted to all rows before it."""
    found = [least_squares(x[:t], y[:t], x[t : t + 1]) for t in range(n_first, len(y))]
    return *(np.concatenate(column) for column in zip(*found, strict=True)), y[n_first:]


WAYS: dict[str, tuple[Callable[[np.ndarray, np.ndarray], Predicted], int | None]] = {
    "fitted to a half, tested on the other": (lambda x, y: apart(x, y, 1 / 2), None),
    "fitted to two thirds, tested on a third": (lambda x, y: apart(x, y, 2 / 3), None),
    "fitted to nine tenths, tested on a tenth": (lambda x, y: apart(x, y, 9 / 10), None),
    "each row by all before it, `horizon=1`": (lambda x, y: in_turn(x, y, 40), 1),
    "two folds": (lambda x, y: folds(x, y, 2), None),
    "ten folds": (lambda x, y: folds(x, y, 10), None),
    "ten folds, with the mean of all spreads": (lambda x, y: with_one_spread(folds(x, y, 10)), None),
    "one row left out": (lambda x, y: folds(x, y, len(y)), None),
    "one row left out, with the mean of all spreads": (lambda x, y: with_one_spread(folds(x, y, len(y))), None),
}


def rate(way: str, n: int, repeats: int, seed: int) -> tuple[float, str]:
    """Share of data sets rejected at level .05, and the view that leads most often where they are."""
    predict, horizon = WAYS[way]
    leading: Counter[str] = Counter()
    for k in range(repeats):
        rng = np.random.default_rng([seed, n, k])
        x = np.column_stack([np.ones(n), rng.normal(size=(n, N_INPUTS))])
        mean, sd, y = predict(x, x @ rng.normal(size=N_INPUTS + 1) + rng.normal(size=n))
        result = calibration_test(Gaussian(mean[:, None], sd[:, None]), y[:, None], horizon=horizon, rng=k)
        if result.rejects():
            leading[min(result.views, key=lambda view: view.adjusted_pvalue).name] += 1
    most = leading.most_common(1)
    return leading.total() / repeats, f"{most[0][0]}, {most[0][1] / leading.total():.0%}" if most else "-"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repeats", type=int, default=200, help="data sets a cell (200)")
    parser.add_argument("--seed", type=int, default=0, help="of the random numbers (0)")
    parser.add_argument("--out", type=Path, default=Path(__file__).parent / "results" / "cross_validation.md")
    options = parser.parse_args()
    lines = [
        "# Right models, rejected because of how they were fitted",
        "",
        f"By `python benchmarks/cross_validation.py --repeats {options.repeats} --seed {options.seed}`. Targets are",
        "linear in five inputs with Gaussian noise, and so is the model; least squares estimates its coefficients and "
        "its",
        "spread. Share of data sets rejected by `calibration_test` at level .05, and the view that leads most often "
        "then:",
        "",
        "| predictions | n = 100 | led by | n = 300 | led by |",
        "|---|---|---|---|---|",
    ]
    for way in WAYS:
        cells = [cell for n in (100, 300) for cell in rate(way, n, options.repeats, options.seed)]
        lines.append("| " + " | ".join([way, *(f"{c:.1%}" if isinstance(c, float) else c for c in cells)]) + " |")
        print(lines[-1], flush=True)
    write_whole(options.out, "\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
