"""In which space targets are judged: maps that carry targets and scores along."""

from .identity import Coordinates, identity

__all__ = ["Coordinates", "identity"]
