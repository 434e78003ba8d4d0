"""Level, power, cost and the place of a flaw in high dimension: python benchmarks/high_dimension.py [--repeats 1000].

Results are kept in a SQLite file beside the table, and a run that was stopped goes on from there; after a change to
scorecal itself, remove that file. Parts of the table can be made one by one. With 1000 repeats it takes about an hour
on two cores.
"""

from __future__ import annotations

import argparse
import time
import tracemalloc
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

import scorecal as sc
from scorecal._lib.files import check_writable, write_whole
from scorecal.experiments import Cell, Model, Test, rejection_rates, sweep

N_RESAMPLES = 199
# Data sets of 1000 repeats by dimension, for each kind of predictions, where these are calibrated and where not.
LEVEL = {300: (1000, 250, 250), 784: (40, 40, 12), 3072: (2, 1, 1)}
POWER = {300: (10, 2, 2), 784: (2, 2, 2), 3072: (1, 1, 1)}
SIDE, CORNER, PATCH = 28, 7, 6  # of an image, its wrong patch, and the width of this
DIMENSIONS, N_OF_COST, TIMES = (150, 300, 600, 1200), 400, 3
Data = tuple[Any, np.ndarray]


def data(n: int, dim: int, kind: str, flaw: str, size: float, rng: np.random.Generator) -> Data:
    """Predictions of one kind with lognormal spreads, and targets with a flaw of this size, 0 for none."""
    mean = rng.normal(size=(n, dim))
    scale = np.exp(0.3 * rng.normal(size=(n, 1 if kind == "isotropic" else dim))) + np.zeros((n, dim))
    noise = rng.normal(size=(n, dim))
    if flaw == "sd":
        noise /= 1.0 + size
    elif flaw == "common bias":
        noise += size
    elif flaw == "factor":
        noise += size * rng.normal(size=(n, 1))
    elif flaw == "neighbours":
        noise[:, 1:] = (1.0 - size**2) ** 0.5 * noise[:, 1:] + size * noise[:, :-1]
    elif flaw == "patch, bias":
        noise[:, patch(dim)] += size
    elif flaw == "patch, spread":
        noise[:, patch(dim)] *= 1.0 + size
    y = mean + scale * noise
    if kind == "scores only":
        return sc.ScoreFunction(lambda y: (mean - y) / scale**2, n, dim), y
    return sc.Gaussian(mean, scale[:, 0] if kind == "isotropic" else scale), y


def patch(dim: int) -> np.ndarray:
    """Return which dimensions are the patch, (dim,), of an image whose channels, if several, follow each other."""
    side = int(dim**0.5)
    inside = (np.arange(side) >= CORNER) & (np.arange(side) < CORNER + PATCH)
    image = (inside[:, None] & inside).ravel()
    return np.concatenate([image, np.zeros(dim - side**2, dtype=bool)])


KINDS = ("isotropic", "diagonal", "scores only")
FLAWS = {
    "none": ("none", 0.0),
    "sd x .97": ("sd", 1.0 / 0.97 - 1.0),
    "sd x .99": ("sd", 1.0 / 0.99 - 1.0),
    "common bias .01 sd": ("common bias", 0.01),
    "one factor, correlation .01": ("factor", 0.1),
    "neighbours, correlation .05": ("neighbours", 0.05),
    "6 x 6 of the dimensions, bias .5 sd": ("patch, bias", 0.5),
    "6 x 6 of the dimensions, spread x 1.3": ("patch, spread", 0.3),
}


def tested(predictions: Any, y: np.ndarray, rng: np.random.Generator) -> Any:
    return sc.calibration_test(predictions, y, n_resamples=N_RESAMPLES, rng=rng)


def rate_of(kind: str, dim: int, name: str, repeats: float, options: argparse.Namespace) -> str:
    """Return how many data sets are rejected, of how many."""
    flaw, size = FLAWS[name]
    model = Model(f"{kind}; {dim}; {name}", partial(data, dim=dim, kind=kind, flaw=flaw, size=size))
    cell = Cell(model, rows_for(dim), Test("calibration_test", tested))
    settings = {"n_resamples": N_RESAMPLES, "seed": options.seed, "workers": options.workers, "what": model.name}
    found = rejection_rates(sweep([cell], max(1, round(repeats)), options.out.with_suffix(".sqlite"), **settings))
    rejected, n_sets = found[cell.model.name, cell.n, cell.test.name]
    return f"{rejected} of {n_sets}"


def rows_for(dim: int) -> int:
    return 200 if dim == 300 else 500


def rows_of_rates(flaws: Sequence[str], numbers: dict[int, tuple[int, ...]], options: argparse.Namespace) -> list[str]:
    lines = [
        f"Data sets rejected at level .05, of how many; B = {N_RESAMPLES}. Locations are standard normal, spreads",
        "lognormal, alike in all dimensions of a row (isotropic) or not; scores are those of the diagonal ones.",
        "",
        "| flaw | d | n | " + " | ".join(KINDS) + " |",
        "|---|---|---|" + "---|" * len(KINDS),
    ]
    for name in flaws:
        for dim, several in numbers.items():
            of_kinds = zip(KINDS, several, strict=True)
            rates = [rate_of(kind, dim, name, options.repeats * some / 1000, options) for kind, some in of_kinds]
            lines.append(f"| {name} | {dim} | {rows_for(dim)} | " + " | ".join(rates) + " |")
    return lines


def located(kind: str, flaw: str, size: float, seed: int) -> tuple[int, int]:
    """Return how many dimensions of the patch, and how many others, `diagnose` finds wrong."""
    predictions, y = data(500, SIDE**2, kind, flaw, size, np.random.default_rng(seed))
    found = sc.diagnose(predictions, y, n_resamples=N_RESAMPLES, rng=seed)
    wrong = np.zeros(SIDE**2, dtype=bool)
    if found.result.rejects():
        wrong = np.array(
            [
                not (off.holds(0.0) and ratio.holds(1.0))
                for off, ratio in zip(found.bias, found.confidence_ratio, strict=True)
            ]
        )
    return int(np.sum(wrong & patch(SIDE**2))), int(np.sum(wrong & ~patch(SIDE**2)))


def rows_of_patches(repeats: int) -> list[str]:
    lines = [
        f"Of images with {SIDE} x {SIDE} dimensions, n = 500, {PATCH} x {PATCH} are wrong. Dimensions whose interval",
        f"of bias or spread excludes what is right, by `diagnose`, on average over {repeats} data sets.",
        "",
        "| predictions | flaw | in the patch, of 36 | elsewhere, of 748 |",
        "|---|---|---|---|",
    ]
    for kind in ("diagonal", "scores only"):
        for name in [each for each in FLAWS if each.startswith("6 x 6")]:
            counts = np.mean([located(kind, *FLAWS[name], seed) for seed in range(repeats)], axis=0)
            lines.append(f"| {kind} | {name} | {counts[0]:.1f} | {counts[1]:.2f} |")
    return lines


def seconds(call: Callable[[], Any], times: int) -> float:
    found = []
    for _ in range(times):
        start = time.perf_counter()
        call()
        found.append(time.perf_counter() - start)
    return min(found)


def peak(call: Callable[[], Any]) -> float:
    """Return the largest memory in use during a call, in MB, beyond that before it."""
    tracemalloc.start()
    call()
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return most / 1e6


def rows_of_costs(kind: str, times: int) -> list[str]:
    lines = [
        f"{kind[0].upper()}{kind[1:]}: seconds of calibrated data, n = {N_OF_COST}, B = 999, in one process, the least",
        f"of {times}, and the peak of memory beyond that of the data.",
        "",
        "| d | `kccsd_test` | `calibration_test` | times | `diagnose` | MB, `calibration_test` | MB, `diagnose` |",
        "|---|---|---|---|---|---|---|",
    ]
    spent = []
    for dim in DIMENSIONS:
        predictions, y = data(N_OF_COST, dim, kind, "none", 0.0, np.random.default_rng(dim))
        calls = [partial(each, predictions, y, rng=0) for each in (sc.kccsd_test, sc.calibration_test, sc.diagnose)]
        plain, combined, diagnosed = (seconds(call, times) for call in calls)
        spent.append(combined)
        memory = " | ".join(f"{peak(call):.0f}" for call in calls[1:])
        lines.append(f"| {dim} | {plain:.3f} | {combined:.3f} | {combined / plain:.1f} | {diagnosed:.3f} | {memory} |")
    slope = np.polyfit(np.log(DIMENSIONS), np.log(spent), 1)[0]
    return [*lines, "", f"Seconds of `calibration_test` grow as d^{slope:.2f}.", ""]


def parts_of(text: str) -> dict[str, str]:
    """Return the parts of an earlier table by their headings."""
    parts = [part.split("\n", 1) for part in text.split("\n## ")[1:]]
    return {heading: body.strip("\n") for heading, body in parts}


PARTS: dict[str, tuple[str, Callable[[argparse.Namespace], list[str]]]] = {
    "level": ("Level", lambda options: rows_of_rates(["none"], LEVEL, options)),
    "power": ("Power", lambda options: rows_of_rates([name for name in FLAWS if name != "none"], POWER, options)),
    "patch": ("A wrong patch is located", lambda options: rows_of_patches(max(1, options.repeats // 250))),
    "cost": ("Cost", lambda options: [line for kind in KINDS[1:] for line in rows_of_costs(kind, TIMES)]),
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeats", type=int, default=1000, help="data sets of the level at d = 300 (1000)")
    parser.add_argument("--parts", nargs="*", default=list(PARTS), choices=list(PARTS), help="all by default")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--workers", type=int, default=-1, help="processes; one for each core by default")
    parser.add_argument("--out", type=Path, default=Path(__file__).parent / "results" / "high_dimension.md")
    options = parser.parse_args()
    check_writable(options.out)
    for name in options.parts:
        heading, rows = PARTS[name]
        command = (
            f"python benchmarks/high_dimension.py --parts {name} --repeats {options.repeats} --seed {options.seed}"
        )
        body = "\n".join(["", f"`{command}`", "", *rows(options)])
        kept = parts_of(options.out.read_text()) if options.out.exists() else {}
        kept[heading] = body.strip("\n")
        ordered = [f"## {each}\n\n{kept[each]}" for each, _ in PARTS.values() if each in kept]
        write_whole(options.out, "\n\n".join(["# High dimension", *ordered]) + "\n")
        print(body, flush=True)


if __name__ == "__main__":
    main()
