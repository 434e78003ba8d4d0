"""The power study: how often each test rejects, over a grid of flaws."""

from collections.abc import Sequence
from pathlib import Path

from ..._lib.files import check_writable, write_whole
from ..sweep.sweep import sweep
from .grid import N_RESAMPLES, SIZES, cells_of, null_cells_of, situations
from .rates import rates_of
from .summary import summary
from .tables import as_csv, as_markdown


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
    rates = rates_of(found)
    write_whole(folder / "power.csv", as_csv(rates, sizes))
    write_whole(folder / "power.md", as_markdown(rates, sizes))
    return [f"{len(found)} tests: {folder / 'power.md'}, .csv, .sqlite", summary(rates, sizes)]
