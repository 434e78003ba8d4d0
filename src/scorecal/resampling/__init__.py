"""Statistics and their null distributions, computed tile by tile."""

from .engine import null_distributions, u_statistics
from .nulls import Null, RandomSigns, UStatistics
from .options import ComputeOptions, as_options, for_rows

__all__ = [
    "ComputeOptions",
    "Null",
    "RandomSigns",
    "UStatistics",
    "as_options",
    "for_rows",
    "null_distributions",
    "u_statistics",
]
