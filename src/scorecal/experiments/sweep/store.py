"""Results on disk: one SQLite file, one writer, every commit durable."""

import sqlite3
import zlib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path

from .damage import StoreError, check_not_lost, check_whole, damaged, explained

Key = tuple[str, int, int, str]  # model, n, repetition, test

_APPLICATION, _FORMAT = int.from_bytes(b"scal"), 2  # 1 had no fingerprints and no checksums
_SCHEMA = """
create table settings (name text primary key, value text not null) without rowid;
create table fingerprints (
    kind text not null, name text not null, parts text not null, primary key (kind, name, parts)
) without rowid;
create table results (
    model text not null, n integer not null, repetition integer not null, test text not null, pvalue real not null,
    checksum integer not null, primary key (model, n, repetition, test)
) without rowid;
create table runs (what text not null, workers text not null, n_results integer not null, seconds real not null);
"""


@dataclass(frozen=True)
class Store:
    """The file of results, open for this run alone."""

    path: Path
    connection: sqlite3.Connection


@contextmanager
def open_store(path: Path, settings: Mapping[str, object]) -> Iterator[Store]:
    """Open the file for this run alone; raise if it is damaged, of another kind, or made with other settings."""
    check_not_lost(path)
    with explained(path):
        connection = sqlite3.connect(path, timeout=0, isolation_level=None)
    with closing(connection):
        with explained(path):
            # The lock is held until the connection is closed, or the process dies.
            connection.execute("pragma locking_mode = exclusive")
            connection.execute("pragma synchronous = extra")
            connection.execute("begin exclusive")
            wanted = {name: str(value) for name, value in settings.items()}
            if _number(connection, "schema_version") == 0:
                _create(connection, wanted)
            else:
                _check_kind(connection, path)
                check_whole(connection, path)
                _check_settings(connection, path, wanted)
            connection.execute("commit")
        yield Store(path, connection)


def _number(connection: sqlite3.Connection, pragma: str) -> int:
    (number,) = connection.execute(f"pragma {pragma}").fetchone()
    return int(number)


def _create(connection: sqlite3.Connection, settings: Mapping[str, str]) -> None:
    for statement in _SCHEMA.split(";"):
        connection.execute(statement)
    connection.execute(f"pragma application_id = {_APPLICATION}")
    connection.execute(f"pragma user_version = {_FORMAT}")
    connection.executemany("insert into settings values (?, ?)", sorted(settings.items()))


def _check_kind(connection: sqlite3.Connection, path: Path) -> None:
    application, version = _number(connection, "application_id"), _number(connection, "user_version")
    if application == _APPLICATION and version == _FORMAT:
        return
    tables = {name for (name,) in connection.execute("select name from sqlite_master")}
    if application == _APPLICATION or {"settings", "results", "runs"} <= tables:
        raise StoreError(
            f"{path} was written by another version of scorecal, in format {version or 1} instead of {_FORMAT}: it "
            "does not tell which code its results are of. Use another file."
        )
    raise StoreError(f"{path} is a database of something else, not a file of results. Use another file.")


def _check_settings(connection: sqlite3.Connection, path: Path, wanted: Mapping[str, str]) -> None:
    found = dict(connection.execute("select name, value from settings"))
    if found != wanted:
        differences = ", ".join(
            f"{name} {found.get(name)} there and {wanted.get(name)} here"
            for name in sorted(found.keys() | wanted.keys())
            if found.get(name) != wanted.get(name)
        )
        raise StoreError(f"{path} holds results made with other settings ({differences}). Use another file.")


def read_results(store: Store) -> dict[Key, float]:
    """Return all p-values in the file by (model, n, repetition, test)."""
    with explained(store.path):
        query = "select model, n, repetition, test, pvalue, checksum from results"
        rows = store.connection.execute(query).fetchall()
    for *row, checksum in rows:
        if checksum != _checksum(row):
            raise damaged(store.path, "a result does not match its checksum")
    return {(model, n, repetition, test): pvalue for model, n, repetition, test, pvalue, _ in rows}


def record(store: Store, results: Sequence[tuple[Key, float]]) -> None:
    """Add results, all or none; raise if one is already there, which is a mistake of the caller."""
    with explained(store.path):
        store.connection.execute("begin")
        rows = [(*key, pvalue, _checksum((*key, pvalue))) for key, pvalue in results]
        store.connection.executemany("insert into results values (?, ?, ?, ?, ?, ?)", rows)
        store.connection.execute("commit")


def _checksum(row: Sequence[object]) -> int:
    return zlib.crc32(repr(tuple(row)).encode())


def record_run(store: Store, what: str, workers: str, n_results: int, seconds: float) -> None:
    """Record what a run did, on which workers, and how long it took."""
    with explained(store.path):
        store.connection.execute("insert into runs values (?, ?, ?, ?)", (what, workers, n_results, seconds))
