"""Sizes of errors of predictions, and where they occur."""

from .diagnose import diagnose
from .result import Diagnosis
from .tolerance import Tolerance

__all__ = ["Diagnosis", "Tolerance", "diagnose"]
