"""Map from a bounded support to all of R^k, with its Jacobian."""

from dataclasses import dataclass
from typing import Any

from .._lib.arrays import Array
from ..predictions import Predictions, Support, as_support, check_inside, same_support, support_of
from .identity import Coordinates, Moved, identity
from .mapped import map_all


def unconstrain(support: Any) -> Coordinates:
    """Return coordinates without a boundary, for targets and predictions on a bounded support.

    Score-based tests need densities that vanish at the boundary. On a bounded support they would reject calibrated
    predictions too; in these coordinates they do not. Predictions that declare a `support` are mapped automatically.

    Parameters
    ----------
    support : Box, Simplex or constraint
        `coordinates.Box(low, high)`, whose ends may be infinite, `coordinates.Simplex()`, or a constraint of
        `torch.distributions` or numpyro.

    Returns
    -------
    callable
        Value for the argument `coordinates` of `kccsd_test`.

    Notes
    -----
    Kernels compare predictions at base points in the new coordinates too: give a `base` in these. The prior that
    predictions carry is mapped; without one, N(0, I) fits well.

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
    """Return coordinates without a boundary if the predictions declare a bounded support, otherwise the identity."""
    support = support_of(predictions)
    return identity if support is None else unconstrain(support)


@dataclass(frozen=True)
class _Unconstrained:
    """Coordinates on all of R^k for a bounded support."""

    support: Support

    def __repr__(self) -> str:
        return f"unconstrain({self.support!r})"

    def __call__(self, predictions: Predictions, y: Array) -> Moved:
        declared = support_of(predictions)
        if declared is not None and not same_support(declared, self.support):
            raise ValueError(
                f"`coordinates` unconstrain {self.support!r}, but `predictions` have support {declared!r}. Leave "
                "`coordinates` unset, or correct one of the two."
            )
        dim = self.support.check(predictions.n, predictions.dim)
        check_inside(y, self.support)
        return map_all(predictions, y, self.support, dim)
