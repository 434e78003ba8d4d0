"""Tables as data: a head and rows of text, shown as plain text or as HTML."""

from collections.abc import Iterable
from typing import Any, NamedTuple

from .text import html_text, visible


class Table(NamedTuple):
    """The names of the columns, and the cells of each row."""

    head: tuple[str, ...]
    rows: list[tuple[str, ...]]

    def text(self) -> str:
        """The table in columns of equal width, a line for each row whatever its cells hold."""
        shown = [tuple(map(visible, row)) for row in (self.head, *self.rows)]
        widths = [max(map(len, column)) for column in zip(*shown, strict=True)]
        lines = (zip(row, widths, strict=True) for row in shown)
        return "\n".join("  ".join(f"{cell:{width}}" for cell, width in line).rstrip() for line in lines)

    def html(self) -> str:
        """The table as HTML; cells stay text, whatever they hold."""
        head = "".join(f'<th scope="col">{html_text(name)}</th>' for name in self.head)
        body = "".join(
            f'<tr><th scope="row">{html_text(row[0])}</th>'
            + "".join(f"<td>{html_text(cell)}</td>" for cell in row[1:])
            + "</tr>"
            for row in self.rows
        )
        return f'<div class="wide"><table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div>'


def table(head: tuple[str, ...], rows: Iterable[Iterable[Any]]) -> Table:
    """A table of anything that can be shown: floats with three digits, everything else as it prints."""
    return Table(head, [tuple(f"{cell:.3g}" if isinstance(cell, float) else str(cell) for cell in row) for row in rows])
