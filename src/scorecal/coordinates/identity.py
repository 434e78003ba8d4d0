"""Coordinates: functions from (predictions, targets) to (predictions, targets, scores at the targets).

They may map each target by a bijection that depends on its prediction, and its score by the Jacobian; they may also
return predictions in the new coordinates, for the kernels between predictions to compare.
"""

from collections.abc import Callable

from .._lib.arrays import Array
from ..predictions import Predictions, evaluate_score, support_of

Moved = tuple[Predictions, Array, Array]  # predictions, targets and scores at the targets in other coordinates
Coordinates = Callable[[Predictions, Array], Moved]


def identity(predictions: Predictions, y: Array) -> Moved:
    """Return predictions and targets as they are, with the scores; raise if the support is bounded."""
    support = support_of(predictions)
    if support is not None:
        raise ValueError(
            f"`predictions` have a bounded support, {support}. Their densities need not vanish at its boundary, and "
            "score-based tests would reject even calibrated predictions. Leave `coordinates` unset, or give "
            "`coordinates.unconstrain(support)`."
        )
    return predictions, y, evaluate_score(predictions, y)


def name_of(coordinates: Coordinates, predictions: Predictions) -> str:
    """Name of the coordinates on a result, which may depend on the predictions."""
    if hasattr(coordinates, "named"):
        return str(coordinates.named(predictions))
    return getattr(coordinates, "__name__", None) or repr(coordinates)
