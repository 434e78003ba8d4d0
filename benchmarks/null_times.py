"""Time of `calibration_test` with each null distribution, in units of that with random signs.

    python benchmarks/null_times.py

Writes results/null_times.md: time of the processor, so that other work on the machine does not count. The best of five
calls, after one that fills tables which calls of one size share.
"""

import time
from pathlib import Path

import numpy as np

import scorecal as sc
from scorecal._lib.files import write_whole
from scorecal.views import default_views

OUT = Path(__file__).parent / "results" / "null_times.md"
DIM, CALLS = 3, 5


def made(kind: str, n: int) -> tuple:
    """Calibrated predictions in three dimensions, and targets."""
    rng = np.random.default_rng(n)
    mean, noise = rng.normal(size=(n, DIM)), rng.normal(size=(n, DIM))
    if kind == "Gaussian":
        return sc.Gaussian(mean, 1.0), mean + noise
    means = np.stack([mean, mean + 2.0], axis=1)
    y = means[np.arange(n), rng.integers(2, size=n)] + noise
    return sc.GaussianMixture(np.full((n, 2), 0.5), means, np.ones((n, 2))), y


def seconds(predictions: sc.Gaussian, y: np.ndarray, **options) -> float:
    found = []
    for seed in range(CALLS + 1):
        start = time.process_time()
        sc.calibration_test(predictions, y, rng=seed, **options)
        found.append(time.process_time() - start)
    return min(found[1:])


def main() -> None:
    lines = [
        "# Time of null distributions",
        "",
        "`python benchmarks/null_times.py`: `calibration_test`, d = 3, 999 draws, seconds of one processor with random",
        'signs, and so many times as long with the others. "auto" makes up to 20 times as many draws where they are',
        "cheap.",
        "",
        '| predictions | n | "signs" | "simulate" | "auto" |',
        "|---|---|---|---|---|",
    ]
    cells = [*(("Gaussian", n, True) for n in (20, 100, 200, 400, 1000)), ("Gaussian", 200, False)]
    for kind, n, pairs in [*cells, *(("mixture of two", n, True) for n in (20, 100, 200))]:
        predictions, y = made(kind, n)
        views = [view for view in default_views(predictions) if pairs or view.name != "any, kernels"]
        signs, *others = (seconds(predictions, y, views=views, null=null) for null in ("signs", "simulate", "auto"))
        name = kind if pairs else f"{kind}, without the view of pairs"
        lines.append(f"| {name} | {n} | {signs:.3f} s | " + " | ".join(f"{t / signs:.1f}" for t in others) + " |")
        print(lines[-1], flush=True)
    write_whole(OUT, "\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
