"""How two targets, and how two predictions, compare."""

from .distribution import GFD, KGFD, MMD, DistributionKernel, Wasserstein
from .finite_rank import BoundedRadial, Constant, Cross, FiniteRank, Linear, Polynomial, Trace
from .operator import Operator, OperatorFunction
from .radial import IMQ, Diffusion, Gaussian, Radial
from .rank_functions import RadialRank, Rank

__all__ = [
    "GFD",
    "IMQ",
    "KGFD",
    "MMD",
    "BoundedRadial",
    "Constant",
    "Cross",
    "Diffusion",
    "DistributionKernel",
    "FiniteRank",
    "Gaussian",
    "Linear",
    "Operator",
    "OperatorFunction",
    "Polynomial",
    "Radial",
    "RadialRank",
    "Rank",
    "Trace",
    "Wasserstein",
]
