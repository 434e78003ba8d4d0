"""The statistics of `calibration_test`, how they become one p-value, and their description in words."""

from .default import default_views
from .extremes import Largest
from .row_kernels import Covariate, Curves, EachDimension, ErrorsBefore, Gain, Traits
from .view import KINDS, FrameFeatures, RowKernel, Shares, View

__all__ = [
    "KINDS",
    "Covariate",
    "Curves",
    "EachDimension",
    "ErrorsBefore",
    "FrameFeatures",
    "Gain",
    "Largest",
    "RowKernel",
    "Shares",
    "Traits",
    "View",
    "default_views",
]
