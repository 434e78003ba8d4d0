"""Kernels of finite rank between predictions: features of targets times functions of each prediction.

Each of ours is linear in the features, by weights (n, ...) that depend on the predictions alone, in one of three ways:
every feature times every weight, every feature times its own weights, or the sum of features times weights. Sums over
rows of many drawn data sets are then products of matrices.
"""

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from .._lib.arrays import Array, array_namespace, full_product, to_numpy
from ..pairwise import Units
from .frame import ViewFrame

EACH, OWN, ALONG = "each", "own", "along"


@dataclass(frozen=True)
class Traits:
    """The linear kernel on the locations of two predictions and on their (logarithmic) spreads.

    With it a view sees what is calibrated on average, but less so where predictions are high, or narrow.
    """

    form: ClassVar[str] = EACH

    def differs(self, frame: ViewFrame) -> bool:
        return bool(frame.traits.shape[1])

    def weights(self, frame: ViewFrame, coordinates: str) -> Array:
        return frame.traits

    def combine(self, features: Array, frame: ViewFrame, coordinates: str, rows: slice) -> Array:
        """Each feature times each trait."""
        return weighted(self.form, features, self.weights(frame, coordinates)[rows, ...])


@dataclass(frozen=True)
class Curves:
    """Legendre polynomials of order 2, 3 and 4 of the ranks of the predictions, by location and by spread.

    With it a view sees what rises and falls as predictions grow. For features that are one for each dimension, `own`
    takes the ranks by location in that dimension alone.

    Parameters
    ----------
    own : bool
        Whether each feature is multiplied with the curves of its own dimension only.
    """

    own: bool = False

    @property
    def form(self) -> str:
        return OWN if self.own else EACH

    def differs(self, frame: ViewFrame) -> bool:
        return bool(self.weights(frame, "").shape[1])

    def weights(self, frame: ViewFrame, coordinates: str) -> Array:
        return frame.curves_of_locations if self.own else frame.curves

    def combine(self, features: Array, frame: ViewFrame, coordinates: str, rows: slice) -> Array:
        """Features times curves."""
        return weighted(self.form, features, self.weights(frame, coordinates)[rows, ...])


@dataclass(frozen=True)
class Gain:
    """The operator-valued kernel m m' of the predictions' locations m, beside the constant kernel on targets.

    It sees predicted locations that vary too much or too little: whether targets regressed on them have slope 1.
    """

    form: ClassVar[str] = ALONG

    def differs(self, frame: ViewFrame) -> bool:
        return not frame.alike

    def weights(self, frame: ViewFrame, coordinates: str) -> Array:
        return frame.directions[coordinates]

    def combine(self, features: Array, frame: ViewFrame, coordinates: str, rows: slice) -> Array:
        """The features along the location."""
        return weighted(self.form, features, self.weights(frame, coordinates)[rows, ...])


def is_linear(kernel: Any) -> bool:
    """Return whether a kernel is one of ours, and not a class that inherits from it and may do otherwise."""
    return type(kernel) in (Traits, Curves, Gain)


def weighted(form: str, features: Array, weights: Array) -> Array:
    """Return features (..., n, q) times weights of the rows: (n, t), (n, q, t), or (n, q) to be summed over q."""
    xp = array_namespace(features)
    if form == ALONG:
        return xp.sum(features * weights, axis=-1, keepdims=True)
    own = form == OWN
    products = features[..., :, None] * weights if own else weights[:, :, None] * features[..., None, :]
    return xp.reshape(products, (*features.shape[:-1], -1))


def raised(values: Array, power: int) -> Array:
    """Return a small power of the values, by products."""
    found = values
    for _ in range(power - 1):
        found = found * values
    return found


def sums_of_stack(kernel: Any, features: Array, frame: ViewFrame, coordinates: str, power: int) -> Array:
    """Sums over rows of a power of the weighted features of drawn data sets (size, n, q), as (q', size)."""
    xp = array_namespace(features)
    if not is_linear(kernel):
        return xp.sum(raised(features, power), axis=1).mT
    weights = kernel.weights(frame, coordinates)
    if kernel.form == EACH:
        sums = full_product(raised(weights, power).mT, raised(features, power))
        return xp.reshape(sums, (features.shape[0], -1)).mT
    return xp.sum(raised(weighted(kernel.form, features, weights), power), axis=1).mT


def sums_of_table(kernel: Any, features: np.ndarray, frame: ViewFrame, coordinates: str, power: int) -> np.ndarray:
    """As `sums_of_stack`, of features (q, n, draws)."""
    if not is_linear(kernel):
        return np.asarray(np.sum(raised(features, power), axis=1))
    weights = to_numpy(kernel.weights(frame, coordinates))
    if kernel.form == ALONG:
        along = np.einsum("nq,qnm->nm", weights, features)
        return np.asarray(np.sum(raised(along, power), axis=0, keepdims=True))
    weights, features = raised(weights, power), raised(features, power)
    by_feature = [weights[:, k, :] for k in range(len(features))] if kernel.form == OWN else [weights] * len(features)
    sums = np.stack([np.matmul(each.T, feature) for each, feature in zip(by_feature, features, strict=True)])
    sums = sums if kernel.form == OWN else sums.swapaxes(0, 1)
    return sums.reshape(-1, features.shape[2])


def units_of_rows(kernel: Any, squares: np.ndarray, cubes: np.ndarray, frame: ViewFrame, coordinates: str) -> Units:
    """Expected sums of squares and cubes of weighted features, from those of one row, (q,), alike for all rows.

    Features that are summed along weights must be uncorrelated, and symmetric.
    """
    if not is_linear(kernel):
        return Units(frame.reference.shape[0] * squares, frame.reference.shape[0] * cubes)
    weights = to_numpy(kernel.weights(frame, coordinates)).astype(np.float64)
    if kernel.form == ALONG:
        return Units(np.sum(weights**2 * squares, keepdims=True)[0], np.zeros(1))
    powers = ((squares, np.sum(weights**2, axis=0)), (cubes, np.sum(weights**3, axis=0)))
    if kernel.form == OWN:
        return Units(*(np.ravel(moments[:, None] * sums) for moments, sums in powers))
    return Units(*(np.ravel(sums[:, None] * moments) for moments, sums in powers))
