"""How two targets, and how two predictions, compare."""

from .distribution import GFD, KGFD, MMD, DistributionKernel, Wasserstein
from .operator import Operator, OperatorFunction
from .radial import IMQ, Gaussian, Radial

__all__ = [
    "GFD",
    "IMQ",
    "KGFD",
    "MMD",
    "DistributionKernel",
    "Gaussian",
    "Operator",
    "OperatorFunction",
    "Radial",
    "Wasserstein",
]
