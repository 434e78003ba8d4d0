"""Scores from NPZ files, which are never unpickled and take no more memory than they declare.

An array is read only if its sizes agree: that of its shape and type, what the archive declares, and the bytes that are
there, from which the compression that NumPy uses makes at most 1032 times as many. All arrays together must fit into
memory. No file that NumPy wrote, and that could be tested, is refused by this.
"""

import errno
import io
import math
import tokenize
import zipfile
import zlib
from pathlib import Path
from typing import IO

import numpy as np
from numpy.lib import format as npy

from ..predictions import Scores
from .files import check_regular
from .memory import check_memory, memory_for_data
from .table import InputError
from .values import INEXACT, inexact

_NEEDED = ("targets", "scores", "base_scores", "base_points")
_LARGEST_READ = 2**24  # bytes at once: the list of arrays in an archive is read as a whole
_MOST_BY_DEFLATE = 1032
_DAMAGED = (
    zipfile.BadZipFile,
    zlib.error,
    EOFError,
    NotImplementedError,  # an unknown kind of compression
    OverflowError,
    RuntimeError,
    ValueError,
    tokenize.TokenError,  # in the header of an array
)


def read_npz(path: Path) -> tuple[Scores, np.ndarray]:
    """Predictions and targets from arrays `targets` (n, d), `scores` (n, d), `base_scores` (n, m, d), `base_points`."""
    check_regular(path)
    try:
        with _BoundedFile(path) as file, zipfile.ZipFile(file) as archive:
            members = _members(path, archive)
            headers = {name: _checked_header(path, archive, name, member) for name, member in members.items()}
            _check_shapes(path, {name: shape for name, (shape, _) in headers.items()})
            check_memory(str(path), sum(size for _, size in headers.values()), memory_for_data())
            arrays = []
            for name, member in members.items():
                with archive.open(member) as content:
                    arrays.append(_checked(path, name, npy.read_array(content, allow_pickle=False)))
    except InputError:
        raise
    except _DAMAGED as error:
        raise InputError(f"{path}: not an NPZ file, or a damaged one ({error}).") from None
    except OSError as error:
        if error.errno != errno.EINVAL:
            raise
        raise InputError(f"{path}: not an NPZ file, or a damaged one (a place before its first byte).") from None
    targets, scores, base_scores, base_points = arrays
    targets, scores = (part[:, None] if part.ndim == 1 else part for part in (targets, scores))
    return Scores(scores, base_scores, base_points), targets


class _BoundedFile(io.FileIO):
    """A file that is not read in pieces as large as a hostile archive may ask for."""

    def read(self, size: int | None = -1, /) -> bytes:
        if size is not None and size > _LARGEST_READ:
            raise zipfile.BadZipFile("its list of arrays is too long")
        return super().read(size)


def _members(path: Path, archive: zipfile.ZipFile) -> dict[str, zipfile.ZipInfo]:
    there = {member.filename.removesuffix(".npy"): member for member in archive.infolist()}
    for name in _NEEDED:
        if name not in there:
            raise InputError(
                f"{path}: there is no array {name!r}; needed are {', '.join(_NEEDED)}, and there are "
                f"{', '.join(sorted(there)[:20]) or 'none'}."
            )
    return {name: there[name] for name in _NEEDED}


def _checked_header(
    path: Path, archive: zipfile.ZipFile, name: str, member: zipfile.ZipInfo
) -> tuple[tuple[int, ...], int]:
    """Shape and number of bytes of an array; raise if they cannot all be there, or are no numbers."""
    if member.flag_bits & 1:
        raise InputError(f"{path}, array {name!r}: is encrypted; save it without a password.")
    with archive.open(member) as content:
        shape, dtype, start = _header(content)
    if dtype.kind not in "fiu" or dtype.itemsize > 8 or not shape:
        raise InputError(
            f"{path}, array {name!r}: must hold numbers of at most 64 bits, but has {dtype} of shape {shape}."
        )
    size = math.prod(shape) * dtype.itemsize
    most = member.compress_size * (1 if member.compress_type == zipfile.ZIP_STORED else _MOST_BY_DEFLATE)
    if min(shape) < 0 or start + size != member.file_size or member.file_size > most:
        raise InputError(
            f"{path}, array {name!r}: has {dtype} of shape {shape} by its header, but the file does not hold as much. "
            "Likely causes: it is damaged, or malicious."
        )
    return shape, size


def _check_shapes(path: Path, shapes: dict[str, tuple[int, ...]]) -> None:
    """Raise unless the arrays have the same rows and base points."""
    targets, scores, base_scores, base_points = shapes.values()
    if not targets[0] == scores[0] == base_scores[0] or base_scores[1:2] != base_points[:1]:
        found = ", ".join(f"{name} {shape}" for name, shape in shapes.items())
        raise InputError(
            f"{path}: the arrays do not fit together; they must have shapes targets (n, d), scores (n, d), base_scores "
            f"(n, m, d) and base_points (m, d), but have {found}."
        )


def _header(content: IO[bytes]) -> tuple[tuple[int, ...], np.dtype, int]:
    version = npy.read_magic(content)
    if version not in ((1, 0), (2, 0)):  # NumPy writes others only for records
        raise ValueError(f"version {version} of arrays is not for numbers")
    read = npy.read_array_header_1_0 if version == (1, 0) else npy.read_array_header_2_0
    shape, _, dtype = read(content)
    return shape, dtype, content.tell()


def _checked(path: Path, name: str, part: np.ndarray) -> np.ndarray:
    """The array in the byte order of this machine, if all its numbers can be used."""
    if not np.all(np.isfinite(part)):
        raise InputError(f"{path}, array {name!r}: must hold finite numbers, but has some that are not.")
    if part.dtype.kind in "iu" and np.any(inexact(part)):
        raise InputError(f"{path}, array {name!r}: holds {part[inexact(part)][0]}, which {INEXACT}.")
    return np.asarray(part, dtype=part.dtype.newbyteorder("="))
