"""Warnings that point to the user's line, however deep in the package they arise."""

import functools
import sys
import warnings
from pathlib import Path

import numpy as np

# Frames of `functools` and NumPy decorators lie between frames of this package.
_INSIDE = (str(Path(__file__).parents[1]), functools.__file__, str(Path(np.__file__).parent))


def warn_user(message: str) -> None:
    """Warn, pointing to the first frame outside this package."""
    level = 1
    frame = sys._getframe(1)
    while frame.f_back is not None and frame.f_code.co_filename.startswith(_INSIDE):
        frame, level = frame.f_back, level + 1
    warnings.warn(message, stacklevel=level + 1)
