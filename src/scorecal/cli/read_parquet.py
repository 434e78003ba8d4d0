"""Columns of Parquet files, read in pieces.

What a file declares is checked before anything is allocated: the size of its footer, and whether its rows fit into
memory, since a few bytes of a file may stand for any number of equal values.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from .._lib.extras import needs
from . import arrow_values
from .columns import columns_by, place_of
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


def read_parquet(path: Path, numbers: Sequence[str], by: Sequence[str], targets: Sequence[str]) -> Table:
    """Read the named columns of a Parquet file."""
    try:
        import pyarrow
        from pyarrow import parquet
    except ImportError:
        raise needs("Parquet files need pyarrow", "cli") from None
    check_regular(path)
    _check_footer(path)
    limits = {
        "thrift_string_size_limit": _LARGEST_FOOTER,
        "thrift_container_size_limit": _MOST_IN_LIST,
        "page_checksum_verification": True,
    }
    try:
        with pyarrow.OSFile(str(path)) as raw:
            whole = parquet.ParquetFile(raw, **limits)
            schema = whole.schema_arrow
            labels = columns_by(str(path), schema.names, by, targets)
            types = _checked_types(path, schema, numbers, labels)
            # Equal texts are kept once, which may be long and many.
            texts = [name for name in labels if arrow_values.kind_of(types[name]) == "label"]
            file = parquet.ParquetFile(raw, metadata=whole.metadata, read_dictionary=texts, **limits)
            return _read(path, file, numbers, labels, types)
    except InputError:
        raise
    except (pyarrow.ArrowException, OSError, LookupError, ValueError) as error:
        what = next(iter(str(error).splitlines()), type(error).__name__)
        raise InputError(f"{path}: not a Parquet file, or a damaged or encrypted one ({what}).") from None


def _check_footer(path: Path) -> None:
    """A Parquet file ends with the size of its footer and a mark."""
    with open(path, "rb") as file:
        file.seek(-min(8, path.stat().st_size), 2)
        size, mark = int.from_bytes(file.read(4), "little"), file.read(4)
    if size > _LARGEST_FOOTER and mark in (b"PAR1", b"PARE"):
        raise InputError(f"{path}: its list of columns takes {size / 1e6:.0f} MB by its last bytes, more than is read.")


def _checked_types(path: Path, schema: Any, numbers: Sequence[str], labels: Mapping[str, bool]) -> dict[str, Any]:
    """Types of the columns that are used, if they can be."""
    for name in numbers:
        place_of(str(path), schema.names, name)
    types = {name: schema.field(name).type for name in (*numbers, *labels)}
    for name, found in types.items():
        if arrow_values.kind_of(found) not in (("number",) if name in numbers else _FORMS):
            what = "numbers" if name in numbers else "numbers, dates or labels"
            raise InputError(f"{path}, column {shown(name)}: holds {str(found)[:100]}, not {what}.")
    return types


def _read(path: Path, file: Any, numbers: Sequence[str], labels: Mapping[str, bool], types: Mapping[str, Any]) -> Table:
    n = file.metadata.num_rows
    if n == 0:
        raise InputError(f"{path}: there are no rows.")
    available = memory_for_data()
    needed = n * (_SIZE_OF_NUMBER * (1 + len(numbers)) + _SIZE_OF_LABEL * len(labels))
    check_memory(str(path), needed, available)
    columns = {name: np.empty(n) for name in numbers}
    kinds = {name: "label" if label else arrow_values.kind_of(types[name]) for name, label in labels.items()}
    regions = {name: np.empty(n, dtype=_FORMS[kind][0]) for name, kind in kinds.items()}
    start = 0
    for piece in file.iter_batches(_ROWS_AT_ONCE, columns=list(types), use_threads=False):
        rows = slice(start, start + piece.num_rows)
        for name in types:
            values = piece.column(piece.schema.get_field_index(name))
            check_memory(str(path), needed + values.nbytes, available)
            if name in numbers:
                if (lost := arrow_values.first_inexact(values)) is not None:
                    place = f"{path}, row {start + lost[0] + 1}, column {shown(name)}"
                    raise InputError(f"{place}: the value is {lost[1]}, which {INEXACT}.")
                columns[name][rows] = arrow_values.as_numbers(values)
            if name in labels:
                regions[name][rows] = _FORMS[kinds[name]][1](values)
        start = rows.stop
    if start != n:
        raise InputError(f"{path}: a damaged file, which declares {n} rows and holds {start}.")
    by, in_utc = _with_times(regions, types, labels)
    return Table(str(path), columns, by, "row", np.arange(1, n + 1), in_utc)


def _with_times(
    regions: dict[str, np.ndarray], types: Mapping[str, Any], labels: Mapping[str, bool]
) -> tuple[dict[str, np.ndarray], frozenset[str]]:
    """Columns of `--by`, with times in place of texts if all of these are times, and the names of those in UTC."""
    found, zoned = {}, set()
    for name, values in regions.items():
        kind = getattr(types[name], "value_type", types[name])  # of categories, theirs
        in_utc = values.dtype.kind == "M" and getattr(kind, "tz", None) is not None
        if values.dtype.kind == "O" and not labels[name]:
            values, in_utc = as_times(values.tolist()) or (values, False)
        found[name] = values
        if in_utc:
            zoned.add(name)
    return found, frozenset(zoned)
