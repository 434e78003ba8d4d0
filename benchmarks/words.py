"""How often the first word of `calibration_test` is right, on the grid of the power study and on flaws that look alike.

    python benchmarks/words.py [--repeats 10] [--only TEXT]

Of each case, the data sets with p <= .01 are clear. Where two words are true, both are right, with the reason beside
them in the code. Writes results/words.md.
"""

import argparse
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

import scorecal as sc
from scorecal._lib.files import write_whole
from scorecal.experiments.power.grid import N_OURS, situations

RESULTS = Path(__file__).parent / "results" / "words.md"
CLEAR = 0.01
ALSO_TRUE = {  # of flaws of the grid, the word that is true beside theirs
    "hidden wide": "shape",  # a mixture of two spreads has heavier tails, and is wider
    "truncation": "shape",  # errors that never go far have light tails, and are narrower
    "outliers 2": "shape",  # errors twice as large in 2 % of the rows: hardly one stands out, and tails are heavier
    "outliers 3": "shape",
    "tails 5, d = 1": "outliers",  # of 200 draws of t5 one may lie at 8 sd, and the others be as normal ones
}


@dataclass(frozen=True)
class Case:
    """Data sets of one flaw, and the first words that are right."""

    name: str
    n: int
    right: tuple[str, ...]
    draw: Callable[[np.random.Generator], tuple[Any, np.ndarray]]
    null: str = "auto"


def ensembles(rng: np.random.Generator, n: int, d: int, members: int) -> tuple[Any, np.ndarray]:
    """Members of sd .85 in place of 1, whose centres are spread by 1."""
    means = 2.0 * rng.normal(size=(n, 1, d)) + rng.normal(size=(n, members, d))
    y = means[np.arange(n), rng.integers(members, size=n)] + rng.normal(size=(n, d))
    return sc.GaussianMixture(np.full((n, members), 1.0 / members), means, np.full((n, members), 0.85)), y


def correlated(rng: np.random.Generator, n: int, d: int, correlation: float, spread: float) -> tuple[Any, np.ndarray]:
    """Errors of the claimed correlation and `spread` times the claimed spread."""
    covariance = np.full((d, d), correlation) + (1.0 - correlation) * np.eye(d)
    mean = rng.normal(size=(n, d))
    errors = spread * rng.normal(size=(n, d)) @ np.linalg.cholesky(covariance).T
    return sc.Gaussian(mean, covariance=np.tile(covariance, (n, 1, 1))), mean + errors


def flipped(rng: np.random.Generator, n: int, d: int, correlation: float) -> tuple[Any, np.ndarray]:
    """Errors of the claimed correlation, but for the sign of the last dimension."""
    predictions, y = correlated(rng, n, d, correlation, 1.0)
    y[:, -1] = 2.0 * predictions.mean[:, -1] - y[:, -1]
    return predictions, y


def heavy(rng: np.random.Generator, n: int, d: int, degrees: int, together: bool) -> tuple[Any, np.ndarray]:
    """Errors of Student's t and unit variance, in each dimension or in all together."""
    mean = rng.normal(size=(n, d))
    chi = rng.chisquare(degrees, size=(n, 1 if together else d))
    return sc.Gaussian(mean, 1.0), mean + np.sqrt((degrees - 2.0) / chi) * rng.normal(size=(n, d))


def curved(rng: np.random.Generator, n: int, d: int, curve: Callable[[Any], Any]) -> tuple[Any, np.ndarray]:
    """A bias that is a smooth function of what is predicted, of mean zero."""
    mean = rng.uniform(-2.0, 2.0, size=(n, d))
    return sc.Gaussian(mean, 1.0), mean + curve(mean) + rng.normal(size=(n, d))


def sentinels(rng: np.random.Generator, n: int, d: int, count: int, kind: str) -> tuple[Any, np.ndarray]:
    """A value in the place of missing ones, beside targets that are right; of one dimension only, or of mixtures."""
    mean, sd = rng.normal(size=(n, d)), np.exp(0.3 * rng.normal(size=(n, d)))
    predictions: Any = sc.Gaussian(mean, sd)
    if kind == "mixture":
        means = np.stack([mean - 1.0, mean + 1.0], axis=1)
        predictions = sc.GaussianMixture(np.full((n, 2), 0.5), means, np.ones((n, 2)))
    y = predictions.sample(1, rng)[0]
    y[rng.choice(n, count, replace=False), : 1 if kind == "one dimension" else d] = -999.0
    return predictions, y


def wave(m: np.ndarray) -> np.ndarray:
    return np.asarray(0.5 * np.sin(2.0 * m))


def square(m: np.ndarray) -> np.ndarray:
    return np.asarray(0.3 * (m**2 - 4.0 / 3.0))


def of_the_grid() -> list[Case]:
    """Return the flaws of the grid, with 200 and 1000 rows."""
    found = []
    for row in situations():
        also = tuple(kind for flaw, kind in ALSO_TRUE.items() if row.model.name.startswith(flaw))
        found += [
            Case(row.model.name, n, (row.kind, *also), lambda rng, row=row, n=n: row.draw(n, rng=rng))
            for n in (200, 1000)
            if not row.calibrated
        ]
    return found


def look_alikes() -> list[Case]:
    """Return flaws that look like others, and values that stand for missing ones."""
    cases = []

    def add(name: str, n: int, right: str, draw: Callable[..., Any], null: str = "auto", **options: Any) -> None:
        cases.append(Case(name, n, (right,), partial(draw, n=n, **options), null))

    for d in (1, 3):
        for members in (5, 10, 20):
            for n in (200, 1000):
                add(f"ensemble of {members}, sd x .85, d = {d}", n, "over-confidence", ensembles, d=d, members=members)
        for degrees in (3, 5):
            name = f"t{degrees} of unit variance, d = {d}"
            add(name, 1000, "shape", heavy, d=d, degrees=degrees, together=True)
            if d > 1:
                add(f"{name}, each", 1000, "shape", heavy, d=d, degrees=degrees, together=False)
        for name, curve in (("wave", wave), ("square", square)):
            for n in (200, 1000):
                add(f"bias a {name} of the mean, d = {d}", n, "dependence", curved, d=d, curve=curve)
    for d in (2, 3):
        for rho in (0.95, 0.99):
            for spread, kind in ((1.1, "over-confidence"), (1.0 / 1.1, "under-confidence")):
                for n in (200, 1000):
                    name = f"correlation {rho}, errors x {spread:.2g}, d = {d}"
                    add(name, n, kind, correlated, d=d, correlation=rho, spread=spread)
        for rho in (0.5, 0.9, 0.99):
            add(f"correlation {rho} flipped, d = {d}", 200, "correlation", flipped, d=d, correlation=rho)
    for count in (1, 3, 5):
        for d, n, kind, null in (
            (1, 1000, "all dimensions", "auto"),
            (3, 1000, "all dimensions", "auto"),
            (3, 1000, "one dimension", "auto"),
            (1, 1000, "all dimensions", "signs"),
            (3, 4000, "all dimensions", "auto"),  # of so many rows, pairs are judged by signs
            (1, 1000, "mixture", "auto"),
            (3, 1000, "mixture", "auto"),
        ):
            name = f"{count} of -999, {kind}, null {null}, d = {d}"
            add(name, n, "outliers", sentinels, null, d=d, count=count, kind=kind)
    return cases


def row_of(case: Case, repeats: int) -> tuple[str, bool]:
    """Return the row of the table, and whether nine of ten clear cases have the right word."""
    firsts: Counter[str] = Counter()
    rejected = 0
    for seed in range(repeats):
        predictions, y = case.draw(np.random.default_rng([seed, case.n]))
        result = sc.calibration_test(predictions, y, n_resamples=N_OURS, null=case.null, rng=seed)
        rejected += result.pvalue <= 0.05
        firsts[result.seen[0] if result.pvalue <= CLEAR else ""] += 1
    n_clear = repeats - firsts.pop("", 0)
    n_right = sum(firsts.pop(kind, 0) for kind in case.right)
    share = f"{n_right / n_clear:.2f}" if n_clear else ""
    others = ", ".join(f"{kind} {count}" for kind, count in firsts.most_common())
    right = " or ".join(case.right)
    row = f"| {case.name} | {case.n} | {right} | {rejected} | {n_clear} | {n_right} | {share} | {others} |"
    return row, n_right >= 0.9 * n_clear


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeats", type=int, default=10, help="data sets a case (10)")
    parser.add_argument("--only", default="", help="cases whose name has this text; writes nothing")
    given = parser.parse_args()
    lines = [
        "# Words",
        "",
        f"`python benchmarks/words.py --repeats {given.repeats}`: of {given.repeats} data sets a case, how many are",
        "rejected at the 5 % level, how many are clear (p <= .01), and in how many of these the first word is right.",
        "",
        "| case | n | right | rejected | clear | right first | share | other first words |",
        "|---|---|---|---|---|---|---|---|",
    ]
    n_cases = n_good = 0
    for case in of_the_grid() + look_alikes():
        if given.only not in case.name:
            continue
        line, good = row_of(case, given.repeats)
        n_cases, n_good = n_cases + 1, n_good + good
        lines.append(line)
        print(line if good else f"{line} <-- ", flush=True)
    lines += ["", f"{n_good} of {n_cases} cases are right in at least nine of ten clear data sets."]
    print(lines[-1])
    if not given.only:
        write_whole(RESULTS, "\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
