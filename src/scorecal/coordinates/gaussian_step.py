"""One step of a Gaussian fit to scores: least squares of the scores at a few points near the last fit.

The score of a Gaussian is s(y) = -precision (y - mean): least squares over any few points y find both at once. For
other scores the step is limited, as is what a few huge ones count.
"""

import numpy as np

from .._lib.arrays import Array, array_namespace, full_product, like, to_numpy
from .._lib.linalg import times

# For scores that are not Gaussian, in units of the last fit: limits to a score (per root of d), the step and the
# curvature.
_LARGEST, _FARTHEST, _FLATTEST, _STEEPEST = 5.0, 1.0, 0.25, 16.0


def improve(
    nodes: np.ndarray, scores: Array, location: Array, root: Array, leftover: float, share: float = 1.0
) -> tuple[Array, Array, np.ndarray, np.ndarray]:
    """Return the next location and root (n, d, d), from scores (m, n, d) at location + root x for nodes x (m, d).

    Also return for each row whether its curvature is positive, and the error of the last location and root.
    """
    xp = array_namespace(location)
    pulled = full_product(xp.permute_dims(scores, (1, 0, 2)), root)  # the scores of x, (n, m, d)
    linear = plane(nodes, pulled)[2] <= leftover
    # A few huge scores, far out in a density that is not Gaussian, must not dominate the fit.
    size = xp.sqrt(xp.sum(pulled**2, axis=2, keepdims=True))
    largest = like(_LARGEST * nodes.shape[1] ** 0.5, size)
    pulled = xp.where(linear[:, None, None], pulled, pulled * (largest / xp.maximum(size, largest)))
    centre, slopes, _ = plane(nodes, pulled)
    curvature, axes = xp.linalg.eigh(-0.5 * (slopes + slopes.mT))
    good = curvature[:, 0] > 1e-9 * xp.abs(curvature[:, -1])
    linear = linear & good
    off = xp.maximum(xp.max(xp.abs(centre), axis=1), xp.max(xp.abs(curvature - 1.0), axis=1))
    curvature = xp.where(linear[:, None], curvature, xp.clip(curvature, _FLATTEST, _STEEPEST))
    step = times(axes, times(axes.mT, centre) / curvature)
    length = xp.sqrt(xp.sum(step**2, axis=1, keepdims=True))
    step = xp.where(linear[:, None], step, step * (_FARTHEST / xp.maximum(length, like(_FARTHEST, length))))
    power = xp.where(linear, like(1.0, size), like(share, size))
    scaled = axes * xp.exp(-0.5 * power[:, None] * xp.log(curvature))[:, None, :]
    narrower = full_product(root, scaled, axes.mT)
    return location + times(root, power[:, None] * step), narrower, to_numpy(good), to_numpy(off)


def plane(nodes: np.ndarray, values: Array) -> tuple[Array, Array, Array]:
    """Fit values (n, m, d) by least squares: value at the centre (n, d), slopes (n, d, d), unexplained share (n,)."""
    xp = array_namespace(values)
    design = np.concatenate([np.ones((len(nodes), 1)), nodes], axis=1)
    coefficients = full_product(like(np.linalg.pinv(design), values), values)
    centre, slopes = coefficients[:, 0, :], coefficients[:, 1:, :]
    explained = full_product(like(nodes, values), slopes)
    left = values - centre[:, None, :] - explained
    tiny = float(xp.finfo(values.dtype).smallest_normal)
    return centre, slopes, xp.sum(left**2, axis=(1, 2)) / (xp.sum(explained**2, axis=(1, 2)) + tiny)
