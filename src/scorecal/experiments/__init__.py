"""The paper's experiments, and similar ones."""

from ..parallel.dask import cluster
from .flaws import FLAWS, bounded, flawed, modes, skewed
from .models import hgm, lgm, mgm, qgm
from .sweep.dataset import Model
from .sweep.procedures import KCCSD, SKCE, Test
from .sweep.rates import rejection_rates, wilson
from .sweep.sweep import Cell, grid, sweep

__all__ = [
    "FLAWS",
    "KCCSD",
    "SKCE",
    "Cell",
    "Model",
    "Test",
    "bounded",
    "cluster",
    "flawed",
    "grid",
    "hgm",
    "lgm",
    "mgm",
    "modes",
    "qgm",
    "rejection_rates",
    "skewed",
    "sweep",
    "wilson",
]
