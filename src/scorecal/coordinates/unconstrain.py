"""From a bounded support to all of R^k, with the Jacobian."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._arrays import Array, array_namespace, has_values, to_numpy
from ..predictions import Predictions, ScoreFunction, Scores, evaluate_score
from .identity import Coordinates
from .supports import Support, as_support

__all__ = ["unconstrain"]


def unconstrain(support: Any) -> Coordinates:
    """Coordinates without a boundary, for targets and predictions on a bounded support.

    Score-based tests need densities that vanish at the boundary. On a bounded support they would reject calibrated
    predictions too; in these coordinates they do not.

    Parameters
    ----------
    support : Box, Simplex or constraint
        `coordinates.Box(low, high)`, whose ends may be infinite, `coordinates.Simplex()`, or a constraint of
        `torch.distributions` or numpyro.

    Returns
    -------
    callable
        For the argument `coordinates` of `kccsd_test`.

    Notes
    -----
    Kernels compare predictions, and place base points, in the new coordinates too; N(0, I) fits well there.

    Examples
    --------
    Predictions on (0, 1) with densities proportional to exp(a y), for numbers a of either sign:

    >>> import numpy as np, scorecal as sc
    >>> rng = np.random.default_rng(0)
    >>> a = 4.0 * rng.normal(size=(300, 1))
    >>> y = np.log1p(rng.uniform(size=(300, 1)) * np.expm1(a)) / a
    >>> predictions = sc.ScoreFunction(lambda y: a + 0.0 * y, n=300, dim=1)
    >>> sc.kccsd_test(predictions, y, rng=1).rejects()  # wrongly
    True
    >>> sc.kccsd_test(predictions, y, coordinates=sc.coordinates.unconstrain(sc.coordinates.Box(0, 1)), rng=1).rejects()
    False
    """
    found = as_support(support)

    def unconstrained(predictions: Predictions, y: Array) -> tuple[Predictions, Array, Array]:
        dim = found.check_dim(predictions.dim)
        _check_inside("y", y, found)
        targets = found.inverse(y)
        mapped = _mapped(predictions, found, dim)
        return mapped, targets, evaluate_score(mapped, targets)

    return unconstrained


def _mapped(predictions: Predictions, support: Support, dim: int) -> Predictions:
    if isinstance(predictions, Scores):
        raise TypeError(
            "`Scores` hold numbers in the coordinates they were computed in; map the targets, scores and base points "
            "before, or give a `ScoreFunction`."
        )

    def score(z: Array) -> Array:
        return support.carry(z, predictions.score(support.forward(z)))

    return ScoreFunction(score, predictions.n, dim)


def _check_inside(name: str, y: Array, support: Support) -> None:
    inside = support.contains(y)
    if has_values(y) and not bool(array_namespace(y).all(inside)):
        row = int(np.argmin(to_numpy(inside)))
        raise ValueError(
            f"`{name}` must lie inside the support, its boundary excluded, but row {row} is {to_numpy(y)[row]}. Likely "
            "causes: the support of another quantity, or targets that were rounded or clipped to its ends."
        )
