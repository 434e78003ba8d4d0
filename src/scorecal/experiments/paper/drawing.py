"""Figures of rejection rates."""

from textwrap import fill
from typing import Any

from ..sweep.rates import LEVEL, Row
from .figures import Figure, Panel

# Okabe and Ito's colours, safe for colour-blind readers; markers and dashes tell lines apart in grey print.
_STYLES = (("#0072b2", "o", "-"), ("#d55e00", "s", "--"), ("#009e73", "^", "-."), ("#cc79a7", "D", ":"))


def draw(figure: Figure, rows: list[Row]) -> Any:
    """Return a matplotlib figure: rates against x with Wilson bands, panels as in `figure`, and one legend below."""
    from matplotlib.figure import Figure as Canvas

    n_rows, n_columns = len(figure.rows), max(len(row) for row in figure.rows)
    canvas = Canvas(figsize=(2.9 * n_columns, 2.5 * n_rows + 1.0), layout="constrained")
    axes = canvas.subplots(n_rows, n_columns, sharex=True, squeeze=False)
    points: dict[tuple[str, str], list[Row]] = {}
    for row in rows:
        points.setdefault((row.panel, row.line), []).append(row)
    handles: dict[str, Any] = {}
    for i, panels in enumerate(figure.rows):
        for j, panel in enumerate(panels):
            lines = [points[panel.title, line.label] for line in panel.lines]
            for k, line in enumerate(lines):
                handles.setdefault(panel.lines[k].label, _draw_line(axes[i, j], line, k, len(lines)))
            _dress(axes[i, j], panel, lines)
            if i == n_rows - 1:
                axes[i, j].set_xlabel(figure.x_label, fontsize=9)
    canvas.suptitle(_symbols(figure.title), fontsize=10)
    note = (
        f"{figure.note} {rows[0].repetitions} data sets a point, 95 % Wilson bands; grey: the level, 5 %. Lines stand "
        "a little apart in x."
    )
    legend = canvas.legend(
        handles.values(),
        handles.keys(),
        loc="outside lower center",
        ncols=len(handles),
        frameon=False,
        title=fill(note, 44 * n_columns),
        fontsize=9,
        title_fontsize=8,
    )
    legend.get_title().set_multialignment("center")
    return canvas


def _draw_line(axes: Any, line: list[Row], k: int, n_lines: int) -> Any:
    """Draw one line, shifted by a few percent of x: lines that agree would hide each other."""
    colour, marker, dash = _STYLES[k]
    x = [row.x * 1.05 ** (k - (n_lines - 1) / 2) for row in line]
    low, high, rate = ([100.0 * getattr(row, name) for row in line] for name in ("low", "high", "rate"))
    axes.fill_between(x, low, high, color=colour, alpha=0.25 / n_lines**0.5, linewidth=0)
    (drawn,) = axes.plot(x, rate, color=colour, marker=marker, linestyle=dash, markersize=4, linewidth=1.3)
    return drawn


def _dress(axes: Any, panel: Panel, lines: list[list[Row]]) -> None:
    x = [row.x for row in lines[0]]
    axes.axhline(100.0 * LEVEL, color="#808080", linewidth=0.8, zorder=0)
    axes.set_xscale("log")
    axes.set_xticks(x, [str(value) for value in x], fontsize=8)
    axes.minorticks_off()
    axes.tick_params(axis="y", labelsize=8)
    axes.set_title(fill(_symbols(panel.title), 30), fontsize=9)
    axes.set_ylabel("false rejections [%]" if panel.calibrated else "rejections [%]", fontsize=8)
    highest = 100.0 * max(row.high for line in lines for row in line)
    top, step = next(
        (top, step)
        for top, step in ((20.0, 5), (40.0, 10), (102.0, 20))
        if highest <= top and (panel.calibrated or top > 100.0)
    )
    axes.set_yticks(range(0, int(top) + 1, step))
    axes.set_ylim(-0.02 * top, top)
    axes.grid(axis="y", color="#e5e5e5", linewidth=0.6)
    axes.set_axisbelow(True)
    axes.spines[["top", "right"]].set_visible(False)


def _symbols(text: str) -> str:
    return text.replace("delta", "δ").replace("e_1", "e₁")
