"""Views of many dimensions: what costs, or adds up noise of, all pairs of these is thinned.

What stays is strong for what images and series get wrong: one bias or spread in all of them, the largest of single
dimensions, which also says where, and correlations of neighbours or of one sign.
"""

from collections.abc import Iterable, Sequence
from dataclasses import replace

from .._lib.dimensions import N_MIXTURES, are_many
from ..coordinates.location_spread import known_moments
from ..statistics.hermite import Hermite
from ..statistics.many_dimensions import CommonCross, SomeCross
from ..statistics.test_functions import Constant
from .frame import ViewFrame
from .near_modes import NearModes
from .row_kernels import Curves, EachDimension, Traits
from .view import View

_COMMON = Hermite(1, common=True)


def in_many_dimensions(views: Iterable[View]) -> list[View]:
    """Return the default views as they look at many dimensions.

    Dimensions are whitened one by one, so that a shift of one alone is one in marginal coordinates. Noise of one
    standard deviation in each dimension does not bring modes together, and few lines through a centre meet any.
    """
    found = []
    for view in views:
        if view.noise or isinstance(view.target_kernel, NearModes):
            continue
        if isinstance(view.distribution_kernel, EachDimension):
            view = replace(view, distribution_kernel=Constant(), coordinates="marginal")
        if isinstance(view.target_kernel, Constant) and isinstance(view.distribution_kernel, Traits | Curves):
            between = Curves() if isinstance(view.distribution_kernel, Curves) else view.distribution_kernel
            view = replace(view, target_kernel=_COMMON, distribution_kernel=between, coordinates="marginal")
        if view.sees == "correlation":
            view = replace(view, target_kernel=SomeCross() if view.largest else CommonCross(), coordinates="whitened")
        found.append(view)
    return found


def unseen_in_many_dimensions(used: Sequence[View], frame: ViewFrame) -> list[str]:
    """Return sentences on what thinned views, and spreads that are fitted to scores, do not see."""
    dim = frame.reference.shape[1]
    if not are_many(dim):
        return []
    spots, kernels = [], [view.target_kernel for view in used]
    if any(isinstance(kernel, SomeCross) for kernel in kernels):
        spots.append(
            f"the correlation of most pairs of the {dim} dimensions: each is paired with the next one and with two "
            "others at random, and what all pairs, or all neighbours, have in common is looked at."
        )
    if any(
        kernel == _COMMON and isinstance(view.distribution_kernel, Traits)
        for view, kernel in zip(used, kernels, strict=True)
    ):
        spots.append(
            f"a bias of one of the {dim} dimensions that depends on another one, or not linearly on its own location: "
            f"what depends on the prediction is looked for in all dimensions together, by {N_MIXTURES} sums of "
            "locations and the mean spread, and linearly in each dimension alone."
        )
    if known_moments(frame.predictions, frame.targets[0, ...]) is None:
        spots.append(
            f"more than one spread for each of the {dim} dimensions: correlations that predictions claim are not "
            "fitted to their scores, and make views of spread and correlation weaker."
        )
    return spots
