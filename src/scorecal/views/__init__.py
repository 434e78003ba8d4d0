"""The statistics of `calibration_test`, how they become one p-value, and their description in words."""

from .default import default_views
from .view import KINDS, Gain, Shares, Traits, View

__all__ = ["KINDS", "Gain", "Shares", "Traits", "View", "default_views"]
