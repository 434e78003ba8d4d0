"""The one way to write a file: all of it or nothing, so that what was there before is never lost."""

import os
import secrets
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from glob import escape
from pathlib import Path
from typing import BinaryIO

try:
    import fcntl
except ImportError:  # Windows, where a file that is open cannot be removed anyway
    fcntl = None  # type: ignore[assignment]

_SUFFIX = ".unfinished"


def write_whole(path: Path, content: str | bytes) -> None:
    """Write a file beside the path, and move it into place once all of it is on the disk.

    A link stays, and the file that it points to is replaced by one with the same owner and permissions. Devices and
    pipes are written to directly, and so is the file to which standard output goes. Any `OSError` is one sentence.
    """
    data = content.encode() if isinstance(content, str) else content
    with _explained(path):
        stream = _stream(path)
        if stream is not None:
            with open(stream, "wb", closefd=not isinstance(stream, int)) as file:
                file.write(data)
            return
        target = _target(path)
        _remove_leftovers(target)
        with _beside(target) as file:
            file.write(data)
            file.flush()
            _keep_owner_and_mode(file, target)
            os.fsync(file.fileno())
            if fcntl is None:
                file.close()
            os.replace(file.name, target)


def check_writable(path: Path) -> None:
    """Raise an `OSError` now, of one sentence, if it is already clear that `write_whole` would fail."""
    with _explained(path):
        if _stream(path) is None:
            with _beside(_target(path)):
                pass


def _stream(path: Path) -> int | Path | None:
    """The path if it is a device, a pipe or a socket; 1 or 2 if it is where this process prints; None for a file."""
    with suppress(OSError):
        found = os.stat(path)
        for descriptor in (1, 2):
            with suppress(OSError):
                if os.path.samestat(found, os.fstat(descriptor)):
                    return descriptor
        if not stat.S_ISREG(found.st_mode) and not stat.S_ISDIR(found.st_mode):
            return path
    return None


def _target(path: Path) -> Path:
    """The file behind all links; raise if it may not be replaced."""
    target = Path(os.path.realpath(path))
    if not target.parent.is_dir():
        raise FileNotFoundError(f"there is no folder {target.parent}")
    with suppress(FileNotFoundError):
        if stat.S_ISDIR(os.stat(path).st_mode):
            raise IsADirectoryError("it is a folder")
        if not os.access(path, os.W_OK):
            raise PermissionError("it is read-only")  # which alone would not keep it from being replaced
    return target


@contextmanager
def _beside(target: Path) -> Iterator[BinaryIO]:
    """Yield a new file in the folder of the target; it is removed at the end, unless it was moved into place."""
    unfinished = None
    try:
        while True:
            unfinished = target.with_name(f"{_start(target)}{secrets.token_hex(6)}{_SUFFIX}")
            file = open(unfinished, "xb")  # noqa: SIM115 (closed below)
            if _lock(file) is not False and unfinished.exists():
                break
            file.close()  # another run took it for a leftover before it was locked
        with file:
            yield file
    finally:
        if unfinished is not None:
            unfinished.unlink(missing_ok=True)


def _start(target: Path) -> str:
    return f".{target.name[:30]}."  # together with the rest no longer than names of files may be


def _remove_leftovers(target: Path) -> None:
    """Remove what runs that were killed in the middle of writing have left."""
    for left in target.parent.glob(f"{escape(_start(target))}*{_SUFFIX}"):
        with suppress(OSError), open(left, "r+b") as file:
            if _lock(file):
                left.unlink()


def _lock(file: BinaryIO) -> bool | None:
    """Lock the file for as long as it is open: True if done, False if another run has it, None if it cannot be."""
    if fcntl is None:
        return None
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError:  # not every file system has locks
        return None
    return True


def _keep_owner_and_mode(file: BinaryIO, target: Path) -> None:
    with suppress(FileNotFoundError):
        old = target.stat()
        if hasattr(os, "fchown"):
            with suppress(OSError):  # only root may give files away
                os.fchown(file.fileno(), old.st_uid, old.st_gid)
        os.chmod(file.name, stat.S_IMODE(old.st_mode))


@contextmanager
def _explained(path: Path) -> Iterator[None]:
    """Turn errors of the system into one that names the file, the reason, and what became of the old file."""
    try:
        yield
    except OSError as error:
        kept = " The file that was there is unchanged." if os.path.isfile(path) else ""
        raise OSError(f"{path} cannot be written: {error.strerror or error}.{kept}") from error
