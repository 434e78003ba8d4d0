"""Warnings that point to the line of the user, however deep they come from."""

from __future__ import annotations

import functools
import sys
import warnings
from pathlib import Path

import numpy as np

# Decorators of the standard library and of NumPy stand between frames of this package.
_INSIDE = (str(Path(__file__).parents[1]), functools.__file__, str(Path(np.__file__).parent))


def warn_user(message: str) -> None:
    """`warnings.warn` at the first frame outside this package."""
    level = 1
    frame = sys._getframe(1)
    while frame.f_back is not None and frame.f_code.co_filename.startswith(_INSIDE):
        frame, level = frame.f_back, level + 1
    warnings.warn(message, stacklevel=level + 1)
