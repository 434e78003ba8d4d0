"""Tables that are larger than memory, or nearly: rows in parts, which are read when they are needed."""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import chain, islice, repeat
from pathlib import Path
from typing import Any

import numpy as np

from ..parallel.progress import progress
from ..streams import Batches
from .columns import Columns, columns_of
from .forms import check_forms, members, numbers_of, predictions_of
from .read_csv import tables_of_csv
from .read_parquet import RowGroup, row_groups, tables_of_group
from .table import Dropped, InputError, Table, shown, without_missing

MOST_ROWS, MOST_BYTES = 10**6, 10**8  # of Parquet files, and of text, that are held in memory
_ROWS_OF_PART = 2**16
PARQUET = (".parquet", ".pq")
_OF_ALL_ROWS = ("classes", "ordinal", "hub", "by", "group", "time", "horizon")


def is_streamed(chosen: argparse.Namespace) -> bool:
    """Return whether rows are judged in batches: of folders, large files, and wherever --state is given."""
    path: Path = chosen.file
    parquet, is_folder = path.suffix.lower() in PARQUET, path.is_dir()
    blocked = [option for option in _OF_ALL_ROWS if getattr(chosen, option)]
    blocked += ["null simulate"] if chosen.null == "simulate" else []
    is_table = str(path) != "-" and path.suffix.lower() != ".npz"
    if is_folder or chosen.state is not None:
        if blocked or not is_table:
            what = f"--{blocked[0]} needs" if blocked else "standard input and NPZ files need"
            why = "a folder is" if is_folder else "with --state rows are"
            raise InputError(f"{path}: {why} judged in batches, but {what} all rows at once.")
        return True
    if blocked or not is_table or not path.is_file():
        return False
    if parquet:
        check_forms(chosen)
        return sum(group.n for group in row_groups(path, columns_of(chosen))) > MOST_ROWS
    return path.stat().st_size > MOST_BYTES


@dataclass(frozen=True, eq=False)
class TableReader:
    """The columns that are read of each part, and the predictions that they are."""

    chosen: argparse.Namespace
    wanted: Columns
    dropped: bool

    def __call__(self, part: Any) -> Iterator[tuple[Any, np.ndarray]]:
        """Yield predictions and targets of a part, some rows at a time, and never a single one."""
        for table in self.tables(part):
            yield predictions_of(table, self.chosen), numbers_of(table, self.chosen.target)

    def tables(self, part: Any) -> Iterator[Table]:
        """Yield the rows of a part, checked; the last ones of few together with those before."""
        held: Table | None = None
        for table in map(self._kept, _tables(part, self.wanted)):
            if held is not None and min(held.n, table.n) < 2:
                held = held.followed_by(table)
                continue
            if held is not None:
                yield held
            held = table
        if held is not None and held.n:
            yield held

    def counted(self, part: Any) -> Dropped:
        """Return how many rows of a part are left out."""
        found = [self._without_missing(table)[1] for table in _tables(part, self.wanted)]
        names = list(dict.fromkeys(name for each in found for name in each.missing))
        missing = {name: sum(each.missing.get(name, 0) for each in found) for name in names}
        return Dropped(sum(each.n for each in found), sum(each.of for each in found), missing)

    def _kept(self, table: Table) -> Table:
        for name, values in table.columns:
            table.check(name, values, np.isinf(values), "the value must be a finite number")
        return self._without_missing(table)[0]

    def _without_missing(self, table: Table) -> tuple[Table, Dropped]:
        return without_missing(table, self.dropped, members(self.chosen.samples), may_be_empty=True)


def _tables(part: Any, wanted: Columns) -> Iterator[Table]:
    groups = ([make()] if callable(make) else tables_of_group(RowGroup(*make), wanted) for make in part)
    return chain.from_iterable(groups)


@dataclass(frozen=True, eq=False)
class CsvParts:
    """The parts of a table in text, each some functions that make tables of its rows."""

    path: Path
    wanted: Columns
    lengths: Iterable[int] = repeat(1)  # numbers of tables

    def __iter__(self) -> Iterator[Sequence[Any]]:
        tables = tables_of_csv(self.path, self.wanted, _ROWS_OF_PART)
        for length in self.lengths:
            part = list(islice(tables, length))
            if not part:
                return
            yield part
        yield from ([last] for last in tables)  # none, but the form of the decimals is checked at the end


@dataclass(frozen=True, eq=False)
class Stream:
    """The parts of a table, how to read them, and what to say about them."""

    reader: TableReader
    parts: Iterable[Any]
    sizes: Sequence[int]
    dropped: Dropped
    unit: str
    names: Sequence[str] = field(default_factory=list)  # of the files

    @property
    def batches(self) -> Batches:
        """The batches of `streams.judge`."""
        return Batches(self.parts, self.reader, self.sizes)

    def places(self, rows: Iterable[int]) -> dict[int, str]:
        """Return where some rows are in the files."""
        wanted, start = sorted(set(rows)), 0
        found: dict[int, str] = {}
        for part, size in zip(self.parts, self.sizes, strict=True):
            inside = [row for row in wanted if start <= row < start + size]
            if inside:
                tables = list(self.reader.tables(part))
                every = [
                    f"{f'{Path(table.source).name}, ' if len(self.names) > 1 else ''}{self.unit} {place}"
                    for table in tables
                    for place in table.places
                ]
                found |= {row: every[row - start] for row in inside}
            start += size
        return found


def stream_of(chosen: argparse.Namespace) -> Stream:
    """Return the parts of the table that the options name."""
    check_forms(chosen)
    wanted = columns_of(chosen)
    reader = TableReader(chosen, wanted, chosen.drop_missing)
    files = files_of(chosen.file)
    if files[0].suffix.lower() not in PARQUET:
        every = _counts(reader, CsvParts(chosen.file, wanted), "line")
        together, sizes = _parts_of(range(len(every)), [each.of - each.n for each in every])
        lines: Any = CsvParts(chosen.file, wanted, [len(part) for part in together])
        return Stream(reader, lines, sizes, _together(every), "line", [str(chosen.file)])
    groups = [group for file in files for group in row_groups(file, wanted)]
    if not groups:
        raise InputError(f"{chosen.file}: there are no rows.")
    if chosen.drop_missing:
        every = _counts(reader, [[group] for group in groups], "row")
    else:
        every = [Dropped(0, group.n, {}) for group in groups]
    parts, sizes = _parts_of(groups, [each.of - each.n for each in every])
    return Stream(reader, parts, sizes, _together(every), "row", [str(file) for file in files])


def files_of(path: Path) -> list[Path]:
    """Return the file, or the Parquet files of a folder in the order of their names."""
    if not path.is_dir():
        return [path]
    found = sorted(file for file in path.iterdir() if file.suffix.lower() in PARQUET and file.is_file())
    if not found:
        raise InputError(f"{path}: there is no Parquet file (.parquet, .pq) in this folder.")
    return found


def _parts_of(groups: Sequence[Any], sizes: Sequence[int]) -> tuple[list[list[Any]], list[int]]:
    """Return consecutive groups of rows together, where they are small, and numbers of rows; none has a single one."""
    parts: list[list[Any]] = []
    totals: list[int] = []
    for group, size in zip(groups, sizes, strict=True):
        if parts and totals[-1] < _ROWS_OF_PART:
            parts[-1].append(group)
            totals[-1] += size
        else:
            parts.append([group])
            totals.append(size)
    if len(parts) > 1 and totals[-1] < 2:
        last, few = parts.pop(), totals.pop()
        parts[-1] += last
        totals[-1] += few
    return parts, totals


def _counts(reader: TableReader, parts: Iterable[Any], unit: str) -> list[Dropped]:
    found = []
    with progress(0, unit, label="rows", delay=2.0) as advance:
        for part in parts:
            found.append(reader.counted(part))
            advance(found[-1].of)
    if sum(each.of - each.n for each in found) < 2:
        raise InputError(f"{shown(str(reader.chosen.file))}: there are fewer than two rows without missing values.")
    return found


def _together(every: Sequence[Dropped]) -> Dropped:
    names = list(dict.fromkeys(name for each in every for name in each.missing))
    missing = {name: sum(each.missing.get(name, 0) for each in every) for name in names}
    return Dropped(sum(each.n for each in every), sum(each.of for each in every), missing)
