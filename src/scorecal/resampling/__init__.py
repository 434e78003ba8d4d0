"""How a statistic and its null distribution are computed, tile by tile."""

from .engine import PairFunction, UStatistics, u_statistics
from .features import Features
from .signs import Signs, draw_signs

__all__ = ["Features", "PairFunction", "Signs", "UStatistics", "draw_signs", "u_statistics"]
