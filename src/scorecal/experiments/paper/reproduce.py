"""`scorecal reproduce`: figures and tables of the paper, by the names of the figures."""

import os
import time
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from functools import partial
from pathlib import Path

from ...parallel.dask import cluster
from ..sweep.rates import Row, as_csv, as_markdown, rows_of
from ..sweep.sweep import sweep
from . import authors
from .catalogue import FIGURES
from .drawing import draw
from .figures import Figure

RESULTS = "results.sqlite"


def reproduce(
    names: Sequence[str], folder: Path, *, repeats: int = 100, workers: int = 1, scheduler: str | None = None
) -> list[str]:
    """Run the tests that are missing, write figures and tables, and return lines that say what was done."""
    _require_matplotlib()
    figures = [FIGURES[name] for name in names]
    if folder.exists() and not folder.is_dir():
        raise NotADirectoryError(f"`--out` must be a folder, but {folder} is a file.")
    folder.mkdir(parents=True, exist_ok=True)
    start = time.perf_counter()
    what = f"{'all' if len(names) == len(FIGURES) else ' '.join(names)}, {repeats} repeats"
    cells = [cell for figure in figures for cell in figure.cells]
    with nullcontext(workers) if scheduler is None else cluster(scheduler) as using:
        pvalues = sweep(cells, repeats, folder / RESULTS, workers=using, what=what)
    lines = []
    for figure in figures:
        rows = rows_of(figure, pvalues, repeats)
        _write(figure, folder, rows)
        lines.append(f"{figure.title}: {folder / figure.name}.png, .pdf, .csv, .md")
        if figure.name == "fig1":
            beside = authors.as_markdown(authors.compare(rows))
            _replace(folder / "fig1_authors.md", partial(Path.write_text, data=beside))
            lines.append(f"Figure 1 beside the counts of the authors' code: {folder / 'fig1_authors.md'}")
    return [*lines, f"{len(pvalues)} tests behind these figures; this run took {time.perf_counter() - start:.0f} s"]


def _write(figure: Figure, folder: Path, rows: list[Row]) -> None:
    canvas = draw(figure, rows)
    _replace(folder / f"{figure.name}.png", lambda path: canvas.savefig(path, format="png", dpi=150))
    # Without its date, the same results make the same file.
    _replace(
        folder / f"{figure.name}.pdf", lambda path: canvas.savefig(path, format="pdf", metadata={"CreationDate": None})
    )
    _replace(folder / f"{figure.name}.csv", partial(Path.write_text, data=as_csv(rows), newline=""))
    _replace(folder / f"{figure.name}.md", partial(Path.write_text, data=as_markdown(figure, rows)))


def _replace(path: Path, write: Callable[[Path], object]) -> None:
    """Write to a file beside the path and move it into place, so that a reader never sees half of it."""
    unfinished = path.with_name(f".{path.name}")
    try:
        write(unfinished)
        os.replace(unfinished, path)
    finally:
        unfinished.unlink(missing_ok=True)


def _require_matplotlib() -> None:
    """Raise before the work, not after it, if matplotlib is missing."""
    try:
        import matplotlib  # noqa: F401
    except ImportError:
        raise ImportError('Figures are drawn with matplotlib: pip install "scorecal[reproduce]".') from None
