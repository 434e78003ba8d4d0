"""The views of `calibration_test`, and why these.

Over-confidence and bias are what users fear most, and what other tests look at: their views weigh most, and share more
than half of the test's level. For Gaussian predictions all features but the constant and the cross ones, which are
symmetric, are bounded: no few far targets decide, and the sign flips keep their level at small n (those of the trace,
which is neither, do not).
"""

from __future__ import annotations

import math

from ..kernels import GFD, BoundedRadial, Constant, Cross, Gaussian, RadialRank, Rank
from .view import Gain, Traits, View

__all__ = ["default_views"]

_BIAS, _SPREAD, _TAILS, _ONE_SPREAD = 8.0, 10.0, 7.0, 2.0  # weights
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
    # c = 3 d: nearly as strong as the trace on Gaussian targets, with half of its skewness; c = (d + 1) / 2: close to
    # the strongest on heavy tails in every dimension.
    spread, tails = BoundedRadial(3.0 * dim), BoundedRadial(0.5 * (dim + 1))
    views = [
        View("bias", "bias", one, weight=_BIAS),
        View("spread", "confidence", spread, weight=_SPREAD),
        View("tails", "shape", tails, weight=_TAILS),
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
            View("bias, all dimensions", "bias", one, coordinates="marginal", weight=_BIAS),
            View("bias, one dimension", "bias", one, coordinates="marginal", largest=True, weight=_BIAS),
            View(
                "spread, one dimension",
                "confidence",
                Rank(2),
                coordinates="marginal",
                largest=True,
                weight=_ONE_SPREAD,
            ),
            View("correlation", "correlation", Cross()),
            View("gain, all dimensions", "dependence", one, Gain(), coordinates="marginal"),
        ]
    if several_modes:
        views += [
            View("modes, location", "modes", one, coordinates="marginal", largest=True, noise=_NOISE, weight=_BIAS),
            View("modes, spread", "modes", spread, noise=_NOISE),
        ]
    return tuple(views)
