"""Kernels between targets and kernels between predictions."""

from importlib import import_module as _import_module
from typing import TYPE_CHECKING
from typing import Any as _Any

from .distances import Distance, Euclidean
from .gfd import GFD, KGFD
from .mmd import MMD
from .operator import Operator, OperatorFunction
from .protocol import DistributionKernel, FiniteRank
from .radial import IMQ, Diffusion, Gaussian, Radial
from .wasserstein import Wasserstein

if TYPE_CHECKING:
    from ..statistics.hermite import Hermite, Outlying, RadialTails
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
    "Distance",
    "DistributionKernel",
    "Euclidean",
    "FiniteRank",
    "Gaussian",
    "Hermite",
    "Linear",
    "Operator",
    "OperatorFunction",
    "Outlying",
    "Polynomial",
    "Radial",
    "RadialRank",
    "RadialTails",
    "Rank",
    "Trace",
    "Wasserstein",
]


def __getattr__(name: str) -> _Any:
    """Load kernels of finite rank, which live in `scorecal.statistics`, when they are first used."""
    if name in __all__:
        modules = {"hermite": ("Hermite", "Outlying", "RadialTails"), "rank_functions": ("RadialRank", "Rank")}
        module = next((module for module, names in modules.items() if name in names), "test_functions")
        return getattr(_import_module(f"scorecal.statistics.{module}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return __all__
