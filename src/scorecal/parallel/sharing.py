"""Data that all tasks need, sent to every worker once."""

import shutil
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import lru_cache
from pathlib import Path
from pickle import PicklingError
from typing import Any, TypeVar

from .._lib.extras import needs

Result = TypeVar("Result")


@contextmanager
def on_file(shared: Any) -> Iterator[Path]:
    """Yield the path of a temporary file that holds `shared`, and delete it when the context ends."""
    try:
        from joblib import dump
    except ImportError:
        raise needs("`workers` need joblib", "reproduce") from None
    folder = Path(tempfile.mkdtemp(prefix="scorecal-"))
    try:
        try:
            dump(shared, folder / "shared")
        except (PicklingError, AttributeError, TypeError) as error:  # pickle raises all three
            raise TypeError(
                f"`workers` in other processes need functions and kernels that can be pickled: {error}. Likely cause: "
                "a function that is not defined in an importable module, such as a lambda."
            ) from None
        yield folder / "shared"
    finally:
        _load.cache_clear()  # a map may have run tasks in this process
        shutil.rmtree(folder, ignore_errors=True)


def from_file(path: Path, function: Callable[[Any, Any], Result], task: Any) -> Result:
    """Return function(shared, task), with `shared` loaded from the file."""
    return function(_load(path), task)


@lru_cache(maxsize=1)
def _load(path: Path) -> Any:
    """Load the file with NumPy arrays mapped into memory, so that processes of one machine share one copy."""
    from joblib import load

    try:
        return load(path, mmap_mode="r")
    except FileNotFoundError:
        raise FileNotFoundError(
            f"A worker cannot read {path}. Workers on other machines need a temporary folder that all can read: set "
            " the environment variable TMPDIR to it. On a dask cluster, give `client.map`, which needs none."
        ) from None
