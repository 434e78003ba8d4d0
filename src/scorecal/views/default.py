"""The default views of `calibration_test`, and the reasons for them.

Bias, a wrong spread and wrong tails are what users fear most, and what other tests look at: their views weigh most, and
share about three quarters of the test's level. For Gaussian predictions all features but those of the constant and of
the correlation are bounded, so that no few far targets decide.
"""

import math
from typing import Any

from .._lib.checks import check_count
from ..kernels import GFD, Gaussian
from ..predictions import Gaussian as GaussianPredictions
from ..predictions import GaussianMixture, Noisable, Predictions, Simplex, support_of
from ..statistics.rank_functions import RadialRank, Rank
from ..statistics.test_functions import BoundedRadial, Constant, Cross
from .view import Gain, Shares, Traits, View

# Weights, beside 1 for a view of anything else. Kinds with several views share theirs among them.
_BIAS, _SPREAD, _TAILS, _MODES = 12.0, 12.0, 10.0, 6.0
_ONE_SPREAD, _WHOLE = 2.0, 3.0  # of one dimension alone; of a whole mixture, beside its components
_NOISE = 1.0


def default_views(dim: Any, several_modes: bool = False, components: bool = False) -> tuple[View, ...]:
    """Return the default views for targets of dimension `dim`, or for predictions.

    Parameters
    ----------
    dim : int or Predictions
        Dimension of the targets, in coordinates without a boundary; or the predictions, which answer the rest.
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
    if isinstance(dim, Predictions):
        several_modes = isinstance(dim, Noisable) and not isinstance(dim, GaussianPredictions)
        unbounded = dim.dim - isinstance(support_of(dim), Simplex)
        return default_views(unbounded, several_modes, isinstance(dim, GaussianMixture))
    check_count("dim", dim, also=" or predictions")
    one, traits, rank_1, rank_2, rank_3 = Constant(), Traits(), Rank(1), Rank(2), Rank(3)
    # c = 3 d: nearly as strong as the trace on Gaussian targets, with half of its skewness; c = (d + 1) / 2: close to
    # the strongest on heavy tails in every dimension.
    spread, tails, radial_shape = BoundedRadial(3.0 * dim), BoundedRadial(0.5 * (dim + 1)), RadialRank(2)
    # The bandwidth is the typical distance of two standard Gaussian targets.
    any_kernel, between = Gaussian(math.sqrt(2.0 * dim)), GFD()
    bias_weight, spread_weight = (_BIAS, _SPREAD) if dim == 1 else (_BIAS / 3.0, _SPREAD - _ONE_SPREAD)
    views = [
        View("bias", "bias", one, weight=bias_weight),
        View("spread", "confidence", spread, weight=_WHOLE if components else spread_weight),
        View("tails", "shape", tails, weight=_WHOLE if components else _TAILS),
        View("radial shape", "shape", radial_shape),
        View("skewness", "shape", rank_3, coordinates="marginal"),
        # Far fewer than half of the targets, however far off, cannot hide a bias from ranks.
        View("bias of ranks", "bias", rank_1, coordinates="marginal"),
        View("gain", "dependence", one, Gain()),
        View("bias by traits", "dependence", one, traits),
        View("spread by traits", "dependence", spread, traits),
        View("any, kernels", "any", any_kernel, between),
    ]
    if dim > 1:
        # Targets whose dimensions are correlated show a common bias more clearly as they are than whitened.
        views += [
            View("bias, all dimensions", "bias", one, coordinates="marginal", weight=bias_weight),
            View("bias, one dimension", "bias", one, coordinates="marginal", largest=True, weight=bias_weight),
            View(
                "spread, one dimension", "confidence", rank_2, coordinates="marginal", largest=True, weight=_ONE_SPREAD
            ),
            View("correlation", "correlation", Cross()),
            View("gain, all dimensions", "dependence", one, Gain(), coordinates="marginal"),
        ]
    if components:
        views += [
            View("spread, component", "confidence", spread, coordinates="component", weight=spread_weight),
            View("tails, component", "shape", tails, coordinates="component", weight=_TAILS),
            View("weights of components", "modes", Shares(), coordinates="component", weight=0.5 * _MODES),
        ]
    if several_modes:
        weight = 0.5 * _MODES if components else _MODES
        views += [
            View("modes, location", "modes", one, coordinates="marginal", largest=True, noise=_NOISE, weight=weight),
            View("modes, spread", "modes", spread, noise=_NOISE),
        ]
    return tuple(views)
