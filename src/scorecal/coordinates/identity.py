"""The coordinates in which targets are judged.

Coordinates are a function from (predictions, targets) to (predictions, targets, scores at the targets). They may move
each target by a bijection that depends on its own prediction, and carry the score along with the Jacobian; they may
also return predictions in the new coordinates, for the kernels between predictions to compare.
"""

from __future__ import annotations

from collections.abc import Callable

from .._lib.arrays import Array
from ..predictions import Predictions, evaluate_score

__all__ = ["Coordinates", "Located", "identity", "name_of"]

Located = tuple[Predictions, Array, Array]
Coordinates = Callable[[Predictions, Array], Located]


def identity(predictions: Predictions, y: Array) -> Located:
    """Targets and scores as they are."""
    support = getattr(predictions, "support", None)
    if support is not None:
        raise ValueError(
            f"`predictions` live on a bounded support, {support}, where their densities need not vanish at the "
            "boundary, and score-based tests would reject even a calibrated model. Leave `coordinates` unset, or give "
            "`coordinates.unconstrain(support)`."
        )
    return predictions, y, evaluate_score(predictions, y)


def name_of(coordinates: Coordinates, predictions: Predictions) -> str:
    """What the result calls them; some are named by what they do to these predictions."""
    if hasattr(coordinates, "named"):
        return str(coordinates.named(predictions))
    return getattr(coordinates, "__name__", None) or repr(coordinates)
