"""Sizes of errors of predictions, and where they occur."""

from .class_result import ClassDiagnosis
from .diagnose import diagnose
from .result import Diagnosis
from .tolerance import ClassTolerance, Tolerance

__all__ = ["ClassDiagnosis", "ClassTolerance", "Diagnosis", "Tolerance", "diagnose"]
