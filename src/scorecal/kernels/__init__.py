"""How two targets, and how two predictions, compare."""

from .distribution import GFD, KGFD, MMD, DistributionKernel, Wasserstein
from .operator import Operator, OperatorFunction
from .radial import IMQ, Diffusion, Gaussian, Radial

__all__ = [
    "GFD",
    "IMQ",
    "KGFD",
    "MMD",
    "Diffusion",
    "DistributionKernel",
    "Gaussian",
    "Operator",
    "OperatorFunction",
    "Radial",
    "Wasserstein",
]
