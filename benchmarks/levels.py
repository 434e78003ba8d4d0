"""Level of `calibration_test` on calibrated predictions of many shapes, few rows included: python benchmarks/levels.py.

Each family is tested at four pairs of n and d. A cell that rejects more than 6.5 % of its data sets is run once more,
on 10,000 others. Results are kept in a SQLite file beside the table, and a run that was stopped goes on from there;
after a change to scorecal itself, remove that file. Draws number 99, with which rejection at level .05 is as exact as
with more, and which only costs some power. It takes one to two hours on two cores.
"""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from scipy.special import expit, log_ndtr

import scorecal as sc
from scorecal._lib.files import check_writable, write_whole
from scorecal.experiments import Cell, Model, Test, rejection_rates, sweep
from scorecal.experiments.sweep.dataset import draw_data_set

N_RESAMPLES, ENOUGH, HIGHEST, MORE, HIGHEST_OF_MORE = 99, 2000, 0.065, 10_000, 0.056
SKEW, APART = 6.0, 1.5  # of the skew-normal distribution; half the distance of two modes
WITHOUT_BOUND = 4  # so many times fewer data sets where there is no bound
Data = tuple[Any, np.ndarray]


def gaussian(n: int, dim: int, kind: str, rng: np.random.Generator) -> Data:
    """Gaussians with lognormal scales, or as their name says."""
    mean, scale = 2.0 * rng.normal(size=(n, dim)), np.exp(0.5 * rng.normal(size=(n, 1)))
    noise = rng.normal(size=(n, dim))
    if kind == "full covariances":
        root = scale[:, :, None] * (rng.normal(size=(n, dim, dim)) / np.sqrt(dim) + 0.3 * np.eye(dim))
        return sc.Gaussian(mean, covariance=root @ root.swapaxes(1, 2)), mean + np.einsum("nab,nb->na", root, noise)
    if kind == "Cauchy means":
        mean = rng.standard_cauchy((n, dim))
    elif kind == "all equal":
        mean, scale = np.zeros((n, dim)), np.ones((n, 1))
    elif kind == "three distinct":
        which = rng.integers(3, size=n)
        mean = np.array([-2.0, 0.0, 3.0])[which, None] + np.zeros((n, dim))
        scale = np.array([1.0, 0.5, 2.0])[which, None]
    return sc.Gaussian(mean, scale[:, 0]), mean + scale * noise


def mixture(n: int, dim: int, weight: float | None, rng: np.random.Generator) -> Data:
    """Two components up to 4 apart, the second of this weight, or of weights that vary by row."""
    first = 2.0 * rng.normal(size=(n, 1, dim))
    means = np.concatenate([first, first + rng.uniform(-4.0, 4.0, (n, 1, 1)) * np.eye(dim)[0]], axis=1)
    second = expit(2.0 * rng.normal(size=n)) if weight is None else np.full(n, weight)
    predictions = sc.GaussianMixture(
        np.stack([1.0 - second, second], axis=1), means, np.exp(0.3 * rng.normal(size=(n, 2)))
    )
    return predictions, predictions.sample(1, rng)[0]


SHAPES: dict[str, tuple[Callable[[Any], Any], Callable[[np.random.Generator, tuple[int, int]], np.ndarray]]] = {
    "t3": (lambda x: -4.0 * x / (3.0 + x**2), lambda rng, size: rng.standard_t(3, size)),
    "t5": (lambda x: -6.0 * x / (5.0 + x**2), lambda rng, size: rng.standard_t(5, size)),
    "Gumbel": (lambda x: np.expm1(-x), lambda rng, size: rng.gumbel(size=size)),
    "skew-normal(6)": (
        lambda x: -x + SKEW * np.exp(-0.5 * (SKEW * x) ** 2 - log_ndtr(SKEW * x)) / np.sqrt(2.0 * np.pi),
        lambda rng, size: (SKEW * np.abs(rng.normal(size=size)) + rng.normal(size=size)) / np.sqrt(1.0 + SKEW**2),
    ),
    "bimodal": (
        lambda x: APART * np.tanh(APART * x) - x,
        lambda rng, size: APART * rng.choice([-1.0, 1.0], size) + rng.normal(size=size),
    ),
}


def scores_only(n: int, dim: int, shape: str, rng: np.random.Generator) -> Data:
    """Independent dimensions of one shape, whose locations and scales vary by row, given by their scores."""
    score, draw = SHAPES[shape]
    location, scale = 2.0 * rng.normal(size=(n, dim)), np.exp(0.5 * rng.normal(size=(n, 1)))
    predictions = sc.ScoreFunction(lambda y: score((y - location) / scale) / scale, n, dim)
    return predictions, location + scale * draw(rng, (n, dim))


def arrays_of_scores(n: int, dim: int, shape: str, rng: np.random.Generator) -> Data:
    """As `scores_only`, but as arrays: at the targets, and at 20 base points a dimension, spread like the targets."""
    predictions, y = scores_only(n, dim, shape, rng)
    low, middle, high = np.quantile(y, [0.25, 0.5, 0.75], axis=0)
    base = middle + (high - low) / 1.35 * rng.normal(size=(20 * dim, dim))
    return sc.Scores(predictions.score(y), predictions.score(base[:, None, :]).swapaxes(0, 1), base), y


SCORES, MIXTURE = ((10, 1), (20, 8), (50, 2), (400, 1)), ((10, 1), (20, 8), (50, 2), (100, 1))
FEW = ((10, 2), (20, 1), (50, 2), (100, 1))
FAMILIES: dict[str, tuple[Callable[..., Data], tuple[tuple[int, int], ...]]] = {
    "Gaussian, lognormal scales": (partial(gaussian, kind="lognormal scales"), ((10, 1), (20, 8), (400, 1), (600, 2))),
    "Gaussian, full covariances": (partial(gaussian, kind="full covariances"), ((10, 2), (20, 8), (10, 30), (100, 2))),
    "Gaussian, Cauchy means": (partial(gaussian, kind="Cauchy means"), FEW),
    "Gaussian, three distinct": (partial(gaussian, kind="three distinct"), FEW),
    "Gaussian, all equal": (partial(gaussian, kind="all equal"), FEW),
    "mixture .5/.5": (partial(mixture, weight=0.5), MIXTURE),
    "mixture .9/.1": (partial(mixture, weight=0.1), MIXTURE),
    "mixture .98/.02": (partial(mixture, weight=0.02), ((10, 1), (20, 8), (100, 1), (400, 1))),
    "mixture, weights vary": (partial(mixture, weight=None), MIXTURE),
    **{f"scores only, {shape}": (partial(scores_only, shape=shape), SCORES) for shape in SHAPES},
}
BY_SIGNS: dict[str, tuple[Callable[..., Data], tuple[tuple[int, int], ...]]] = {
    **{name: made for name, made in FAMILIES.items() if name.startswith("scores only")},
    **{
        f"arrays of scores, {shape}": (partial(arrays_of_scores, shape=shape), ((40, 2), (100, 2), (200, 2), (1000, 2)))
        for shape in ("t5", "skew-normal(6)")
    },
}


def tested(predictions: Any, y: np.ndarray, rng: np.random.Generator, null: str) -> Any:
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", ".*scores that do not point back")  # heavy tails: some rows are left out
        return sc.calibration_test(predictions, y, null=null, n_resamples=N_RESAMPLES, rng=rng)


def cells_of(families: dict[str, Any], null: str) -> list[Cell]:
    test = Test(f"calibration_test, {null}", partial(tested, null=null))
    cells = []
    for name, (draw, sizes) in families.items():
        models = {d: Model(f"{name}, d = {d}", partial(draw, dim=d)) for _, d in sizes}
        cells += [Cell(models[d], n, test) for n, d in sizes]
    return cells


def again(cell: Cell) -> Cell:
    """Return the cell under another name, and hence with other data sets: these were not chosen for their high rate."""
    return replace(cell, model=replace(cell.model, name=f"{cell.model.name}, n = {cell.n}, again"))


def rates_of(cells: list[Cell], repeats: int, options: argparse.Namespace) -> list[tuple[int, int]]:
    """Return rejections and data sets of each cell."""
    settings = {"n_resamples": N_RESAMPLES, "seed": options.seed, "workers": options.workers, "what": "level"}
    found = rejection_rates(sweep(cells, repeats, options.out.with_suffix(".sqlite"), **settings))
    return [found[cell.model.name, cell.n, cell.test.name] for cell in cells]


def percent(counts: tuple[int, int] | None) -> str:
    if counts is None:
        return ""
    rate = counts[0] / counts[1]
    return f"{100 * rate:.1f} ± {100 * (rate * (1.0 - rate) / counts[1]) ** 0.5:.1f}"


def row_of(cell: Cell, first: tuple[int, int], more: tuple[int, int] | None, seed: int) -> str:
    data = draw_data_set(cell.model, cell.n, 0, seed)
    used = cell.test.function(data.predictions, data.y, rng=np.random.default_rng(0)).null
    name, d = cell.model.name.rsplit(", d = ", 1)
    return f"| {name} | {cell.n} | {d} | {used} | {percent(first)} | {percent(more)} |"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeats", type=int, default=2000, help="data sets a cell (2000)")
    parser.add_argument("--null", default="auto", choices=["auto", "signs", "simulate"])
    parser.add_argument("--families", nargs="*", default=[], choices=list(FAMILIES), help="all by default")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--workers", type=int, default=-1, help="processes; one for each core by default")
    parser.add_argument("--out", type=Path, default=Path(__file__).parent / "results" / "levels.md")
    options = parser.parse_args()
    check_writable(options.out)
    cells = cells_of({name: FAMILIES[name] for name in options.families} or FAMILIES, options.null)
    rates = rates_of(cells, options.repeats, options)
    # With fewer data sets, many cells are above by chance.
    high = [k for k, (found, n_sets) in enumerate(rates) if found > HIGHEST * n_sets and n_sets >= ENOUGH]
    more = dict(zip(high, rates_of([again(cells[k]) for k in high], MORE, options), strict=True)) if high else {}
    others = cells_of(BY_SIGNS, "signs") if options.null == "auto" and not options.families else []
    some = max(1, options.repeats // WITHOUT_BOUND)
    by_signs = rates_of(others, some, options) if others else []
    short = [f"- {cells[k].model.name}, n = {cells[k].n}" for k in high if more[k][0] > HIGHEST_OF_MORE * MORE]
    lines = [
        "# Level of `calibration_test`",
        "",
        f"`python benchmarks/levels.py --repeats {options.repeats} --null {options.null} --seed {options.seed}`:",
        "calibrated data sets rejected at level .05, in percent, with the binomial error;",
        f"B = {N_RESAMPLES}. With {ENOUGH} or more, cells above 6.5 % are run once more, on {MORE} other data sets,",
        "where 5.6 % is the bound.",
        "",
        *(["Above the bound:", *short, ""] if short else []),
        "| predictions | n | d | null | rejected | of 10,000 others |",
        "|---|---|---|---|---|---|",
        *(row_of(cell, rates[k], more.get(k), options.seed) for k, cell in enumerate(cells)),
    ]
    if others:
        lines += [
            "",
            f"Without a bound, {some} data sets a cell: random signs, which are all there is for `Scores` (arrays),",
            "where scores are skewed or heavy-tailed. Of fewer than 50 rows, p-values are raised (docs/which_null.md).",
            "",
            "| predictions | n | d | null | rejected |",
            "|---|---|---|---|---|",
            *(row_of(cell, counts, None, options.seed)[:-3] for cell, counts in zip(others, by_signs, strict=True)),
        ]
    write_whole(options.out, "\n".join(lines) + "\n")
    print("\n".join(lines))


if __name__ == "__main__":
    main()
