"""In what way predictions are wrong, and where."""

from .diagnose import diagnose
from .result import Diagnosis

__all__ = ["Diagnosis", "diagnose"]
