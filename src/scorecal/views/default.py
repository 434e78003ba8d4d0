"""The views of `calibration_test`, and why these.

Bias, a wrong spread and wrong tails are what users fear most, and what other tests look at: their views weigh most, and
share more than three quarters of the test's level. For Gaussian predictions all features but the constant and the cross
ones, which are symmetric, are bounded, so that no few far targets decide.
"""

from __future__ import annotations

import math

import numpy as np

from ..kernels import GFD, BoundedRadial, Constant, Cross, Gaussian, RadialRank, Rank
from .view import Gain, Traits, View

__all__ = ["default_views"]

# Weights. Bias, spread and tails count twelve, twelve and ten times as much as any other kind; each shares its weight
# among its views.
_BIAS, _SPREAD, _TAILS, _MODES = 12.0, 12.0, 10.0, 6.0
_ONE_SPREAD, _WHOLE = 2.0, 3.0  # of one dimension alone; of a whole mixture, beside its components
_NOISE = 1.0


def default_views(dim: int, several_modes: bool = False, components: bool = False) -> tuple[View, ...]:
    """Views for targets of dimension `dim`.

    Parameters
    ----------
    dim : int
        Dimension of the targets, in coordinates without a boundary.
    several_modes : bool
        Whether predictions that can have noise may have several modes: adds views with noise, which see their weights.
    components : bool
        Whether predictions are mixtures of Gaussians: adds views of the spread and the tails of these, which the spread
        of a whole prediction hides when modes are far apart.

    Examples
    --------
    >>> import scorecal as sc
    >>> [view.name for view in sc.views.default_views(1)]  # doctest: +NORMALIZE_WHITESPACE
    ['bias', 'spread', 'tails', 'radial shape', 'skewness', 'bias of ranks', 'gain',
     'bias by traits', 'spread by traits', 'any, kernels']
    """
    if isinstance(dim, bool) or not isinstance(dim, (int, np.integer)) or dim < 1:
        raise ValueError(f"`dim` must be a positive integer, but is {dim!r}.")
    one, traits = Constant(), Traits()
    bias_weight, spread_weight = (_BIAS, _SPREAD) if dim == 1 else (_BIAS / 3.0, _SPREAD - _ONE_SPREAD)
    # c = 3 d: nearly as strong as the trace on Gaussian targets, with half of its skewness; c = (d + 1) / 2: close to
    # the strongest on heavy tails in every dimension.
    spread, tails = BoundedRadial(3.0 * dim), BoundedRadial(0.5 * (dim + 1))
    views = [
        View("bias", "bias", one, weight=bias_weight),
        View("spread", "confidence", spread, weight=_WHOLE if components else spread_weight),
        View("tails", "shape", tails, weight=_WHOLE if components else _TAILS),
        View("radial shape", "shape", RadialRank(2)),
        View("skewness", "shape", Rank(3), coordinates="marginal"),
        # Far fewer than half of the targets, however far off, cannot hide a bias from ranks.
        View("bias of ranks", "bias", Rank(1), coordinates="marginal"),
        View("gain", "dependence", one, Gain()),
        View("bias by traits", "dependence", one, traits),
        View("spread by traits", "dependence", spread, traits),
        # The bandwidth is the typical distance of two standard Gaussian targets.
        View("any, kernels", "any", Gaussian(math.sqrt(2.0 * dim)), GFD()),
    ]
    if dim > 1:
        # Targets whose dimensions are correlated show a common bias more clearly as they are than whitened.
        views += [
            View("bias, all dimensions", "bias", one, coordinates="marginal", weight=bias_weight),
            View("bias, one dimension", "bias", one, coordinates="marginal", largest=True, weight=bias_weight),
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
    if components:
        views += [
            View("spread, component", "confidence", spread, coordinates="component", weight=spread_weight),
            View("tails, component", "shape", tails, coordinates="component", weight=_TAILS),
        ]
    if several_modes:
        views += [
            View("modes, location", "modes", one, coordinates="marginal", largest=True, noise=_NOISE, weight=_MODES),
            View("modes, spread", "modes", spread, noise=_NOISE),
        ]
    return tuple(views)
