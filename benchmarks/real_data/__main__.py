"""Verdicts beside simple checks, on real data: python benchmarks/real_data.

Needs the packages that hold the data: python -m pip install --group real-data.
"""

from __future__ import annotations

import argparse
import warnings
from importlib.metadata import version
from pathlib import Path

import numpy as np
from figure import histograms
from page import Judged, judge, summary, table, warned
from series import SERIES
from tables import TABLES

from scorecal._lib.files import write_whole

_RESULTS = Path(__file__).parent.parent / "results" / "real_data.md"
_FIGURE = Path(__file__).parent.parent.parent / "docs" / "_static" / "real_data.png"
_PACKAGES = ("scikit-learn", "statsmodels", "pmdarima", "vega_datasets", "palmerpenguins")


def judged_cases(seed: int, only: str) -> list[Judged]:
    found = []
    for cases in (*SERIES, *TABLES):
        if only not in cases.__name__:
            continue
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of the libraries that load and fit
            drawn = list(cases(seed))
        for case in drawn:
            if not np.isfinite(case.z).all():
                raise ValueError(f"{case.data}, {case.model}: residuals are not finite.")
            found.append(judge(case, seed))
            print(case.data, case.model, f"{found[-1].result.pvalue:.3g}", *found[-1].clear, sep=" | ", flush=True)
    return found


def page(judged: list[Judged], seed: int) -> str:
    packages = ", ".join(f"{name} {version(name)}" for name in _PACKAGES)
    lines = [
        "# Verdicts on real data",
        "",
        f"By `python benchmarks/real_data --seed {seed}`, with data of {packages}.",
        "",
        *summary(judged, len(SERIES) + len(TABLES)),
        "",
        "## Tables",
        *table(judged),
        "",
        "## Warnings of the results",
        "",
        *warned(judged),
    ]
    return "\n".join(lines) + "\n"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seed", type=int, default=0, help="of folds, signs and draws (0)")
    parser.add_argument("--only", default="", help="print the sets whose function has this in its name; write nothing")
    options = parser.parse_args()
    judged = judged_cases(options.seed, options.only)
    if not options.only:
        write_whole(_RESULTS, page(judged, options.seed))
        write_whole(_FIGURE, histograms(judged))


if __name__ == "__main__":
    main()
