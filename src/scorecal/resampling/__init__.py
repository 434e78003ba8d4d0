"""How a statistic and its null distribution are computed, tile by tile."""

from .engine import UStatistics, u_statistics
from .features import Features
from .options import Plan
from .signs import Signs, draw_signs
from .tiles import PairFunction

__all__ = ["Features", "PairFunction", "Plan", "Signs", "UStatistics", "draw_signs", "u_statistics"]
