"""The paper's experiments, and others like them."""

from .dataset import Model
from .models import hgm, lgm, mgm, qgm
from .sweep import Cell, grid, sweep
from .tests import KCCSD, SKCE, Test

__all__ = ["KCCSD", "SKCE", "Cell", "Model", "Test", "grid", "hgm", "lgm", "mgm", "qgm", "sweep"]
