"""Tables of the power study: CSV and Markdown."""

import csv
from collections.abc import Sequence

from ..sweep.rates import LEVEL
from .grid import ALL, N_OURS, N_RESAMPLES, ORACLE, OURS, Situation, situations
from .rates import STRICT, Rates, against_single_checks, share
from .summary import summary

COLUMNS = [*(test.name for test in ALL), ORACLE]


def as_csv(rates: Rates, sizes: Sequence[int]) -> str:
    """Return the rates as CSV, with a row for each flaw, dimension, n, test and level."""
    lines = ["flaw,d,n,test,level,rejections,repetitions"]
    for row, n, column in ((row, n, column) for row in situations() for n in sizes for column in COLUMNS):
        for level in rates:
            if (row.model.name, n, column) in rates[level]:
                rejections, repetitions = rates[level][row.model.name, n, column]
                lines.append(f'"{row.name}",{row.dim},{n},{column},{level:g},{rejections},{repetitions}')
    return "\n".join(lines) + "\n"


def from_csv(text: str) -> Rates:
    """Return the rates of a table that `as_csv` wrote."""
    names = {(row.name, str(row.dim)): row.model.name for row in situations()}
    rates: dict[float, dict[tuple[str, int, str], tuple[int, int]]] = {LEVEL: {}, STRICT: {}}
    for row in csv.DictReader(text.splitlines()):
        cell = names[row["flaw"], row["d"]], int(row["n"]), row["test"]
        rates[float(row["level"])][cell] = int(row["rejections"]), int(row["repetitions"])
    return rates


def as_markdown(rates: Rates, sizes: Sequence[int]) -> str:
    """Return Markdown tables with a row for each flaw and dimension, and rejections in percent at each n."""
    counts = sorted({repetitions for _, repetitions in rates[LEVEL].values()})
    lines = [
        "# Level and power",
        "",
        f"Data sets rejected at level .05, in percent, at n = {' / '.join(map(str, sizes))}. Flaws are explained in",
        "`scorecal.experiments.FLAWS`; `fitted` is `calibration_test` told nothing but scores, for its level; `oracle`",
        "is the likelihood-ratio test of that very flaw. Seed 0; `calibration_test` with its default null and",
        f"B = {N_OURS}, `kccsd_test` and `skce_test` with B = {N_RESAMPLES} random signs:",
        f"`scorecal bench power --repeats {counts[0]} --null-repeats {counts[-1]}`.",
        "",
        summary(rates, sizes),
        "",
        f"| flaw | d | {' | '.join(COLUMNS)} |",
        f"|---|---|{'---|' * len(COLUMNS)}",
    ]
    for row in situations():
        shown = [_percent([share(rates, row, n, column) for n in sizes]) for column in COLUMNS]
        lines.append(f"| {row.name} | {row.dim} | {' | '.join(shown)} |")
    return "\n".join([*lines, *_one_of_many(rates, sizes)]) + "\n"


def _percent(shares: Sequence[float | None]) -> str:
    if all(rate is None for rate in shares):
        return ""
    return " / ".join("-" if rate is None else f"{100 * rate:.1f}" for rate in shares)


def _one_of_many(rates: Rates, sizes: Sequence[int]) -> list[str]:
    """Lines of a second table: our test at level .05 beside the best single check at level .01, and the ceiling."""
    flawed = [row for row in situations() if not row.calibrated]
    known = [row for row in flawed if any(against_single_checks(rates, row, n) for n in sizes)]
    if not known:
        return []
    return [
        "",
        "## Beside one of many checks",
        "",
        f"`{OURS.name}` and the oracle at level {LEVEL:g}; the best single check at level {STRICT:g}, as one of many",
        "must be run.",
        "",
        f"| flaw | d | {OURS.name} | best single check | which | {ORACLE} |",
        "|---|---|---|---|---|---|",
        *(_compared(rates, row, sizes) for row in known),
    ]


def _compared(rates: Rates, row: Situation, sizes: Sequence[int]) -> str:
    found = [against_single_checks(rates, row, n) for n in sizes]
    cells = [
        _percent([share(rates, row, n, OURS.name) for n in sizes]),
        _percent([None if each is None else each.best for each in found]),
        " / ".join("-" if each is None else each.name for each in found),
        _percent([share(rates, row, n, ORACLE) for n in sizes]),
    ]
    return f"| {row.name} | {row.dim} | {' | '.join(cells)} |"
