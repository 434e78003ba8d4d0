"""Errors of files of results, each in a sentence: a damaged file, a lost one, or a file of another kind."""

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

_JOURNAL = bytes.fromhex("d9d505f920a163d7")  # the first bytes of a rollback journal of SQLite
_LEAST_SIZE = 100  # bytes of the header of a database; SQLite takes a shorter file for a new one, and writes over it
_UNREADABLE = ("", "SQLITE_CORRUPT", "SQLITE_ERROR", "SQLITE_MISMATCH", "SQLITE_SCHEMA")


class StoreError(OSError):
    """The file of results cannot be used, or cannot be written."""


def damaged(path: Path, what: object) -> StoreError:
    """Error for a file of results, some of whose bytes are lost or overwritten."""
    shown = "".join(letter if letter.isprintable() else "?" for letter in str(what))  # it may quote damaged bytes
    return StoreError(
        f"{path} is damaged: {shown}. Likely causes: a copy that did not finish, or a failing disk. Put back a copy "
        "from before, or delete it and run again: the same results come out."
    )


def _of_another_kind(path: Path) -> StoreError:
    return StoreError(
        f"{path} is no file of results: it is of another kind, or its beginning was overwritten. Use another file, or "
        "put back a copy of this one from before."
    )


def check_not_lost(path: Path) -> None:
    """Raise if a file is too short to be a database, and is not one that was about to be made.

    An empty or missing one is new, unless its journal says that it was not.
    """
    journal = path.with_name(f"{path.name}-journal")
    size = path.stat().st_size if path.is_file() else 0
    if size >= _LEAST_SIZE:
        return
    header = b""
    if journal.exists():
        with open(journal, "rb") as file:
            header = file.read(20)
    n_pages = int.from_bytes(header[16:20])  # before the transaction that was cut off; none: it was to make the file
    if not header.startswith(_JOURNAL):
        if size > 0:
            raise _of_another_kind(path)
    elif n_pages > 0:
        found = f"has {size} bytes" if size else "is empty"
        raise StoreError(
            f"{path} {found}, but {journal.name} beside it says that it held {n_pages} pages: its results are lost. "
            "Put back a copy from before, or delete both and run again: the same results come out."
        )


def check_whole(connection: sqlite3.Connection, path: Path) -> None:
    """Raise unless tables can be read to their end."""
    (found,) = connection.execute("pragma quick_check(1)").fetchone()
    if found != "ok":
        raise damaged(path, " ".join(found.split()))


@contextmanager
def explained(path: Path) -> Iterator[None]:
    """Turn errors of SQLite into ones that name the file, and say what became of the results and what to do."""
    try:
        yield
    except UnicodeDecodeError as error:
        raise damaged(path, "text in it cannot be read") from error
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
        if name.startswith("SQLITE_NOTADB"):
            raise _of_another_kind(path) from error
        if name in _UNREADABLE or name.startswith("SQLITE_CORRUPT"):
            raise damaged(path, error) from error
        raise StoreError(f"{path} cannot be used: {error}. Likely cause: a missing or read-only folder.") from error
