"""Level of the cheaper estimators, and their power at equal cost: python benchmarks/estimators.py [--repeats 1000].

Costs are equal when as many pairs are averaged. With less to pay for each point, more points can be looked at.
"""

from __future__ import annotations

import argparse
from functools import partial
from pathlib import Path

from scorecal import estimators, experiments, kccsd_test
from scorecal._lib.files import write_whole
from scorecal.parallel.workers import map_tasks
from scorecal.resampling.estimators import as_estimator

CHEAP = {
    "incomplete, 20 pairs a point": estimators.Incomplete(20),
    "block, root of n": estimators.Block(),
    "linear": estimators.Linear(),
    "low-rank, 50 frequencies": estimators.LowRank(50),
}
# As many pairs as the complete statistic of 200 points, 19,900, or the nearest number.
EQUAL = {
    "complete": (200, estimators.Complete()),
    "incomplete, 50 pairs a point": (424, estimators.Incomplete(50)),
    "incomplete, 10 pairs a point": (1996, estimators.Incomplete(10)),
    "block of 50": (800, estimators.Block(50)),
    "block of 10": (4420, estimators.Block(10)),
    "linear": (39_800, estimators.Linear()),
}


# On the same points, of which the complete statistic averages 1,999,000 pairs.
SAME = {
    "complete": estimators.Complete(),
    "low-rank, 50 frequencies": estimators.LowRank(50),
    "low-rank, 10 frequencies": estimators.LowRank(10),
    "incomplete, 100 pairs a point": estimators.Incomplete(100),
    "block, root of n": estimators.Block(),
    "linear": estimators.Linear(),
}


def rejected(model: str, size: float, n: int, estimator: object, seed: int) -> bool:
    predictions, y = getattr(experiments, model)(n, size, rng=seed)
    return kccsd_test(predictions, y, estimator=estimator, n_resamples=199, rng=seed).rejects()


def rate(model: str, size: float, n: int, estimator: object, repeats: int) -> float:
    return sum(map_tasks(partial(rejected, model, size, n, estimator), range(repeats), workers=-1)) / repeats


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeats", type=int, default=1000, help="data sets a cell (1000)")
    parser.add_argument("--out", type=Path, default=Path(__file__).parent / "results" / "estimators.md")
    options = parser.parse_args()
    lines = [
        "# Cheaper estimators",
        "",
        f"`python benchmarks/estimators.py --repeats {options.repeats}`: data sets that `kccsd_test` rejects at",
        "level .05, B = 199, seeds from 0. The 99 % band of 1000 data sets is .032 to .068.",
        "",
        "| calibrated, n | " + " | ".join(CHEAP) + " |",
        "|---|" + "---|" * len(CHEAP),
    ]
    for model, n in ((model, n) for model in ("mgm", "lgm", "qgm") for n in (500, 2000)):
        found = [f"{rate(model, 0.0, n, estimator, options.repeats):.3f}" for estimator in CHEAP.values()]
        lines.append(f"| {model}, {n} | {' | '.join(found)} |")
    lines += [
        "",
        f"Power at equal cost, {options.repeats // 5} data sets:",
        "",
        "| estimator | n | pairs | mgm .1 | qgm .5 |",
        "|---|---|---|---|---|",
    ]
    for name, (n, estimator) in EQUAL.items():
        found = [
            f"{rate(model, size, n, estimator, options.repeats // 5):.2f}"
            for model, size in (("mgm", 0.1), ("qgm", 0.5))
        ]
        lines.append(f"| {name} | {n} | {as_estimator(estimator).pairing(n).n_pairs} | {' | '.join(found)} |")
    lines += [
        "",
        f"Power on the same 2000 points, {options.repeats // 5} data sets:",
        "",
        "| estimator | mgm .04 | qgm .25 |",
        "|---|---|---|",
    ]
    for name, estimator in SAME.items():
        found = [
            f"{rate(model, size, 2000, estimator, options.repeats // 5):.2f}"
            for model, size in (("mgm", 0.04), ("qgm", 0.25))
        ]
        lines.append(f"| {name} | {' | '.join(found)} |")
    write_whole(options.out, "\n".join(lines) + "\n")
    print("\n".join(lines))


if __name__ == "__main__":
    main()
