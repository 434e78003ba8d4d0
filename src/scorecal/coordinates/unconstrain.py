"""From a bounded support to all of R^k, with the Jacobian."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from .._lib.arrays import Array
from ..predictions import Predictions, Support, as_support, check_inside, same_support, support_of
from .identity import Coordinates, Moved, identity
from .mapped import map_all


def unconstrain(support: Any) -> Coordinates:
    """Coordinates without a boundary, for targets and predictions on a bounded support.

    Score-based tests need densities that vanish at the boundary. On a bounded support they would reject calibrated
    predictions too; in these coordinates they do not. Predictions that say what their `support` is are mapped without
    being asked.

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
    Kernels compare predictions, and place base points, in the new coordinates too: a `base` that is given is one of
    them; the prior that predictions carry is mapped along; and N(0, I) fits well where there is none.

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
    return _Unconstrained(as_support(support))


def natural(predictions: Predictions) -> Coordinates:
    """Those without a boundary, if the predictions say that their support has one; otherwise the identity."""
    support = support_of(predictions)
    return identity if support is None else unconstrain(support)


@dataclass(frozen=True)
class _Unconstrained:
    support: Support

    def __repr__(self) -> str:
        return f"unconstrain({self.support!r})"

    def __call__(self, predictions: Predictions, y: Array) -> Moved:
        declared = support_of(predictions)
        if declared is not None and not same_support(declared, self.support):
            raise ValueError(
                f"`coordinates` unconstrain {self.support!r}, but `predictions` live on {declared!r}. Leave "
                "`coordinates` unset, or correct one of the two."
            )
        dim = self.support.check(predictions.n, predictions.dim)
        check_inside(y, self.support)
        return map_all(predictions, y, self.support, dim)
