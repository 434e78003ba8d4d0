"""In which space targets are judged: maps that carry targets and scores along."""

from ..predictions import Box, Simplex
from .identity import Coordinates, identity
from .locate import Located, locate, locate_with_noise
from .standardise import standardise
from .unconstrain import natural, unconstrain
from .whiten import whiten

__all__ = [
    "Box",
    "Coordinates",
    "Located",
    "Simplex",
    "identity",
    "locate",
    "locate_with_noise",
    "natural",
    "standardise",
    "unconstrain",
    "whiten",
]
