"""Rejections by the authors' own code, on 100 data sets, beside ours."""

from collections.abc import Sequence
from dataclasses import dataclass

from ..sweep.rates import Row

AUTHORS_REPETITIONS = 100

# https://github.com/pierreglaser/kccsd, run with 500 bootstrap draws; n: rejections.
# KCCSD with the exact GFD kernel, SKCE with the exact MMD kernel, the Gaussian kernel on targets.
_AUTHORS = {
    ("MGM, delta = 0", "KCCSD, exact GFD, Gaussian"): {64: 5, 128: 9, 256: 7},
    ("MGM, delta = 0.1, c = 1", "KCCSD, exact GFD, Gaussian"): {64: 16, 128: 47, 256: 78},
    ("MGM, delta = 0.1, c = 1", "SKCE, exact MMD, Gaussian, exact expectations"): {64: 15, 128: 46, 256: 77},
    ("MGM, delta = 0.1, c = e_1", "KCCSD, exact GFD, Gaussian"): {64: 7, 128: 11, 256: 13},
    ("LGM, delta = 0", "KCCSD, exact GFD, Gaussian"): {64: 5, 128: 6, 256: 9},
    ("HGM, delta = 1", "KCCSD, exact GFD, Gaussian"): {64: 45, 128: 84, 256: 100},
    ("HGM, delta = 1", "SKCE, exact MMD, Gaussian, exact expectations"): {64: 76, 128: 99, 256: 100},
    ("QGM, delta = 1", "KCCSD, exact GFD, Gaussian"): {64: 19, 128: 21, 256: 41},
    ("QGM, delta = 1", "SKCE, exact MMD, Gaussian, exact expectations"): {64: 20, 128: 16, 256: 43},
}


@dataclass(frozen=True)
class Comparison:
    """Rejections in one cell, and the p-value of Fisher's test that both codes reject at one rate."""

    model: str
    test: str
    n: int
    authors: int
    ours: int
    repetitions: int
    pvalue: float


def compare(rows: Sequence[Row]) -> list[Comparison]:
    """Return the comparison for each point of Figure 1 at which the authors' counts are known."""
    from scipy.stats import fisher_exact

    found = []
    for row in rows:
        authors = _AUTHORS.get((row.model, row.test), {}).get(row.n)
        if authors is not None:
            table = [[authors, AUTHORS_REPETITIONS - authors], [row.rejections, row.repetitions - row.rejections]]
            pvalue = float(fisher_exact(table).pvalue)
            found.append(Comparison(row.model, row.line, row.n, authors, row.rejections, row.repetitions, pvalue))
    return found


def as_markdown(comparisons: Sequence[Comparison]) -> str:
    """Return the comparisons as a Markdown table."""
    lines = [
        f"Rejections in percent: the authors' code on {AUTHORS_REPETITIONS} data sets, ours on "
        f"{comparisons[0].repetitions} others. At 1 % overall (Bonferroni), a p-value below "
        f"{0.01 / len(comparisons):.1g} would be a difference; the smallest is "
        f"{min(comparison.pvalue for comparison in comparisons):.2g}.",
        "",
        "| model | test | n | the authors' | ours | p-value of their difference |",
        "|---|---|---|---|---|---|",
    ]
    for each in comparisons:
        ours = f"{100 * each.ours / each.repetitions:.3g}"
        lines.append(f"| {each.model} | {each.test} | {each.n} | {each.authors} | {ours} | {each.pvalue:.2g} |")
    return "\n".join(lines) + "\n"
