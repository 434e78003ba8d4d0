"""How often the words of `calibration_test` are right, on the grid of the power study and on flaws that look alike.

    python benchmarks/words.py [--repeats 10] [--workers 2] [--only TEXT]

Of each case, the data sets with p <= .01 are clear. The first word must be right, and words beside it must be true.
Where several are, the reason is beside them in the code. Writes results/words.md.
"""

import argparse
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import scipy.stats

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
TRUE_BESIDE = {  # of all cases, words that are true but are not the first thing to say
    "outliers": ("shape",),  # 2 % of larger errors are heavy tails
    "scale by x": ("over-confidence",),  # the mean of the squares of .8 and 1 / .8 is above 1
    "spread wave": ("over-confidence",),  # likewise
    "modes, weight": ("bias",),  # the mean of the whole prediction is wrong as well
    "tails": ("outliers",),
    "t3": ("outliers",),  # of 1000 draws of t3 some lie farther off than any normal ones
    "t5": ("outliers",),
}


@dataclass(frozen=True)
class Case:
    """Data sets of one flaw, and the first words that are right."""

    name: str
    n: int
    right: tuple[str, ...]
    draw: Callable[[np.random.Generator], tuple[Any, np.ndarray]]
    null: str = "auto"

    @property
    def true(self) -> set[str]:
        """Words that are true, first or not."""
        beside = [kinds for name, kinds in TRUE_BESIDE.items() if self.name.startswith(name)]
        return {*self.right, *(kind for kinds in beside for kind in kinds)}


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


def wrong_in_part(
    rng: np.random.Generator,
    n: int,
    d: int,
    bias: Any = 0.0,
    spread: Any = 1.0,
    gain: float = 0.0,
    claimed: float = 0.5,
) -> tuple[Any, np.ndarray]:
    """Errors of correlation .5 in all dimensions, with a bias and spreads in units of what is claimed."""
    matrix = np.full((d, d), claimed) + (1.0 - claimed) * np.eye(d)
    mean = rng.normal(size=(n, d))
    errors = rng.normal(size=(n, d)) @ np.linalg.cholesky(np.full((d, d), 0.5) + 0.5 * np.eye(d)).T
    predictions = sc.Gaussian(mean, covariance=np.tile(matrix, (n, 1, 1)))
    return predictions, mean + bias + gain * mean + spread * errors


def first_of(d: int, value: float, others: float) -> np.ndarray:
    """Return `value` for the first dimension and `others` for the rest."""
    return np.where(np.arange(d) == 0, value, others)


def students(rng: np.random.Generator, n: int, spread: float, shift: float) -> tuple[Any, np.ndarray]:
    """Predictions of Student's t with five degrees of freedom."""
    mean = rng.normal(size=n)
    return sc.from_scipy(scipy.stats.t(5, loc=mean)), mean + shift + spread * rng.standard_t(5, size=n)


def scores_alone(rng: np.random.Generator, n: int, d: int, **flaw: Any) -> tuple[Any, np.ndarray]:
    """Gaussian predictions of which nothing is given but scores at the targets and at base points."""
    predictions, y = wrong_in_part(rng, n, d, **flaw)
    base = 2.0 * np.random.default_rng(0).normal(size=(30, d))
    at_base = np.moveaxis(predictions.score(np.tile(base[:, None, :], (1, n, 1))), 0, 1)
    return sc.Scores(predictions.score(y), at_base, base), y


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
    for d in (3, 8):
        for n in (300, 1000):
            for draw, of in ((wrong_in_part, ""), (scores_alone, ", scores alone")):
                for size, kind in ((1.6, "over-confidence"), (1.0 / 1.6, "under-confidence")):
                    spread = first_of(d, size, 1.0)
                    add(f"one of the spreads x {size:.3g}{of}, d = {d}", n, kind, draw, d=d, spread=spread)
                add(f"one of the means off .5{of}, d = {d}", n, "bias", draw, d=d, bias=first_of(d, 0.5, 0.0))
            for size, kind in ((1.25, "over-confidence"), (0.8, "under-confidence")):
                add(f"all spreads x {size}, d = {d}", n, kind, wrong_in_part, d=d, spread=size)
            for claimed in (0.0, 0.8):
                name = f"correlation .5 claimed as {claimed}, d = {d}"
                add(name, n, "correlation", wrong_in_part, d=d, claimed=claimed)
            add(f"a bias of .4 times the mean, d = {d}", n, "dependence", wrong_in_part, d=d, gain=0.4)
    for d in (1, 3):
        for n in (200, 1000):
            for bias, ratio in ((0.5, 0.7), (1.0, 1.4), (3.0, 0.3)):
                name = f"means off {bias}, errors x {ratio}, d = {d}"
                draw = partial(wrong_in_part, n=n, d=d, bias=bias, spread=ratio, claimed=0.5)
                both = ("bias", "over-confidence" if ratio > 1 else "under-confidence")
                cases.append(Case(name, n, both, draw))
    for n in (300, 1000):
        draw = partial(wrong_in_part, n=n, d=3, spread=np.array([1.4, 0.7, 1.0]))
        cases.append(Case("spreads x 1.4 and x .7, d = 3", n, ("over-confidence", "under-confidence"), draw))
    for n in (300, 1000):
        add("Student's t, spread x 1.4", n, "over-confidence", students, spread=1.4, shift=0.0)
        add("Student's t, spread x .7", n, "under-confidence", students, spread=0.7, shift=0.0)
        add("Student's t, shifted by .5", n, "bias", students, spread=1.0, shift=0.5)
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


def row_of(case: Case, repeats: int) -> tuple[str, bool, bool]:
    """Return the row of the table, and whether nine of ten clear cases have the right word, and none that is false."""
    firsts: Counter[str] = Counter()
    beside: Counter[str] = Counter()
    rejected = n_clear = n_false = 0
    for seed in range(repeats):
        predictions, y = case.draw(np.random.default_rng([seed, case.n]))
        result = sc.calibration_test(predictions, y, n_resamples=N_OURS, null=case.null, rng=seed)
        rejected += result.pvalue <= 0.05
        if result.pvalue <= CLEAR:
            n_clear += 1
            firsts[result.seen[0]] += 1
            false = [kind for kind in result.seen[1:] if kind not in case.true]
            beside.update(false)
            n_false += bool(false)
    n_right = sum(firsts.pop(kind, 0) for kind in case.right)
    shares = [f"{count / n_clear:.2f}" if n_clear else "" for count in (n_right, n_false)]
    others, also = (", ".join(f"{kind} {count}" for kind, count in each.most_common()) for each in (firsts, beside))
    right = " or ".join(case.right)
    counts = f"{rejected} | {n_clear} | {n_right} | {shares[0]} | {others} | {shares[1]} | {also}"
    return f"| {case.name} | {case.n} | {right} | {counts} |", n_right >= 0.9 * n_clear, n_false <= 0.1 * n_clear


def row_at(repeats: int, number: int) -> tuple[str, bool, bool]:
    return row_of((of_the_grid() + look_alikes())[number], repeats)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeats", type=int, default=10, help="data sets a case (10)")
    parser.add_argument("--only", default="", help="cases whose name has this text; writes nothing")
    parser.add_argument("--workers", type=int, default=2, help="processes (2)")
    given = parser.parse_args()
    lines = [
        "# Words",
        "",
        f"`python benchmarks/words.py --repeats {given.repeats}`: of {given.repeats} data sets a case, how many are",
        "rejected at the 5 % level, how many are clear (p <= .01), in how many of these the first word is right, and",
        "in how many of these a word beside the first is false.",
        "",
        "| case | n | right | rejected | clear | right first | share | other first words | false beside | which |",
        "|---|---|---|---|---|---|---|---|---|---|",
    ]
    n_cases = n_right = n_true = 0
    chosen = [k for k, case in enumerate(of_the_grid() + look_alikes()) if given.only in case.name]
    with ProcessPoolExecutor(given.workers) as pool:
        for line, right, true in pool.map(partial(row_at, given.repeats), chosen):
            n_cases, n_right, n_true = n_cases + 1, n_right + right, n_true + true
            lines.append(line)
            print(line if right and true else f"{line} <-- ", flush=True)
    lines += [
        "",
        f"{n_right} of {n_cases} cases are right in at least nine of ten clear data sets, and {n_true} have a false",
        "word beside the first in at most one of ten.",
    ]
    print(*lines[-2:])
    if not given.only:
        write_whole(RESULTS, "\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
