"""Warnings that point to the line of the user, however deep they come from."""

from __future__ import annotations

import functools
import sys
import warnings
from pathlib import Path

_INSIDE = (str(Path(__file__).parents[1]), functools.__file__)


def warn_user(message: str) -> None:
    """`warnings.warn` at the first frame outside this package."""
    level = 1
    frame = sys._getframe(1)
    while frame.f_back is not None and frame.f_code.co_filename.startswith(_INSIDE):
        frame, level = frame.f_back, level + 1
    warnings.warn(message, stacklevel=level + 1)
