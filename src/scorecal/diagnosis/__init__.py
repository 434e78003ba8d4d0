"""Sizes of errors of predictions, and where they occur."""

from .diagnose import diagnose
from .result import Diagnosis

__all__ = ["Diagnosis", "diagnose"]
