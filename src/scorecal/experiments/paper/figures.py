"""A figure as data: panels of lines, each point of which is a cell of the sweep."""

from dataclasses import dataclass

from ..sweep.sweep import Cell


@dataclass(frozen=True)
class Line:
    """A rejection rate as a function of x, with one cell for each value."""

    label: str
    x: tuple[int, ...]
    cells: tuple[Cell, ...]


@dataclass(frozen=True)
class Panel:
    """Lines of one model, or of one kernel; `calibrated` if every rejection is a false one."""

    title: str
    lines: tuple[Line, ...]
    calibrated: bool


@dataclass(frozen=True)
class Figure:
    """Panels in rows; `note` states what the title does not."""

    name: str
    title: str
    x_label: str
    rows: tuple[tuple[Panel, ...], ...]
    note: str

    @property
    def cells(self) -> list[Cell]:
        return [cell for row in self.rows for panel in row for line in panel.lines for cell in line.cells]
