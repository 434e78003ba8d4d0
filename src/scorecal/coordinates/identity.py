"""The coordinates in which targets are judged.

Coordinates are a function from (predictions, targets) to (predictions, targets, scores at the targets). They may move
each target by a bijection that depends on its own prediction, and carry the score along with the Jacobian; they may
also return predictions in the new coordinates, for the kernels between predictions to compare.
"""

from __future__ import annotations

from collections.abc import Callable

from .._arrays import Array
from ..predictions import Predictions, evaluate_score

__all__ = ["Coordinates", "identity"]

Coordinates = Callable[[Predictions, Array], tuple[Predictions, Array, Array]]


def identity(predictions: Predictions, y: Array) -> tuple[Predictions, Array, Array]:
    """Targets and scores as they are."""
    return predictions, y, evaluate_score(predictions, y)
