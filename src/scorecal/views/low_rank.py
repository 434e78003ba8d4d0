"""A view that compares pairs by Gaussian kernels, in low rank: each row by itself, given what is known of all."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from .._lib.arrays import Array, array_namespace, full_product, like
from .._lib.linalg import centre, norms_cancel, roots_and_inverses, times
from ..kernels import GFD, Gaussian
from ..kernels.bandwidth import resolve_bandwidth
from ..kernels.distances import Euclidean
from ..kernels.embeddings import gaussian_gfd
from ..predictions import Gaussian as GaussianPredictions
from ..statistics.random_features import SteinRows
from .frame import ViewFrame
from .view import View


@dataclass(frozen=True, eq=False)
class KernelScale:
    """Bandwidths between predictions and between targets, the centre of the embeddings, and the dtype for these."""

    bandwidth: Array
    width: Array
    middle: Array  # (1, p)
    dtype: Any


def kernel_scale(view: View, frame: ViewFrame) -> KernelScale | None:
    """Return the scale of a view for Gaussians and exact embeddings; None for others.

    The bandwidth between predictions is that of the sample of the context: of all rows, if these are not very many.
    """
    kernel, between = view.target_kernel, view.distribution_kernel
    if type(kernel) is not Gaussian or isinstance(kernel.bandwidth, str) or view.coordinates != "whitened":
        return None
    if type(between) is not GFD or between.base is not None or between.n_base is not None:
        return None
    if between.outer != "gaussian" or type(frame.predictions) is not GaussianPredictions or frame.ordered:
        return None

    location, covariance = frame.context.sampled
    inverse = roots_and_inverses(covariance)[1] if covariance.ndim == 3 else 1.0 / covariance**0.5
    features = _embedded(location, inverse)
    bandwidth = resolve_bandwidth(between.bandwidth, Euclidean(features), features)
    middle = features[:1, :] - centre(features)[:1, :]
    width = like(kernel.bandwidth, features)
    far = norms_cancel((features - middle) / bandwidth)
    return KernelScale(bandwidth, width, middle, features.dtype if far else frame.reference.dtype)


def stein_rows(scale: KernelScale, part_of: Callable[[slice], ViewFrame]) -> SteinRows:
    """Return what the view compares, of rows whose frame `part_of` gives."""

    def of_rows(rows: slice) -> tuple[Array, Array]:
        part = part_of(rows)
        targets, scores = (each[0, ...] for each in part.whitened)
        xp, phi = array_namespace(targets), _embedded(part.location, part.whitening.inverse_root)
        points = xp.concat([(phi - scale.middle) / scale.bandwidth, targets / scale.width], axis=1)
        return xp.astype(points, scale.dtype, copy=False), xp.astype(scores, scale.dtype, copy=False)

    d = part_of(slice(0, 1)).reference.shape[1]
    return SteinRows(of_rows, scale.middle.shape[1] + d, scale.width)


def _embedded(location: Array, inverse_root: Array) -> Array:
    """Embeddings (n, p) of Gaussians for N(0, I) as the base measure, from inverse roots of their covariances."""
    precision = full_product(inverse_root, inverse_root) if inverse_root.ndim == 3 else inverse_root**2
    identity = like(np.eye(location.shape[1]), location)
    return gaussian_gfd(times(precision, location), precision, identity)
