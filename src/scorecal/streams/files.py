"""Sums in files: one NPZ with the arrays, and the rest as JSON in it; no pickle, so that a file cannot run anything."""

from __future__ import annotations

import io
import json
import zipfile
import zlib
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import Any

import numpy as np
from array_api_compat import is_array_api_obj, is_numpy_array

from .._lib.files import write_whole

_VERSION = 1


class FileError(ValueError):
    """The reason, in one line, why a file of sums cannot be used."""


def save(path: Path, kind: str, value: Any) -> None:
    """Write dataclasses, mappings, sequences, arrays, numbers and texts to a file, all of it or nothing."""
    arrays: dict[str, np.ndarray] = {}
    head = json.dumps({"scorecal": kind, "version": _VERSION, "value": _packed(value, arrays)})
    content = io.BytesIO()
    np.savez(content, head=np.frombuffer(head.encode(), dtype=np.uint8), **arrays)  # type: ignore[arg-type]
    write_whole(path, content.getvalue())


def load(path: Path, kind: str, known: Mapping[str, type]) -> Any:
    """Return what such a file holds; dataclasses are made of the `known` ones only."""
    arrays, head = _read(path)
    if head["version"] != _VERSION:
        raise FileError(f"{path}: made by another version of scorecal, in form {head['version']} and not {_VERSION}.")
    if head["scorecal"] != kind:
        raise FileError(f"{path}: holds {head['scorecal']}, not {kind}.")
    try:
        return _unpacked(head["value"], arrays, known)
    except (LookupError, TypeError, ValueError) as error:
        raise _damaged(path, error) from None


def kind_of(path: Path) -> str:
    """Return what a file of sums holds."""
    return str(_read(path)[1]["scorecal"])


def _read(path: Path) -> tuple[dict[str, np.ndarray], dict[str, Any]]:
    try:
        with np.load(path, allow_pickle=False) as held:
            arrays = {name: held[name] for name in held.files}
        head = json.loads(arrays.pop("head").tobytes())
        return arrays, {name: head[name] for name in ("scorecal", "version", "value")}
    except (AttributeError, EOFError, LookupError, TypeError, ValueError, zipfile.BadZipFile, zlib.error) as error:
        raise _damaged(path, error) from None


def _damaged(path: Path, error: Exception) -> FileError:
    what = next(iter(str(error).splitlines()), type(error).__name__)
    return FileError(f"{path}: not a file of sums, or a damaged one ({what}).")


def _packed(value: Any, arrays: dict[str, np.ndarray]) -> Any:
    if is_array_api_obj(value):
        if not is_numpy_array(value):
            raise TypeError("`state` is for predictions in NumPy: leave it out for arrays of other libraries.")
        name = f"a{len(arrays)}"
        arrays[name] = value
        return {"array": name}
    if is_dataclass(value):
        parts = {each.name: _packed(getattr(value, each.name), arrays) for each in fields(value)}
        return {"of": type(value).__name__, "parts": parts}
    if isinstance(value, Mapping):
        return {"mapping": {name: _packed(each, arrays) for name, each in value.items()}}
    if isinstance(value, list | tuple):
        return [_packed(each, arrays) for each in value]
    return value.item() if isinstance(value, np.generic) else value


def _unpacked(value: Any, arrays: Mapping[str, np.ndarray], known: Mapping[str, type]) -> Any:
    if isinstance(value, list):
        return [_unpacked(each, arrays, known) for each in value]
    if not isinstance(value, dict):
        return value
    if "array" in value:
        return arrays[value["array"]]
    if "mapping" in value:
        return {name: _unpacked(each, arrays, known) for name, each in value["mapping"].items()}
    parts = {name: _unpacked(each, arrays, known) for name, each in value["parts"].items()}
    return known[value["of"]](**parts)
