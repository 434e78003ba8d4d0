"""The paper's experiments."""

from .models import hgm, lgm, mgm, qgm

__all__ = ["hgm", "lgm", "mgm", "qgm"]
