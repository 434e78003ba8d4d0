"""Level of the cheaper estimators, and their power at equal cost: python benchmarks/estimators.py [--repeats 1000].

Costs are equal when as many pairs are averaged. With less to pay for each point, more points can be looked at.
`--part kernels` has level and power of "low-rank" for other kernels than Gaussian ones between targets and GFD, and
`--part costs` prints the times behind `estimator="auto"`.
"""

from __future__ import annotations

import argparse
import time
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from scorecal import Gaussian, estimators, experiments, kccsd_test, kernels
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


KERNELS: dict[str, dict[str, Any]] = {
    "Gaussian, GFD (the default)": {},
    "IMQ, GFD": {"target_kernel": kernels.IMQ()},
    "IMQ, GFD with outer imq": {"target_kernel": kernels.IMQ(), "distribution_kernel": kernels.GFD(outer="imq")},
    "Gaussian, KGFD": {"distribution_kernel": kernels.KGFD()},
    "Gaussian, Wasserstein": {"distribution_kernel": kernels.Wasserstein()},
    "Gaussian, MMD": {"distribution_kernel": kernels.MMD()},
    "Gaussian, MMD of 4 draws": {"distribution_kernel": kernels.MMD(n_samples=4)},
}


def rejected(model: str, size: float, n: int, estimator: object, between: dict[str, Any] | None, seed: int) -> bool:
    predictions, y = getattr(experiments, model)(n, size, rng=seed)
    if between is None:
        return kccsd_test(predictions, y, estimator=estimator, n_resamples=199, rng=seed).rejects()
    # A kernel that draws from the predictions must not draw the targets once more.
    rng = np.random.default_rng([seed, 1])
    return kccsd_test(predictions, y, estimator=estimator, n_resamples=199, rng=rng, **between).rejects()


def rate(
    model: str, size: float, n: int, estimator: object, repeats: int, between: dict[str, Any] | None = None
) -> float:
    task = partial(rejected, model, size, n, estimator, between)
    return sum(map_tasks(task, range(repeats), workers=-1)) / repeats


def of_kernels(repeats: int) -> list[str]:
    powers = (("mgm", 0.06, 1000), ("qgm", 0.5, 1000), ("mgm", 0.04, 2000))
    band = 2.576 * (0.05 * 0.95 / repeats) ** 0.5
    lines = [
        "# Random features of other kernels",
        "",
        f"`python benchmarks/estimators.py --part kernels --repeats {repeats}`: data sets that `kccsd_test` rejects at",
        'level .05 with `estimator="low-rank"`, B = 199, seeds from 0. Calibrated models first; 99 % of such rates are',
        f"within {band:.3f} of .05. Then power on {repeats // 5} data sets, that of all pairs behind a stroke.",
        "",
        "| kernels of targets and predictions | mgm, n = 300 | lgm, 300 | hgm, 1000 | "
        + " | ".join(f"{model} {size:g}, {n}" for model, size, n in powers)
        + " |",
        "|---|" + "---|" * (3 + len(powers)),
    ]
    for name, between in KERNELS.items():
        calibrated = (("mgm", 300), ("lgm", 300), ("hgm", 1000))
        found = [f"{rate(model, 0.0, n, estimators.LowRank(), repeats, between):.3f}" for model, n in calibrated]
        for model, size, n in powers:
            each = (
                rate(model, size, n, estimator, repeats // 5, between)
                for estimator in (estimators.LowRank(), estimators.Complete())
            )
            found.append(" / ".join(f"{value:.2f}" for value in each))
        lines.append(f"| {name} | {' | '.join(found)} |")
        print(lines[-1], flush=True)
    return lines


def costs() -> list[str]:
    """Times in one process: of each pair, and of each of 100 d features of a row."""
    lines = ["| n | d | B | complete, each pair [ns] | low-rank, each feature [ns] |", "|---|---|---|---|---|"]
    for n, d, n_resamples in ((10_000, 3, 99), (10_000, 3, 999), (20_000, 3, 999), (10_000, 30, 999)):
        rng = np.random.default_rng(0)
        mean = rng.normal(size=(n, d))
        predictions, y = Gaussian(mean, np.ones(n)), mean + rng.normal(size=(n, d))
        shares = []
        for estimator, count in (("complete", n * (n - 1) / 2), ("low-rank", 100 * n * d)):
            taken = []
            for _ in range(3):
                start = time.perf_counter()
                kccsd_test(predictions, y, estimator=estimator, n_resamples=n_resamples, rng=0)
                taken.append(time.perf_counter() - start)
            shares.append(f"{min(taken) / count * 1e9:.1f}")
        lines.append(f"| {n} | {d} | {n_resamples} | {' | '.join(shares)} |")
    return lines


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeats", type=int, default=1000, help="data sets a cell (1000)")
    parser.add_argument("--part", choices=("pairs", "kernels", "costs"), default="pairs")
    parser.add_argument("--out", type=Path, default=Path(__file__).parent / "results")
    options = parser.parse_args()
    if options.part == "costs":
        print("\n".join(costs()))
    elif options.part == "kernels":
        write_whole(options.out / "estimators_kernels.md", "\n".join(of_kernels(options.repeats)) + "\n")
    else:
        of_pairs(options)


def of_pairs(options: argparse.Namespace) -> None:
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
    write_whole(options.out / "estimators.md", "\n".join(lines) + "\n")
    print("\n".join(lines))


if __name__ == "__main__":
    main()
