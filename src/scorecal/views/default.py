"""The default views of `calibration_test`, and the reasons for them.

Each kind of flaw has a view that is, for it, as good as a test can be: what users fear most, bias and a wrong spread,
share about half of the test's level, so that neither is seen much later than by a test for nothing else. Second moments
are not bounded, and a few far targets decide, as they should where null draws come from the predictions. Random signs
keep the size of each feature, so that one huge one hides all others; there, bounded features take their place.
"""

import math
from dataclasses import replace
from typing import Any

from .._lib.checks import check_count
from .._lib.dimensions import are_many
from ..kernels import GFD, Gaussian
from ..predictions import Gaussian as GaussianPredictions
from ..predictions import GaussianMixture, Noisable, Noised, Pool, Predictions, Scores, Simplex, support_of
from ..statistics.hermite import Hermite, Outlying, RadialTails
from ..statistics.rank_functions import Rank
from ..statistics.test_functions import BoundedRadial, Constant, Cross, Trace
from .extremes import Largest
from .many_dimensions import in_many_dimensions
from .near_modes import NearModes
from .row_kernels import Curves, EachDimension, Gain, Traits, Valleys
from .summaries import Summaries
from .view import Shares, View

_NOISE = 1.0
_FAR = 4.0  # taper of heavy tails: at 2, what a few far targets tell is lost, and at 6, much of what all others do
_TAPER, _WIDE_TAPER = 6.0, 20.0  # the latter where dimensions are added up: far targets of one weigh less
_ABOUT = {
    "bias": "Targets lie to one side of the predictions.",
    "spread": "Errors are larger, or smaller, than claimed.",
    "skewness": "Errors are larger to one side than to the other.",
    "tails": "Very large errors are too frequent, or too rare, for the spread.",
    "outliers": "The largest error is too large, or too small.",
    "share of outliers": "Too many errors are very large.",
    "gain": "Predictions vary too much, or too little.",
    "bias by traits": "Targets lie to one side where predictions are high, or wide.",
    "spread by traits": "Errors are larger than claimed where predictions are high, or wide.",
    "bias by curves": "Targets lie to one side over some range of the predictions.",
    "spread by curves": "Errors are larger than claimed over some range of the predictions.",
    "any, kernels": "Similar predictions are wrong in similar ways.",
    "bias, common": "Targets lie to the same side in all dimensions.",
    "bias, one dimension": "Targets lie to one side in one dimension.",
    "gain, one dimension": "Predictions vary too much, or too little, in one dimension.",
    "spread, one dimension": "Errors are larger, or smaller, than claimed in one dimension.",
    "skewness, one dimension": "Errors are larger to one side in one dimension.",
    "tails, each dimension": "Very large errors of a dimension are too frequent, or too rare.",
    "correlation": "Errors of dimensions go together more, or less, than claimed.",
    "correlation, one pair": "Errors of two dimensions go together more, or less, than claimed.",
    "spread, component": "Errors are larger, or smaller, than those of the nearest component.",
    "tails, component": "Very large errors are too frequent, or too rare, for the nearest component.",
    "weights of components": "Components hold more, or fewer, targets than their weights say.",
    "modes, location": "Modes have the wrong weights, seen by their mean after adding noise.",
    "modes, spread": "Modes have the wrong weights, seen by their spread after adding noise.",
}


_OF_POOLS = View(
    "summaries",
    "any",
    Summaries(),
    about="The mean, spread, largest or distance of all dimensions ranks too high, or too low, among the members.",
)
_OF_SEVERAL_MODES = View(
    "spread near modes",
    "confidence",
    NearModes(),
    Valleys(),
    weight=4.0,
    about="Targets lie farther from the nearest mode, or nearer to it, than claimed.",
)


def default_views(dim: Any, several_modes: bool = False, components: bool = False) -> tuple[View, ...]:
    """Return the default views for targets of dimension `dim`, or for predictions.

    Of more than 32 dimensions, views that would look at every two of them look at some, or at all together.

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
    ['bias', 'spread', 'skewness', 'tails', 'outliers', 'share of outliers', 'gain',
     'bias by traits', 'spread by traits', 'bias by curves', 'spread by curves', 'any, kernels']
    """
    if isinstance(dim, Predictions):
        several_modes = isinstance(dim, Noisable) and not isinstance(dim, GaussianPredictions)
        unbounded = dim.dim - isinstance(support_of(dim), Simplex)
        found = default_views(unbounded, several_modes, isinstance(dim, GaussianMixture))
        if isinstance(dim, Pool):
            return (*found, _OF_POOLS)
        asked = not isinstance(dim, GaussianPredictions | GaussianMixture | Noised | Scores)
        return (*found, _OF_SEVERAL_MODES) if asked and not are_many(unbounded) else found
    check_count("dim", dim, also=" or predictions")
    one, bounded, far = Constant(), BoundedRadial(3.0 * dim), RadialTails(_FAR)
    whole = 0.4 if components else 1.0  # of mixtures, whose components show a wrong spread more clearly
    own: dict[str, Any] = {"coordinates": "marginal"}
    # The bandwidth is the typical distance of two standard Gaussian targets.
    line = dim == 1
    views = [
        View("bias", "bias", one, weight=6.0 if line else 1.5, bounded=Rank(1)),
        View("spread", "confidence", Trace(), weight=whole * (6.0 if line else 13.0), bounded=bounded),
        View("skewness", "shape", Hermite(3, common=True, taper=_TAPER), weight=2.0 if line else 1.2),
        View("tails", "shape", far, weight=whole * (3.0 if line else 1.0), bounded=RadialTails()),
        View("outliers", "outliers", Largest(), weight=2.0 if line else 1.0),
        View("share of outliers", "outliers", Outlying(), weight=0.3),
        View("gain", "dependence", one, Gain(), weight=3.0 if line else 1.0),
        View("bias by traits", "dependence", one, Traits(), weight=1.5 if line else 1.0),
        View("spread by traits", "dependence", bounded, Traits(), weight=1.5 if line else 0.7),
        View("bias by curves", "dependence", one, Curves(own=True), weight=1.0 if line else 0.7, **own),
        View("spread by curves", "dependence", bounded, Curves(), weight=1.0 if line else 0.7),
        View("any, kernels", "any", Gaussian(math.sqrt(2.0 * dim)), GFD(), weight=1.0 if line else 0.7),
    ]
    if dim > 1:
        alone = own | {"largest": True}
        views += [
            View("bias, common", "bias", Hermite(1, common=True), weight=7.0, **own),
            View("bias, one dimension", "bias", one, EachDimension(), largest=True, weight=2.0, bounded=Rank(1)),
            View("gain, one dimension", "dependence", one, Gain(own=True), weight=4.0, **alone),
            View("spread, one dimension", "confidence", Hermite(2), weight=2.0, bounded=Rank(2), **alone),
            View("skewness, one dimension", "shape", Hermite(3, taper=_TAPER), weight=0.6, **alone),
            View("tails, each dimension", "shape", Hermite(4, common=True, taper=_WIDE_TAPER)),
            View("correlation", "correlation", Cross()),
            View("correlation, one pair", "correlation", Cross(), coordinates="sequential", largest=True, weight=5.0),
        ]
    if components:
        of_component: dict[str, Any] = {"coordinates": "component"}
        views += [
            View("spread, component", "confidence", bounded, weight=6.0, **of_component),
            View("tails, component", "shape", RadialTails(), weight=2.0, **of_component),
            View("weights of components", "modes", Shares(), weight=2.0, **of_component),
        ]
    if several_modes:
        weight = 2.0 if components else 4.0
        views += [
            View("modes, location", "modes", one, largest=True, noise=_NOISE, weight=weight, **own),
            View("modes, spread", "modes", bounded, noise=_NOISE),
        ]
    chosen = in_many_dimensions(views) if are_many(dim) else views
    return tuple(replace(view, about=_ABOUT[view.name]) for view in chosen)
