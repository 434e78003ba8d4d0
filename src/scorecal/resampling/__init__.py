"""How a statistic and its null distribution are computed, tile by tile."""

from .engine import PairFunction, UStatistics, u_statistics
from .signs import Signs, draw_signs

__all__ = ["PairFunction", "Signs", "UStatistics", "draw_signs", "u_statistics"]
