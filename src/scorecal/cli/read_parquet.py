"""Columns of Parquet files, read in pieces.

What a file declares is checked before anything is allocated: the size of its footer, and whether its rows fit into
memory, since a few bytes of a file may stand for any number of equal values.
"""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from .._lib.extras import needs
from . import arrow_values
from .columns import Columns, Use, place_of, uses_of
from .files import check_regular
from .memory import check_memory, memory_for_data
from .table import InputError, Table, shown
from .values import INEXACT, as_times

_LARGEST_FOOTER = 2**26  # bytes; a million pieces of columns take about as much
_MOST_IN_LIST = 10**6
_ROWS_AT_ONCE = 2**16
_FORMS: Any = {  # of columns that divide rows into regions
    "number": (np.float64, arrow_values.as_numbers),
    "time": ("datetime64[us]", arrow_values.as_times),
    "label": (object, arrow_values.as_labels),
}
_SIZE_OF_NUMBER, _SIZE_OF_LABEL = 8, 80  # bytes in memory


def read_parquet(path: Path, wanted: Columns) -> Table:
    """Read the named columns of a Parquet file."""
    with _opened(path) as (raw, whole, limits):
        from pyarrow import parquet

        schema = whole.schema_arrow
        uses = uses_of(str(path), schema.names, wanted)
        types = _checked_types(path, schema, wanted, uses)
        # Equal texts are kept once, which may be long and many.
        texts = [use.name for use in uses if arrow_values.kind_of(types[use.name]) == "label"]
        file = parquet.ParquetFile(raw, metadata=whole.metadata, read_dictionary=texts, **limits)
        return _read(path, file, wanted.numbers, uses, types)


@contextmanager
def _opened(path: Path) -> Iterator[tuple[Any, Any, dict[str, Any]]]:
    """Open a Parquet file, with limits on what its footer may declare; raise `InputError` for what is none."""
    try:
        import pyarrow
        from pyarrow import parquet
    except ImportError:
        raise needs("Parquet files need pyarrow", "cli") from None
    check_regular(path)
    _check_footer(path)
    limits: dict[str, Any] = {
        "thrift_string_size_limit": _LARGEST_FOOTER,
        "thrift_container_size_limit": _MOST_IN_LIST,
        "page_checksum_verification": True,
    }
    try:
        with pyarrow.OSFile(str(path)) as raw:
            yield raw, parquet.ParquetFile(raw, **limits), limits
    except InputError:
        raise
    except (pyarrow.ArrowException, OSError, LookupError, ValueError) as error:
        what = next(iter(str(error).splitlines()), type(error).__name__)
        raise InputError(f"{path}: not a Parquet file, or a damaged or encrypted one ({what}).") from None


class RowGroup(NamedTuple):
    """A group of rows of a Parquet file: which it is, how many rows it has, and how many are before them."""

    path: str
    number: int
    n: int
    before: int


def row_groups(path: Path, wanted: Columns) -> list[RowGroup]:
    """Return the groups of rows of a file that has the columns, as its footer declares them."""
    with _opened(path) as (_, file, _):
        _checked_types(path, file.schema_arrow, wanted, [])
        sizes = [file.metadata.row_group(k).num_rows for k in range(file.metadata.num_row_groups)]
    before = np.cumsum([0, *sizes]).tolist()
    return [RowGroup(str(path), k, size, before[k]) for k, size in enumerate(sizes) if size]


def tables_of_group(group: RowGroup, wanted: Columns) -> Iterator[Table]:
    """Yield the columns of numbers of a group of rows, some rows at a time."""
    path, start = Path(group.path), group.before
    with _opened(path) as (_, file, _):
        for piece in file.iter_batches(
            _ROWS_AT_ONCE, row_groups=[group.number], columns=list(wanted.numbers), use_threads=False
        ):
            columns = {name: _numbers(path, start, name, piece) for name in wanted.numbers}
            places = np.arange(start + 1, start + 1 + piece.num_rows)
            yield Table(str(path), columns, {}, unit="row", places=places)
            start += piece.num_rows
    if start != group.before + group.n:
        raise InputError(f"{path}: a damaged file, which declares {group.n} rows in a group and holds others.")


def _numbers(path: Path, start: int, name: str, piece: Any) -> np.ndarray:
    """Numbers of a column of a piece of the file, the first row of which has the number `start`."""
    values = piece.column(piece.schema.get_field_index(name))
    if (lost := arrow_values.first_inexact(values)) is not None:
        place = f"{path}, row {start + lost[0] + 1}, column {shown(name)}"
        raise InputError(f"{place}: the value is {lost[1]}, which {INEXACT}.")
    return arrow_values.as_numbers(values)


def _check_footer(path: Path) -> None:
    """A Parquet file ends with the size of its footer and a mark."""
    with open(path, "rb") as file:
        file.seek(-min(8, path.stat().st_size), 2)
        size, mark = int.from_bytes(file.read(4), "little"), file.read(4)
    if size > _LARGEST_FOOTER and mark in (b"PAR1", b"PARE"):
        raise InputError(f"{path}: its list of columns takes {size / 1e6:.0f} MB by its last bytes, more than is read.")


def _checked_types(path: Path, schema: Any, wanted: Columns, uses: Sequence[Use]) -> dict[str, Any]:
    """Types of the columns that are used, if they can be."""
    numbers = wanted.numbers
    for name in numbers:
        place_of(str(path), schema.names, name)
    types = {name: schema.field(name).type for name in (*numbers, *(use.name for use in uses))}
    for name, found in types.items():
        if arrow_values.kind_of(found) not in (("number",) if name in numbers else _FORMS):
            what = "numbers" if name in numbers else "numbers, dates or labels"
            may_be_class = arrow_values.kind_of(found) == "label" and name in wanted.targets
            hint = " If targets are classes, give --classes." if may_be_class else ""
            raise InputError(f"{path}, column {shown(name)}: holds {str(found)[:100]}, not {what}.{hint}")
    return types


def _read(path: Path, file: Any, numbers: Sequence[str], uses: Sequence[Use], types: Mapping[str, Any]) -> Table:
    n = file.metadata.num_rows
    if n == 0:
        raise InputError(f"{path}: there are no rows.")
    available = memory_for_data()
    needed = n * (_SIZE_OF_NUMBER * (1 + len(numbers)) + _SIZE_OF_LABEL * len(uses))
    check_memory(str(path), needed, available)
    columns = {name: np.empty(n) for name in numbers}
    kinds = {use: _kind_of(use, types[use.name]) for use in uses}
    beside = {use: np.empty(n, dtype=_FORMS[kind][0]) for use, kind in kinds.items()}
    start = 0
    for piece in file.iter_batches(_ROWS_AT_ONCE, columns=list(types), use_threads=False):
        rows = slice(start, start + piece.num_rows)
        for name in types:
            values = piece.column(piece.schema.get_field_index(name))
            check_memory(str(path), needed + values.nbytes, available)
            if name in numbers:
                columns[name][rows] = _numbers(path, start, name, piece)
            for use in (use for use in uses if use.name == name):
                beside[use][rows] = _FORMS[kinds[use]][1](values)
        start = rows.stop
    if start != n:
        raise InputError(f"{path}: a damaged file, which declares {n} rows and holds {start}.")
    parts, in_utc = _with_times(beside, types)
    return Table(str(path), columns, unit="row", places=np.arange(1, n + 1), in_utc=in_utc, **parts)


def _kind_of(use: Use, arrow_type: Any) -> str:
    """Groups are labels and not numbers: two long ones could become equal."""
    return "label" if use.as_label or use.role in ("group", "labels") else arrow_values.kind_of(arrow_type)


def _with_times(
    beside: Mapping[Use, np.ndarray], types: Mapping[str, Any]
) -> tuple[dict[str, dict[str, np.ndarray]], frozenset[str]]:
    """Columns by role and name, with times in place of texts if all of these are times; and names of those in UTC."""
    parts: dict[str, dict[str, np.ndarray]] = {"by": {}, "group": {}, "time": {}, "labels": {}}
    zoned = set()
    for use, values in beside.items():
        kind = getattr(types[use.name], "value_type", types[use.name])  # of categories, theirs
        in_utc = values.dtype.kind == "M" and getattr(kind, "tz", None) is not None
        if values.dtype.kind == "O" and not use.as_label and use.role not in ("group", "labels"):
            values, in_utc = as_times(values.tolist()) or (values, False)
        parts[use.role][use.name] = values
        if in_utc:
            zoned.add(use.name)
    return parts, frozenset(zoned)
