"""The views of `calibration_test`, and why these.

Bias and spread are what users fear most and what other tests look at: their views weigh three times as much, about half
of the test's level. All but the constant and the cross views are bounded functions of the target, so that a few far
targets decide nothing, and the sign flips keep their level at small n (the trace, unbounded, does not).
"""

from __future__ import annotations

import math

from ..kernels import GFD, BoundedRadial, Constant, Cross, Gaussian, RadialRank, Rank
from .view import Gain, Traits, View

__all__ = ["default_views"]

_MAIN = 3.0
_NOISE = 1.0


def default_views(dim: int, several_modes: bool = False) -> tuple[View, ...]:
    """Views for targets of dimension `dim`.

    Parameters
    ----------
    dim : int
        Dimension of the targets, in coordinates without a boundary.
    several_modes : bool
        Whether predictions that can have noise may have several modes: adds views with noise, which see their weights.

    Examples
    --------
    >>> import scorecal as sc
    >>> [view.name for view in sc.views.default_views(1)]  # doctest: +NORMALIZE_WHITESPACE
    ['bias', 'spread', 'tails', 'radial shape', 'skewness', 'gain', 'bias by traits', 'spread by traits',
     'any, kernels']
    """
    one, traits = Constant(), Traits()
    # c = 3 d: as strong as the trace on Gaussian targets, at half of its skewness or less; c = d: strongest on tails.
    spread, tails = BoundedRadial(3.0 * dim), BoundedRadial(1.0 * dim)
    views = [
        View("bias", "bias", one, weight=_MAIN),
        View("spread", "confidence", spread, weight=_MAIN),
        View("tails", "shape", tails, weight=_MAIN),
        View("radial shape", "shape", RadialRank(2)),
        View("skewness", "shape", Rank(3), coordinates="marginal"),
        View("gain", "dependence", one, Gain()),
        View("bias by traits", "dependence", one, traits),
        View("spread by traits", "dependence", spread, traits),
        # The bandwidth is the typical distance of two standard Gaussian targets.
        View("any, kernels", "any", Gaussian(math.sqrt(2.0 * dim)), GFD()),
    ]
    if dim > 1:
        # Targets whose dimensions are correlated show a common bias more clearly as they are than whitened.
        views += [
            View("bias, all dimensions", "bias", one, coordinates="marginal", weight=_MAIN),
            View("bias, one dimension", "bias", one, coordinates="marginal", largest=True, weight=_MAIN),
            View("spread, one dimension", "confidence", Rank(2), coordinates="marginal", largest=True),
            View("correlation", "correlation", Cross()),
        ]
    if several_modes:
        views += [
            View("modes, location", "modes", one, noise=_NOISE),
            View("modes, spread", "modes", spread, noise=_NOISE),
        ]
    return tuple(views)
