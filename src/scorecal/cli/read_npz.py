"""Scores from NPZ files, which are never unpickled."""

import zipfile
from pathlib import Path

import numpy as np

from ..predictions import Scores
from .read_table import InputError

_NEEDED = ("targets", "scores", "base_scores", "base_points")


def read_npz(path: Path) -> tuple[Scores, np.ndarray]:
    """Predictions and targets from arrays `targets` (n, d), `scores` (n, d), `base_scores` (n, m, d), `base_points`."""
    try:
        with np.load(path, allow_pickle=False) as file:
            missing = [name for name in _NEEDED if name not in file.files]
            if missing:
                raise InputError(
                    f"{path}: there is no array {missing[0]!r}; needed are {', '.join(_NEEDED)}, and there are "
                    f"{', '.join(file.files) or 'none'}."
                )
            targets, scores, base_scores, base_points = (file[name] for name in _NEEDED)
    except (zipfile.BadZipFile, EOFError, TypeError, AttributeError):
        raise InputError(f"{path}: not an NPZ file.") from None
    except ValueError as error:
        if isinstance(error, InputError):
            raise
        raise InputError(f"{path}: cannot be read as arrays of numbers ({error}).") from None
    for name, part in zip(_NEEDED, (targets, scores, base_scores, base_points), strict=True):
        if part.dtype.kind not in "fiu" or part.ndim == 0 or not np.all(np.isfinite(part)):
            raise InputError(
                f"{path}, array {name!r}: must hold finite numbers, but has {part.dtype} of shape {part.shape}."
            )
    targets, scores = (part[:, None] if part.ndim == 1 else part for part in (targets, scores))
    return Scores(scores, base_scores, base_points), targets
