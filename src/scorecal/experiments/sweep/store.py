"""Results on disk: one SQLite file, one writer, every commit durable."""

import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path

Key = tuple[str, int, int, str]  # model, n, repetition, test

_SCHEMA = """
create table if not exists settings (name text primary key, value text not null) without rowid;
create table if not exists results (
    model text not null, n integer not null, repetition integer not null, test text not null, pvalue real not null,
    primary key (model, n, repetition, test)
) without rowid;
create table if not exists runs (what text not null, workers text not null, n_results integer not null,
                                 seconds real not null);
"""


class StoreError(OSError):
    """The file of results cannot be used, or cannot be written."""


@dataclass(frozen=True)
class Store:
    """The file of results, open for this run alone."""

    path: Path
    connection: sqlite3.Connection


@contextmanager
def open_store(path: Path, settings: Mapping[str, object]) -> Iterator[Store]:
    """Open the file for this run alone, and raise if its results were made with other settings."""
    with _explained(path):
        connection = sqlite3.connect(path, timeout=0, isolation_level=None)
    with closing(connection):
        with _explained(path):
            # The lock is held until the connection is closed, or the process dies.
            connection.execute("pragma locking_mode = exclusive")
            connection.execute("pragma synchronous = extra")
            connection.execute("begin exclusive")
            for statement in _SCHEMA.split(";"):
                connection.execute(statement)
            _check_settings(connection, path, {name: str(value) for name, value in settings.items()})
            connection.execute("commit")
        yield Store(path, connection)


def _check_settings(connection: sqlite3.Connection, path: Path, wanted: Mapping[str, str]) -> None:
    found = dict(connection.execute("select name, value from settings"))
    if not found:
        connection.executemany("insert into settings values (?, ?)", sorted(wanted.items()))
    elif found != wanted:
        differences = ", ".join(
            f"{name} {found.get(name)} there and {wanted.get(name)} here"
            for name in sorted(found.keys() | wanted.keys())
            if found.get(name) != wanted.get(name)
        )
        raise StoreError(f"{path} holds results made with other settings ({differences}). Use another file.")


def read_results(store: Store) -> dict[Key, float]:
    """Return all p-values in the file by (model, n, repetition, test)."""
    with _explained(store.path):
        rows = store.connection.execute("select model, n, repetition, test, pvalue from results").fetchall()
    return {(model, n, repetition, test): pvalue for model, n, repetition, test, pvalue in rows}


def record(store: Store, results: Sequence[tuple[Key, float]]) -> None:
    """Add results, all or none; raise if one is already there, which is a mistake of the caller."""
    with _explained(store.path):
        store.connection.execute("begin")
        rows = [(*key, pvalue) for key, pvalue in results]
        store.connection.executemany("insert into results values (?, ?, ?, ?, ?)", rows)
        store.connection.execute("commit")


def record_run(store: Store, what: str, workers: str, n_results: int, seconds: float) -> None:
    """Record what a run did, on which workers, and how long it took."""
    with _explained(store.path):
        store.connection.execute("insert into runs values (?, ?, ?, ?)", (what, workers, n_results, seconds))


@contextmanager
def _explained(path: Path) -> Iterator[None]:
    """Turn errors of SQLite into ones that name the file, and say what became of the results and what to do."""
    try:
        yield
    except sqlite3.Error as error:
        name = getattr(error, "sqlite_errorname", "")
        if name.startswith("SQLITE_CONSTRAINT"):
            raise StoreError(f"{path} already holds one of these results. Likely cause: a task ran twice.") from error
        if name.startswith("SQLITE_BUSY"):
            raise StoreError(f"{path} is in use by another run. Wait for it to end, or use another file.") from error
        if name.startswith(("SQLITE_FULL", "SQLITE_IOERR")):
            raise StoreError(
                f"{path} could not be written: {error}. Likely cause: the disk is full. Recorded results are safe; "
                "make room and run the same again to continue."
            ) from error
        if name.startswith(("SQLITE_NOTADB", "SQLITE_CORRUPT")):
            raise StoreError(f"{path} is not a readable file of results: {error}. Use another file.") from error
        raise StoreError(f"{path} cannot be used: {error}. Likely cause: a missing or read-only folder.") from error
