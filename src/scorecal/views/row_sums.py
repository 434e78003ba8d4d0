"""Sums over the rows of many drawn data sets of features times weights: products of matrices, for kernels of ours."""

from typing import Any

import numpy as np

from .._lib.arrays import Array, array_namespace, full_product, to_numpy
from ..pairwise import Units
from .frame import ViewFrame
from .row_kernels import ALONG, EACH, OWN, is_linear, weighted


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
        if power == 1:
            return np.tensordot(weights, features, axes=((0, 1), (1, 0)))
        along = np.matmul(weights.swapaxes(1, 2), features.swapaxes(0, 1))
        return np.asarray(np.sum(raised(along, power), axis=0))
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
        return Units(np.einsum("nqt,q->t", weights**2, squares), np.zeros(weights.shape[2]))
    powers = ((squares, np.sum(weights**2, axis=0)), (cubes, np.sum(weights**3, axis=0)))
    if kernel.form == OWN:
        return Units(*(np.ravel(moments[:, None] * sums) for moments, sums in powers))
    return Units(*(np.ravel(sums[:, None] * moments) for moments, sums in powers))
