"""`calibration_test` beside SBC on trained posteriors of two moons: python benchmarks/two_moons.py.

For each seed, sbi trains NPE and NLE twice: on few simulations for few epochs, and on many. Each posterior is judged on
new pairs: by its scores, by draws from it as an ensemble, and by SBC of the same draws. Every finished one is a line of
a CSV file beside the table, and a run that was stopped goes on from there; after a change to scorecal itself, remove
that file. A seed takes a minute of one core.
"""

import argparse
import csv
import logging
import warnings
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
import torch
from sbi.diagnostics import run_sbc
from sbi.diagnostics.sbc import check_uniformity_frequentist
from sbi.inference import NLE, NPE
from sbi_cases import MOONS, NoTracker, pairs, prior_of

import scorecal as sc
from scorecal._lib.files import check_writable, write_whole

ALPHA = 0.05
N_PAIRS, N_DRAWS = 200, 100
N_CELLS, N_PROPOSALS = 48, 3000  # of the draws of NLE: along each side of a grid, and from its cells
METHODS = {"NPE": NPE, "NLE": NLE}
TRAININGS: dict[str, tuple[int, dict[str, Any]]] = {
    "poor": (500, {"max_num_epochs": 20, "training_batch_size": 50}),
    "good": (10_000, {"max_num_epochs": 50, "training_batch_size": 500, "learning_rate": 1e-3}),
}
TESTS = ("scores", "draws", "SBC")
FIELDS = ("method", "training", "seed", *TESTS, "message", "left_out")
SIMULATIONS = 10**6  # seeds of simulations start here, those of pairs at 0


class Draws:
    """What sbi's diagnostics take for a posterior: draws that are there already."""

    def __init__(self, draws: torch.Tensor):
        self.draws = draws

    def sample_batched(self, sample_shape, x, show_progress_bars=False):
        return self.draws


def trained(method: str, training: str, seed: int) -> Any:
    n, settings = TRAININGS[training]
    theta, x = pairs(MOONS, SIMULATIONS + seed, n)
    trainer = METHODS[method](
        prior_of(MOONS), density_estimator="nsf", tracker=NoTracker(), show_progress_bars=False
    ).append_simulations(theta, x)
    trainer.train(show_train_summary=False, **settings)
    return trainer.build_posterior()


def drawn(posterior: Any, method: str, x: torch.Tensor, seed: int) -> torch.Tensor:
    """Draws (m, n, 2): of NPE from its network, those outside the box rejected; of NLE by importance."""
    if method == "NPE":
        return sc.from_sbi(posterior, x).sample(N_DRAWS, seed)
    torch.manual_seed(seed)
    return torch.stack([drawn_by_importance(posterior, row) for row in x], dim=1)


def drawn_by_importance(posterior: Any, x: torch.Tensor) -> torch.Tensor:
    """Proposals from the cells of a grid where sbi's potential is high, or is so in a cell beside; some of them."""
    side = torch.arange(N_CELLS)
    corners = torch.cartesian_prod(side, side)

    def in_cells(which: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        points = 2.0 * (corners[which] + torch.rand(len(which), 2)) / N_CELLS - 1.0
        with torch.no_grad():
            return points, posterior.potential(points, x=x)

    found = torch.softmax(in_cells(torch.arange(len(corners)))[1], 0).reshape(1, N_CELLS, N_CELLS)
    near = torch.nn.functional.max_pool2d(found, 3, stride=1, padding=1).flatten() + 0.1 / len(corners)
    which = torch.multinomial(near, N_PROPOSALS, replacement=True)
    points, potential = in_cells(which)
    weights = torch.softmax(potential - near[which].log(), 0)
    return points[torch.multinomial(weights, N_DRAWS, replacement=True)]


def judged(method: str, training: str, seed: int) -> list[Any]:
    posterior = trained(method, training, seed)
    theta, x = pairs(MOONS, seed, N_PAIRS)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        result = sc.calibration_test(sc.from_sbi(posterior, x), theta, rng=seed)
    left_out = sum("no spread can be fitted" in str(warning.message) for warning in caught)
    draws = drawn(posterior, method, x, seed)
    ranks, _ = run_sbc(theta, x, Draws(draws), N_DRAWS, show_progress_bar=False)
    sbc = min(1.0, theta.shape[1] * check_uniformity_frequentist(ranks, N_DRAWS).min().item())
    ensemble = sc.calibration_test(sc.from_samples(draws.transpose(0, 1)), theta, rng=seed)
    found = result.message.partition(": ")[2] or result.message
    pvalues = (f"{pvalue:.2g}" for pvalue in (result.pvalue, ensemble.pvalue, sbc))
    return [method, training, seed, *pvalues, found, left_out]


def table(rows: list[dict[str, str]]) -> list[str]:
    lines = ["| posterior | seed | scores | draws | SBC | what the test of scores says |", "|---|---|---|---|---|---|"]
    for row in rows:
        said = row["message"] if float(row["scores"]) <= ALPHA else ""
        pvalues = " | ".join(row[test] for test in TESTS)
        lines.append(f"| {row['method']}, {row['training']} | {row['seed']} | {pvalues} | {said} |")
    return lines


def summary(rows: list[dict[str, str]]) -> list[str]:
    """Return rejections of each test, and on how many posteriors that of scores and SBC say the same."""
    lines = [
        "| posterior | trained | scores reject | draws reject | SBC rejects | scores and SBC agree |",
        "|---|---|---|---|---|---|",
    ]
    for method in METHODS:
        for training in TRAININGS:
            of = [row for row in rows if (row["method"], row["training"]) == (method, training)]
            rejects = np.array([[float(row[test]) <= ALPHA for test in TESTS] for row in of]).reshape(-1, len(TESTS))
            counts = " | ".join(map(str, rejects.sum(axis=0)))
            agree = np.sum(rejects[:, 0] == rejects[:, 2])
            lines.append(f"| {method}, {training} | {len(of)} | {counts} | {agree} |")
    return lines


def notes(options: argparse.Namespace, rows: list[dict[str, str]]) -> list[str]:
    sizes = {name: (n, settings["max_num_epochs"]) for name, (n, settings) in TRAININGS.items()}
    left_out = sum(int(row["left_out"]) for row in rows)
    versions = ", ".join(f"{name} {version(name)}" for name in ("scorecal", "sbi", "torch"))
    return [
        "# Trained posteriors of two moons: `calibration_test` beside SBC",
        "",
        f"`python benchmarks/two_moons.py --seeds {options.seeds}`; {versions}.",
        f"P-values on {N_PAIRS} new pairs, rejected at {ALPHA:g}. Neural spline flows (`nsf`), trained for each seed.",
        "Poor: {} simulations and {} epochs.".format(*sizes["poor"]),
        "Good: {} simulations and at most {} epochs; more would be better still.".format(*sizes["good"]),
        "",
        "- Scores: `calibration_test(from_sbi(posterior, x), theta)`, the test of this package on such posteriors.",
        f"- Draws: `calibration_test(from_samples(draws), theta)`, {N_DRAWS} draws for each simulation.",
        "- SBC: sbi's `run_sbc` of the same draws, KS with Bonferroni over both parameters.",
        "",
        "Draws of NLE come by importance from sbi's potential, since MCMC with enough chains to find both moons takes",
        "minutes for each posterior.",
        "",
        f"Posteriors with rows without a spread, which are left out: {left_out} of {len(rows)}. Errors: none.",
        "",
    ]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=10, help="posteriors of each kind (10)")
    parser.add_argument("--out", type=Path, default=Path(__file__).parent / "results" / "two_moons.md")
    options = parser.parse_args()
    check_writable(options.out)
    torch.set_num_threads(1)
    warnings.simplefilter("ignore")
    logging.disable(logging.WARNING)
    kept = options.out.with_suffix(".csv")
    if not kept.exists():
        write_whole(kept, ",".join(FIELDS) + "\n")
    with kept.open(newline="") as file:
        there = {(row["method"], row["training"], row["seed"]) for row in csv.DictReader(file)}
    for seed in range(options.seeds):
        for method in METHODS:
            for training in TRAININGS:
                if (method, training, str(seed)) not in there:
                    row = judged(method, training, seed)
                    with kept.open("a", newline="") as file:
                        csv.writer(file, lineterminator="\n").writerow(row)
                    print(*row, flush=True)
    with kept.open(newline="") as file:
        rows = [row for row in csv.DictReader(file) if int(row["seed"]) < options.seeds]
    rows.sort(key=lambda row: (list(METHODS).index(row["method"]), row["training"] == "good", int(row["seed"])))
    lines = [*notes(options, rows), *summary(rows), "", *table(rows)]
    write_whole(options.out, "\n".join(lines) + "\n")
    print("\n".join(lines))


if __name__ == "__main__":
    main()
