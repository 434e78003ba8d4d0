"""Rejection rates from p-values: intervals, CSV and Markdown."""

import csv
import io
from collections.abc import Mapping
from dataclasses import astuple, dataclass, fields

from ..paper.figures import Figure
from .store import Key

LEVEL = 0.05


@dataclass(frozen=True)
class Row:
    """One point of a figure, as a row of its CSV."""

    panel: str
    line: str
    x: int
    model: str
    n: int
    test: str
    rejections: int
    repetitions: int
    rate: float
    low: float
    high: float


def wilson(rejections: int, repetitions: int) -> tuple[float, float]:
    """Wilson's 95 % interval for a rate.

    Examples
    --------
    >>> from scorecal.experiments import wilson
    >>> low, high = wilson(5, 100)
    >>> round(low, 3), round(high, 3)
    (0.022, 0.112)
    """
    from scipy.stats import binomtest

    interval = binomtest(rejections, repetitions).proportion_ci(method="wilson")
    return float(interval.low), float(interval.high)


def rejection_rates(pvalues: Mapping[Key, float], level: float = LEVEL) -> dict[tuple[str, int, str], tuple[int, int]]:
    """Rejections at a level, and repetitions, by (model, n, test), from the p-values that `sweep` returns.

    Examples
    --------
    >>> from scorecal.experiments import rejection_rates, wilson
    >>> rejection_rates({("LGM", 50, 0, "PIT"): 0.03, ("LGM", 50, 1, "PIT"): 0.7})
    {('LGM', 50, 'PIT'): (1, 2)}
    >>> rejection_rates({("LGM", 50, 0, "PIT"): 0.03, ("LGM", 50, 1, "PIT"): 0.7}, level=0.01)
    {('LGM', 50, 'PIT'): (0, 2)}
    """
    counts: dict[tuple[str, int, str], tuple[int, int]] = {}
    for (model, n, _, test), pvalue in pvalues.items():
        rejections, repetitions = counts.get((model, n, test), (0, 0))
        counts[model, n, test] = (rejections + (pvalue <= level), repetitions + 1)
    return counts


def rows_of(figure: Figure, pvalues: Mapping[Key, float], repeats: int) -> list[Row]:
    """Rows of a figure: rejections at the 5 % level among the first `repeats` data sets, point by point."""
    rows = []
    for panel in (panel for row in figure.rows for panel in row):
        for line in panel.lines:
            for x, cell in zip(line.x, line.cells, strict=True):
                model, test = cell.model.name, cell.test.name
                rejections = sum(pvalues[model, cell.n, repetition, test] <= LEVEL for repetition in range(repeats))
                rate, low, high = (round(value, 6) for value in (rejections / repeats, *wilson(rejections, repeats)))
                rows.append(Row(panel.title, line.label, x, model, cell.n, test, rejections, repeats, rate, low, high))
    return rows


def as_csv(rows: list[Row]) -> str:
    """Return the rows as CSV."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow([field.name for field in fields(Row)])
    writer.writerows(astuple(row) for row in rows)
    return text.getvalue()


def as_markdown(figure: Figure, rows: list[Row]) -> str:
    """Return a Markdown table of rejections in percent, with a row for each line of the figure."""
    xs = sorted({row.x for row in rows})
    table = [
        f"{figure.title}. {figure.note} Rejections in percent of {rows[0].repetitions} data sets, at the 5 % level.",
        "",
        f"| panel | line | {' | '.join(f'{figure.x_label} = {x}' if x == xs[0] else str(x) for x in xs)} |",
        f"|---|---|{'---|' * len(xs)}",
    ]
    rates: dict[tuple[str, str], dict[int, float]] = {}
    for row in rows:
        rates.setdefault((row.panel, row.line), {})[row.x] = row.rate
    for (panel, line), values in rates.items():
        table.append(f"| {panel} | {line} | {' | '.join(f'{100 * values[x]:.3g}' for x in xs)} |")
    return "\n".join(table) + "\n"
