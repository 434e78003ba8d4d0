"""Files, compressed files and standard input as text, in lines of bounded length."""

import gzip
import io
import sys
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TextIO

from .table import InputError

_LONGEST = 2**24  # characters: some million columns
_STANDARD_INPUT = Path("-")


def source_of(path: Path) -> str:
    """The name of a file for messages."""
    return "standard input" if path == _STANDARD_INPUT else str(path)


def check_regular(path: Path) -> None:
    """Raise for a folder, a pipe or a device; a file that does not exist raises on its own."""
    path.stat()
    if not path.is_file():
        raise InputError(f"{path}: not a file but a {'folder' if path.is_dir() else 'pipe or a device'}.")


@contextmanager
def open_text(path: Path) -> Iterator[TextIO]:
    """Open a text file, a compressed one (.gz), or standard input (-); raise `InputError` for what is no text."""
    source = source_of(path)
    try:
        if path == _STANDARD_INPUT:
            given = getattr(sys.stdin, "buffer", None)
            if given is None:
                raise InputError("standard input is closed; give the name of a file in place of -.")
            file = io.TextIOWrapper(given, encoding="utf-8-sig", newline="")
            try:
                yield file
            finally:
                file.detach()  # it is not ours to close
        elif path.suffix.lower() == ".gz":
            with gzip.open(path, "rt", newline="", encoding="utf-8-sig") as file:
                yield file
        else:
            with open(path, newline="", encoding="utf-8-sig") as file:
                yield file
    except UnicodeDecodeError:
        raise InputError(f"{source}: not a text file in UTF-8.") from None
    except (EOFError, gzip.BadGzipFile, zlib.error) as error:
        raise InputError(f"{source}: not a gzip file, or a damaged one ({error}).") from None


class Lines:
    """Iterate over the lines of a text file, and refuse rows that are too long to be held in memory."""

    def __init__(self, file: TextIO, source: str) -> None:
        self._file = file
        self._source = source
        self._left = _LONGEST
        self.number = 0

    def __iter__(self) -> "Lines":
        return self

    def __next__(self) -> str:
        line = self._file.readline(self._left + 1)
        if not line:
            raise StopIteration
        self.number += 1
        self._left -= len(line)
        if self._left < 0:
            raise InputError(
                f"{self._source}, line {self.number}: the row has more than {_LONGEST} characters. Likely causes: a "
                "quote that is not closed, or no table at all."
            )
        if "\0" in line:
            raise InputError(
                f"{self._source}, line {self.number}: there is a NUL character; text must be in UTF-8, not UTF-16."
            )
        return line

    def row_is_complete(self) -> None:
        """Say that what follows belongs to another row."""
        self._left = _LONGEST
