"""The statistics of `calibration_test`, how they become one p-value, and their description in words."""

from .default import default_views
from .view import KINDS, FrameFeatures, Gain, RowKernel, Shares, Traits, View

__all__ = ["KINDS", "FrameFeatures", "Gain", "RowKernel", "Shares", "Traits", "View", "default_views"]
