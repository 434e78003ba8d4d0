"""Columns of CSV files; what is not used is never held in memory."""

import csv
import math
from array import array
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from itertools import chain, islice
from pathlib import Path

import numpy as np

from .columns import Columns, Use, place_of, uses_of
from .files import Lines, open_text, source_of
from .memory import check_memory, memory_for_data
from .table import InputError, Table, shown
from .values import Decimals, as_labels, as_values, exact_number, known_texts

_SIZE_OF_NUMBER, _SIZE_OF_TEXT = 8, 64  # bytes in memory; of a text without its characters


def read_csv(path: Path, wanted: Columns) -> tuple[Table, list[str]]:
    """Read the named columns of a table in text, and say what should be known about how it was read."""
    source = source_of(path)
    with _opened(path) as (header, rows, decimals):
        places = {name: place_of(source, header, name) for name in wanted.numbers}
        uses = uses_of(source, header, wanted)
        texts = {use.name: header.index(use.name) for use in uses if not _is_number(use, places)}
        at, columns, read = _collect(rows, places, texts, decimals, source, wanted)
    said = [f"Numbers have decimal commas, as {decimals.with_comma}."] if decimals.with_comma else []
    parts: dict[str, dict[str, np.ndarray]] = {"by": {}, "group": {}, "time": {}, "labels": {}}
    in_utc = set()
    for use in uses:
        name, found = use.name, parts[use.role]
        if use.as_label:
            found[name] = as_labels([text.strip() or None for text in read[name]])
        elif use.role in ("group", "labels"):  # not as numbers: two long ones could become equal
            found[name] = as_labels(known_texts(read[name]))
        elif _is_number(use, places):
            found[name] = columns[name]
        else:
            found[name], has_zones, with_comma = as_values(read[name], decimals)
            if has_zones:
                in_utc.add(name)
            if with_comma and not decimals.with_comma:
                said.append(f"Numbers in column {shown(name)} have decimal commas, as {with_comma}.")
    return Table(source, columns, unit="line", places=at, in_utc=frozenset(in_utc), **parts), said


def tables_of_csv(path: Path, wanted: Columns, n_rows: int) -> Iterator[Callable[[], Table]]:
    """Yield so many rows at a time, as functions that make tables of their numbers."""
    source = source_of(path)
    with _opened(path) as (header, rows, decimals):
        places = {name: place_of(source, header, name) for name in wanted.numbers}
        while some := list(islice(rows, n_rows)):
            yield partial(_table_of, some, places, decimals, source, wanted)


def _table_of(
    rows: list[tuple[int, list[str]]], places: Mapping[str, int], decimals: Decimals, source: str, wanted: Columns
) -> Table:
    at, columns, _ = _collect(iter(rows), places, {}, decimals, source, wanted)
    return Table(source, columns, {}, unit="line", places=at)


@contextmanager
def _opened(path: Path) -> Iterator[tuple[list[str], Iterator[tuple[int, list[str]]], Decimals]]:
    """Open a table in text; yield its header, its rows with their lines, and the form of its decimals, for a check."""
    source = source_of(path)
    with open_text(path) as file:
        lines = Lines(file, source)
        first = next((line for line in lines if line.strip()), None)
        if first is None:
            raise InputError(f"{source}: the file is empty; the first line must hold the names of the columns.")
        delimiter = max(",;\t", key=lambda mark: _n_columns(first, mark))
        rows = _rows(lines, first, delimiter, source)
        header = [name.strip() for name in next(rows)[1]]
        decimals = Decimals(may_be_commas=delimiter != ",")
        yield header, _of_one_width(rows, len(header), source), decimals
    try:
        decimals.check()
    except InputError as error:
        raise InputError(f"{source}: {error}") from None


def _is_number(use: Use, numbers: Mapping[str, int]) -> bool:
    """Whether the column is read as numbers already."""
    return use.role not in ("group", "labels") and not use.as_label and use.name in numbers


def _collect(
    rows: Iterator[tuple[int, list[str]]],
    numbers: Mapping[str, int],
    texts: Mapping[str, int],
    decimals: Decimals,
    source: str,
    wanted: Columns,
) -> tuple[np.ndarray, dict[str, np.ndarray], dict[str, list[str]]]:
    """Lines, numbers and texts of all rows, from the places of columns; raise if there are none, or too many."""
    at, columns = array("q"), {name: array("d") for name in numbers}
    read: dict[str, list[str]] = {name: [] for name in texts}
    held, available = 0, memory_for_data()
    size = _SIZE_OF_NUMBER * (1 + len(numbers)) + _SIZE_OF_TEXT * len(texts)
    for line, row in rows:
        for name, place in numbers.items():
            try:
                columns[name].append(exact_number(row[place], decimals))
            except InputError as error:
                known = any(map(math.isfinite, columns[name]))  # then it is a slip among numbers
                hint = " If targets are classes, give --classes." if name in wanted.targets and not known else ""
                raise InputError(f"{source}, line {line}, column {shown(name)}: {error}{hint}") from None
        for name, place in texts.items():
            read[name].append(row[place])
            held += len(row[place])
        at.append(line)
        held += size
        if held > available:
            check_memory(source, held, available)
    if not at:
        raise InputError(f"{source}: there are no rows below the header.")
    return np.array(at), {name: np.frombuffer(values) for name, values in columns.items()}, read


def _n_columns(line: str, delimiter: str) -> int:
    """Number of names in the header, were this the delimiter; 1 if a name would be too long for a field."""
    try:
        return len(next(csv.reader([line], delimiter=delimiter)))
    except csv.Error:
        return 1


def _rows(lines: Lines, first: str, delimiter: str, source: str) -> Iterator[tuple[int, list[str]]]:
    """Rows that are not empty, from the header on, each with the number of its first line."""
    reader = csv.reader(chain([first], lines), delimiter=delimiter, strict=True)
    line = lines.number
    try:
        for row in reader:
            lines.row_is_complete()
            if len(row) > 1 or (row and row[0].strip()):
                yield line, row
            line = lines.number + 1
    except csv.Error as error:
        raise InputError(f"{source}, line {line}: {error}; likely cause: a quote that is not closed.") from None


def _of_one_width(rows: Iterator[tuple[int, list[str]]], width: int, source: str) -> Iterator[tuple[int, list[str]]]:
    for line, row in rows:
        if len(row) != width:
            raise InputError(
                f"{source}, line {line}: {len(row)} values, where the header has {width} names. Likely causes: a "
                "decimal comma, or a text with a comma but without quotes."
            )
        yield line, row
