"""Tables as data: a head and rows of text, shown as plain text or as HTML."""

from collections.abc import Iterable
from html import escape
from typing import Any, NamedTuple


class Table(NamedTuple):
    """The names of the columns, and the cells of each row."""

    head: tuple[str, ...]
    rows: list[tuple[str, ...]]

    def text(self) -> str:
        """The table in columns of equal width."""
        widths = [max(map(len, column)) for column in zip(self.head, *self.rows, strict=True)]
        lines = (zip(row, widths, strict=True) for row in (self.head, *self.rows))
        return "\n".join("  ".join(f"{cell:{width}}" for cell, width in line).rstrip() for line in lines)

    def html(self) -> str:
        """The table as HTML; cells stay text, whatever they hold."""
        head = "".join(f'<th scope="col">{escape(name)}</th>' for name in self.head)
        body = "".join(
            f'<tr><th scope="row">{escape(row[0])}</th>'
            + "".join(f"<td>{escape(cell)}</td>" for cell in row[1:])
            + "</tr>"
            for row in self.rows
        )
        return f'<div class="wide"><table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div>'


def table(head: tuple[str, ...], rows: Iterable[Iterable[Any]]) -> Table:
    """A table of anything that can be shown: floats with three digits, everything else as it prints."""
    return Table(head, [tuple(f"{cell:.3g}" if isinstance(cell, float) else str(cell) for cell in row) for row in rows])
