"""The coordinates in which targets are judged.

Coordinates are a function from (predictions, targets) to (predictions, targets, scores at the targets). They may move
each target by a bijection that depends on its own prediction, and carry the score along with the Jacobian; they may
also return predictions in the new coordinates, for the kernels between predictions to compare.
"""

from __future__ import annotations

from collections.abc import Callable

from .._lib.arrays import Array
from ..predictions import Predictions, evaluate_score, support_of

Moved = tuple[Predictions, Array, Array]  # predictions, targets and scores at the targets in other coordinates
Coordinates = Callable[[Predictions, Array], Moved]


def identity(predictions: Predictions, y: Array) -> Moved:
    """Targets and scores as they are."""
    support = support_of(predictions)
    if support is not None:
        raise ValueError(
            f"`predictions` live on a bounded support, {support}, where their densities need not vanish at the "
            "boundary, and score-based tests would reject even a calibrated model. Leave `coordinates` unset, or give "
            "`coordinates.unconstrain(support)`."
        )
    return predictions, y, evaluate_score(predictions, y)


def name_of(coordinates: Coordinates, predictions: Predictions) -> str:
    """Name of the coordinates on a result; some are named by what they do to these predictions."""
    if hasattr(coordinates, "named"):
        return str(coordinates.named(predictions))
    return getattr(coordinates, "__name__", None) or repr(coordinates)
