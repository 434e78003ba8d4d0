"""The power study: rejection rates over a grid of flaws, and whether they meet our bounds."""

from collections.abc import Sequence
from pathlib import Path

from ..._lib.files import check_writable, write_whole
from ..sweep.rates import rejection_rates
from ..sweep.sweep import sweep
from .grid import ALL, FITTED, N_RESAMPLES, OTHERS, OURS, SIZES, Situation, cells_of, null_cells_of, situations

_LARGEST_LEVEL, _LEAST_FOR_MODES = 0.065, 0.8
_Rates = dict[tuple[str, int, str], tuple[int, int]]


def power_study(
    folder: Path, *, repeats: int = 400, null_repeats: int = 2000, workers: int = -1, sizes: Sequence[int] = SIZES
) -> list[str]:
    """Run the tests that are missing, write the tables, and return lines that say what was done.

    On calibrated predictions `calibration_test` is run on `null_repeats` data sets, also with fitted moments.
    """
    folder.mkdir(parents=True, exist_ok=True)
    for name in ("power.csv", "power.md"):  # before the work, which takes hours
        check_writable(folder / name)
    rows, path = situations(), folder / "power.sqlite"
    null, flawed = null_cells_of(rows, sizes), cells_of(rows, sizes)
    found = sweep(null, null_repeats, path, n_resamples=N_RESAMPLES, workers=workers, what="level")
    found |= sweep(flawed, repeats, path, n_resamples=N_RESAMPLES, workers=workers, what="power")
    rates = rejection_rates(found)
    write_whole(folder / "power.csv", as_csv(rates, sizes))
    write_whole(folder / "power.md", as_markdown(rates, sizes))
    return [f"{len(found)} tests: {folder / 'power.md'}, .csv, .sqlite", summary(rates, sizes)]


def summary(rates: _Rates, sizes: Sequence[int]) -> str:
    """Describe the level of our test, its power beside the other tests, and the cells that fall short.

    Weights of modes, which scores alone do not see, have a bound of their own.
    """
    levels, gaps, short = [], [], []
    for row, n in ((row, n) for row in situations() for n in sizes):
        for test in (OURS, FITTED):
            if row.calibrated and (row.model.name, n, test.name) in rates:
                levels.append(_share(rates, row, n, test.name))
                if levels[-1] > _LARGEST_LEVEL:
                    short.append(f"- {row.model.name}, n = {n}: level of {test.name} {levels[-1]:.3f}")
        ours, best = _share(rates, row, n, OURS.name), max(_share(rates, row, n, test.name) for test in OTHERS)
        if row.kind == "modes" and n >= 200 and ours < _LEAST_FOR_MODES:
            short.append(f"- {row.model.name}, n = {n}: {ours:.3f}")
        elif not row.calibrated and row.kind != "modes":
            gaps.append(ours - best)
            error = (best * (1.0 - best) / rates[row.model.name, n, OURS.name][1]) ** 0.5
            if gaps[-1] < -0.05 - 2.0 * error:
                short.append(f"- {row.model.name}, n = {n}: {ours:.3f}, the best of the others {best:.3f}")
    lines = [
        f"Calibrated predictions are rejected in at most {100 * max(levels):.1f} % of data sets, at level .05. In "
        f"{sum(gap >= 0 for gap in gaps)} of {len(gaps)} cells with a flaw other than the weights of modes, "
        f"`calibration_test` rejects at least as often as the best of {', '.join(test.name for test in OTHERS)}; at "
        f"worst {-100 * min(gaps):.1f} points less often, at best {100 * max(gaps):.1f} more.",
        "",
        "Short of what we promise:" if short else "No cell falls short of what we promise.",
        *short,
    ]
    return "\n".join(lines)


def _share(rates: _Rates, row: Situation, n: int, test: str) -> float:
    rejections, repetitions = rates[row.model.name, n, test]
    return rejections / repetitions


def as_csv(rates: _Rates, sizes: Sequence[int]) -> str:
    """Return the rates as CSV, with a row for each flaw, dimension, n and test."""
    lines = ["flaw,d,n,test,rejections,repetitions"]
    for row, n, test in ((row, n, test) for row in situations() for n in sizes for test in ALL):
        if (row.model.name, n, test.name) in rates:
            rejections, repetitions = rates[row.model.name, n, test.name]
            lines.append(f'"{row.name}",{row.dim},{n},{test.name},{rejections},{repetitions}')
    return "\n".join(lines) + "\n"


def as_markdown(rates: _Rates, sizes: Sequence[int]) -> str:
    """Return a Markdown table with a row for each flaw and dimension, and rejections in percent at each n."""
    counts = sorted({repetitions for _, repetitions in rates.values()})
    lines = [
        "# Level and power",
        "",
        f"Data sets rejected at level .05, in percent, at n = {' / '.join(map(str, sizes))}. Flaws are explained in",
        "`scorecal.experiments.FLAWS`; `fitted` is `calibration_test` told nothing but scores, for its level.",
        "`scorecal bench power`:",
        f"seed 0, B = {N_RESAMPLES} random signs, {counts[0]} to {counts[-1]} data sets a cell.",
        "",
        summary(rates, sizes),
        "",
        f"| flaw | d | {' | '.join(test.name for test in ALL)} |",
        f"|---|---|{'---|' * len(ALL)}",
    ]
    for row in situations():
        shown = []
        for test in ALL:
            there = [(row.model.name, n, test.name) in rates for n in sizes]
            percent = [
                f"{100 * _share(rates, row, n, test.name):.1f}" if known else "-"
                for n, known in zip(sizes, there, strict=True)
            ]
            shown.append(" / ".join(percent) if any(there) else "")
        lines.append(f"| {row.name} | {row.dim} | {' | '.join(shown)} |")
    return "\n".join(lines) + "\n"
