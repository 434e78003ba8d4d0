"""`scorecal reproduce`: figures and tables of the paper, by the names of the figures."""

import time
from collections.abc import Sequence
from contextlib import nullcontext
from pathlib import Path

from ..._lib.extras import needs
from ..._lib.files import check_writable, write_whole
from ...parallel.dask import cluster
from ...plots.style import encoded
from ..sweep.rates import Row, as_csv, as_markdown, rows_of
from ..sweep.sweep import sweep
from . import authors
from .catalogue import FIGURES
from .drawing import draw
from .figures import Figure

RESULTS = "results.sqlite"
_BESIDE = "fig1_authors.md"


def reproduce(
    names: Sequence[str], folder: Path, *, repeats: int = 100, workers: int = 1, scheduler: str | None = None
) -> list[str]:
    """Run the tests that are missing, write figures and tables, and return lines that say what was done."""
    _require_matplotlib()
    figures = [FIGURES[name] for name in names]
    folder.mkdir(parents=True, exist_ok=True)
    files = [f"{name}.{kind}" for name in names for kind in ("png", "pdf", "csv", "md")]
    for file in files + ([_BESIDE] if "fig1" in names else []):
        check_writable(folder / file)  # before the work, which may take hours
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
            write_whole(folder / _BESIDE, beside)
            lines.append(f"Figure 1 beside the counts of the authors' code: {folder / _BESIDE}")
    return [*lines, f"{len(pvalues)} tests behind these figures; this run took {time.perf_counter() - start:.0f} s"]


def _write(figure: Figure, folder: Path, rows: list[Row]) -> None:
    canvas = draw(figure, rows)
    # Without its date, the same results make the same file.
    for kind, content in (
        ("png", encoded(canvas, "png", dpi=150)),
        ("pdf", encoded(canvas, "pdf", metadata={"CreationDate": None})),
        ("csv", as_csv(rows)),
        ("md", as_markdown(figure, rows)),
    ):
        write_whole(folder / f"{figure.name}.{kind}", content)


def _require_matplotlib() -> None:
    """Raise before the work, not after it, if matplotlib is missing."""
    try:
        import matplotlib  # noqa: F401
    except ImportError:
        raise needs("Figures are drawn with matplotlib", "reproduce") from None
