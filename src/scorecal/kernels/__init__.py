"""How two targets, and how two predictions, compare."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from .gfd import GFD, KGFD
from .mmd import MMD
from .operator import Operator, OperatorFunction
from .protocol import DistributionKernel, FiniteRank
from .radial import IMQ, Diffusion, Gaussian, Radial
from .wasserstein import Wasserstein

if TYPE_CHECKING:
    from ..statistics.rank_functions import RadialRank, Rank
    from ..statistics.test_functions import BoundedRadial, Constant, Cross, Linear, Polynomial, Trace

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


def __getattr__(name: str) -> Any:
    """Kernels of finite rank, which are Stein features and live a room further on."""
    if name in __all__:
        module = "rank_functions" if name.endswith("Rank") else "test_functions"
        return getattr(import_module(f"scorecal.statistics.{module}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
