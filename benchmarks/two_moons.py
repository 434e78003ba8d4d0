"""`calibration_test` beside SBC on trained posteriors of two moons: python benchmarks/two_moons.py.

For each seed, sbi trains NPE and NLE three times: overfitted, on few simulations without early stopping; poor, on few
for few epochs; and good, on many with a small learning rate in the end. How far each is from the exact posterior is
measured without any of the tests (`exact_moons.py`): clearly good are those whose draws the best classifier takes for
exact ones nearly as often as not (an accuracy of at most 0.6), clearly bad those whose 90 % regions hold less than
75 % of exact draws. Each is judged on new pairs: by its scores, by draws from it as an ensemble, and by SBC.

Every finished one is a line of a CSV file beside the table, and a run that was stopped goes on from there; after a
change to scorecal itself, remove that file. A seed takes seven minutes of one core.
"""

import argparse
import csv
import logging
import warnings
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
import torch
from exact_moons import accuracy_and_coverage, drawn_by_importance
from sbi.diagnostics import run_sbc
from sbi.diagnostics.sbc import check_uniformity_frequentist
from sbi.inference import NLE, NPE
from sbi_cases import MOONS, NoTracker, pairs, prior_of

import scorecal as sc
from scorecal._lib.files import check_writable, write_whole

ALPHA = 0.05
CLEARLY_GOOD, CLEARLY_BAD = 0.6, 0.75  # largest accuracy, largest coverage
QUALITIES = ("clearly bad", "between", "clearly good")
N_PAIRS, N_DRAWS = 200, 100
N_MORE_PAIRS, N_MEASURED = 500, 100  # for SBC once more; for the distance from the exact posterior
METHODS = {"NPE": NPE, "NLE": NLE}
FIRST_ROUND = {
    "NPE": {"force_first_round_loss": True},
    "NLE": {},
}  # else NPE refuses to go on with the same simulations
TRAININGS: dict[str, tuple[int, list[dict[str, Any]]]] = {
    "overfitted": (
        200,
        [{"max_num_epochs": 200, "stop_after_epochs": 10**6, "training_batch_size": 50, "learning_rate": 3e-3}],
    ),
    "poor": (500, [{"max_num_epochs": 20, "training_batch_size": 50}]),
    "good": (
        20_000,
        [
            {"max_num_epochs": 30, "training_batch_size": 500, "learning_rate": 3e-3},
            {"max_num_epochs": 8, "training_batch_size": 500, "learning_rate": 3e-4},
        ],
    ),
}
TESTS = ("scores", "draws", "SBC", "scores_more", "SBC_more")
FIELDS = ("method", "training", "seed", *TESTS, "accuracy", "coverage", "message", "left_out")
SIMULATIONS, MEASURED = 10**6, 2 * 10**6  # seeds of simulations start here, those of pairs at 0


class Draws:
    """What sbi's diagnostics take for a posterior: draws that are there already."""

    def __init__(self, draws: torch.Tensor):
        self.draws = draws

    def sample_batched(self, sample_shape, x, show_progress_bars=False):
        return self.draws


def trained(method: str, training: str, seed: int) -> Any:
    n, stages = TRAININGS[training]
    theta, x = pairs(MOONS, SIMULATIONS + seed, n)
    trainer = METHODS[method](
        prior_of(MOONS), density_estimator="nsf", tracker=NoTracker(), show_progress_bars=False
    ).append_simulations(theta, x)
    for k, settings in enumerate(stages):
        trainer.train(show_train_summary=False, **settings, **(FIRST_ROUND[method] if k else {}))
    return trainer.build_posterior()


def drawn(posterior: Any, method: str, x: torch.Tensor, seed: int) -> torch.Tensor:
    """Draws (m, n, 2): of NPE from its network, those outside the box rejected; of NLE by importance."""
    if method == "NPE":
        return sc.from_sbi(posterior, x).sample(N_DRAWS, seed)
    torch.manual_seed(seed)
    return torch.stack([drawn_by_importance(posterior, row, N_DRAWS)[0] for row in x], dim=1)


def judged(method: str, training: str, seed: int) -> list[Any]:
    posterior = trained(method, training, seed)
    theta, x = pairs(MOONS, seed, N_MORE_PAIRS)
    draws = drawn(posterior, method, x, seed)
    sbc = []
    for n in (N_PAIRS, N_MORE_PAIRS):
        ranks, _ = run_sbc(theta[:n], x[:n], Draws(draws[:, :n]), N_DRAWS, show_progress_bar=False)
        sbc.append(min(1.0, theta.shape[1] * check_uniformity_frequentist(ranks, N_DRAWS).min().item()))
    more = sc.calibration_test(sc.from_sbi(posterior, x), theta, rng=seed)
    theta, x, draws = theta[:N_PAIRS], x[:N_PAIRS], draws[:, :N_PAIRS]
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        result = sc.calibration_test(sc.from_sbi(posterior, x), theta, rng=seed)
    left_out = sum("no spread can be fitted" in str(warning.message) for warning in caught)
    ensemble = sc.calibration_test(sc.from_samples(draws.transpose(0, 1)), theta, rng=seed)
    found = result.message.partition(": ")[2] or result.message
    pvalues = [f"{pvalue:.2g}" for pvalue in (result.pvalue, ensemble.pvalue, sbc[0], more.pvalue, sbc[1])]
    figures = accuracy_and_coverage(posterior, pairs(MOONS, MEASURED + seed, N_MEASURED)[1])
    return [method, training, seed, *pvalues, *(f"{figure:.3f}" for figure in figures), found, left_out]


def table(rows: list[dict[str, str]]) -> list[str]:
    lines = [
        f"| posterior | seed | accuracy | coverage | scores | draws | SBC | scores, n = {N_MORE_PAIRS} "
        f"| SBC, n = {N_MORE_PAIRS} | what the test of scores says |",
        "|---|---|---|---|---|---|---|---|---|---|",
    ]
    for row in rows:
        said = row["message"] if rejects(row, "scores") else ""
        found = " | ".join(row[name] for name in ("seed", "accuracy", "coverage", *TESTS))
        lines.append(f"| {row['method']}, {row['training']} | {found} | {said} |")
    return lines


def rejects(row: dict[str, str], test: str) -> bool:
    return float(row[test]) <= ALPHA


def quality(row: dict[str, str]) -> str:
    """How the posterior differs from the exact one, whatever its training was called."""
    bad, between, good = QUALITIES
    if float(row["accuracy"]) <= CLEARLY_GOOD:
        return good
    return bad if float(row["coverage"]) <= CLEARLY_BAD else between


def summary(rows: list[dict[str, str]], name: str, kind_of: Callable[[dict[str, str]], str]) -> list[str]:
    """Return rejections of each test by kind, and on how many posteriors that of scores says the same as SBC."""
    lines = [
        f"| {name} | posteriors | scores reject | draws reject | SBC rejects | scores, n = {N_MORE_PAIRS} "
        f"| SBC, n = {N_MORE_PAIRS} | scores agree with SBC | and n = {N_MORE_PAIRS} |",
        "|---|---|---|---|---|---|---|---|---|",
    ]
    for kind in dict.fromkeys(kind_of(row) for row in rows):
        of = [row for row in rows if kind_of(row) == kind]
        found = np.array([[rejects(row, test) for test in TESTS] for row in of])
        agree = np.sum(found[:, [0, 3]] == found[:, [2, 4]], axis=0)
        counts = " | ".join(map(str, (len(of), *found.sum(axis=0), *agree)))
        lines.append(f"| {kind} | {counts} |")
    return lines


def notes(options: argparse.Namespace, rows: list[dict[str, str]]) -> list[str]:
    left_out = sum(int(row["left_out"]) for row in rows)
    versions = ", ".join(f"{name} {version(name)}" for name in ("scorecal", "sbi", "torch"))
    trainings = [
        f"{name}: {n} simulations, {' and '.join(str(stage['max_num_epochs']) for stage in stages)} epochs"
        for name, (n, stages) in TRAININGS.items()
    ]
    return [
        "# Trained posteriors of two moons: `calibration_test` beside SBC",
        "",
        f"`python benchmarks/two_moons.py --seeds {options.seeds}`; {versions}.",
        f"P-values on {N_PAIRS} new pairs, rejected at {ALPHA:g}. Neural spline flows (`nsf`), trained for each seed.",
        f"{'; '.join(trainings)}. The overfitted ones never stop early; the good ones end with a tenth of the",
        "learning rate.",
        "",
        "- Scores: `calibration_test(from_sbi(posterior, x), theta)`, the test of this package on such posteriors.",
        f"- Draws: `calibration_test(from_samples(draws), theta)`, {N_DRAWS} draws for each simulation.",
        "- SBC: sbi's `run_sbc` of the same draws, KS with Bonferroni over both parameters.",
        f"- Scores and SBC once more on {N_MORE_PAIRS} pairs, which see smaller errors.",
        "",
        "Without any of the tests, each posterior is compared with the exact one, on other observations: accuracy of",
        "the best classifier of its draws and exact ones (C2ST; 0.5 is best), and coverage, the share of exact draws",
        f"in its regions of highest density of 90 %. Clearly good: accuracy of at most {CLEARLY_GOOD:g}. Clearly bad:",
        f"coverage of at most {CLEARLY_BAD:g}. Draws of NLE come by importance from sbi's potential, since MCMC with",
        "enough chains to find both moons takes minutes for each posterior.",
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
    order = list(TRAININGS)
    rows.sort(key=lambda row: (row["method"] == "NLE", order.index(row["training"]), int(row["seed"])))
    by_quality = sorted(rows, key=lambda row: (row["method"] == "NLE", QUALITIES.index(quality(row))))
    lines = [
        *notes(options, rows),
        *summary(by_quality, "compared with the exact one", lambda row: f"{row['method']}, {quality(row)}"),
        "",
        *summary(rows, "training", lambda row: f"{row['method']}, {row['training']}"),
        "",
        *table(rows),
    ]
    write_whole(options.out, "\n".join(lines) + "\n")
    print("\n".join(lines))


if __name__ == "__main__":
    main()
