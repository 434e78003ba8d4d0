"""The paper's experiments, and others like them."""

from ..resampling.workers import cluster
from .dataset import Model
from .models import hgm, lgm, mgm, qgm
from .rates import rejection_rates, wilson
from .sweep import Cell, grid, sweep
from .tests import KCCSD, SKCE, Test

__all__ = [
    "KCCSD",
    "SKCE",
    "Cell",
    "Model",
    "Test",
    "cluster",
    "grid",
    "hgm",
    "lgm",
    "mgm",
    "qgm",
    "rejection_rates",
    "sweep",
    "wilson",
]
