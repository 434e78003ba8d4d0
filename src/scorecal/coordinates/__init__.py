"""Coordinates: maps of predictions, targets and scores to the space in which they are tested."""

from ..predictions import Box, Simplex
from .identity import Coordinates, identity
from .normal_scores import in_normal_scores
from .standardise import standardise
from .unconstrain import natural, unconstrain
from .whiten import whiten

__all__ = [
    "Box",
    "Coordinates",
    "Simplex",
    "identity",
    "in_normal_scores",
    "natural",
    "standardise",
    "unconstrain",
    "whiten",
]
