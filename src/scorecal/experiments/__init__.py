"""The paper's experiments, and others like them."""

from ..resampling.dask_cluster import cluster
from .dataset import Model
from .flaws import FLAWS, bounded, flawed, modes, skewed
from .models import hgm, lgm, mgm, qgm
from .rates import rejection_rates, wilson
from .sweep import Cell, grid, sweep
from .tests import KCCSD, SKCE, Test

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
