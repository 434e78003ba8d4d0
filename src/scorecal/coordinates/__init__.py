"""In which space targets are judged: maps that carry targets and scores along."""

from .identity import Coordinates, identity
from .supports import Box, Simplex
from .unconstrain import unconstrain

__all__ = ["Box", "Coordinates", "Simplex", "identity", "unconstrain"]
