"""The pair function of the SKCE (eq. 4): G = k(P_i, P_j) <surprise_i, surprise_j>.

The surprise is the point mass at the target minus the prediction, embedded by the kernel between targets.
"""

from __future__ import annotations

from .._lib.arrays import Array, array_namespace
from ..kernels.mean_embeddings import GaussianMeasures, PointMeasures
from ..kernels.radial import Radial

__all__ = ["gaussian_surprise", "sampled_surprise"]


def gaussian_surprise(targets: Array, components: tuple[Array, Array, Array], bandwidth: Array) -> GaussianMeasures:
    """Exact, for (mixtures of) Gaussians and the Gaussian kernel: a target is a Gaussian of no width."""
    xp = array_namespace(targets)
    weights, means, spreads = components
    return GaussianMeasures(
        xp.concat([xp.ones_like(weights[:, :1]), -weights], axis=1),
        xp.concat([targets[:, None, :], means], axis=1),
        xp.concat([xp.zeros_like(spreads[:, :1, ...]), spreads], axis=1),
        bandwidth,
    )


def sampled_surprise(targets: Array, samples: Array, kernel: Radial, bandwidth: Array) -> PointMeasures:
    """From draws (n, S, d): those of two rows are independent, so the cross terms have no bias."""
    xp = array_namespace(targets)
    n_samples = samples.shape[1]
    minus = -xp.ones_like(samples[0, :, 0]) / n_samples
    weights = xp.concat([xp.ones_like(minus[:1]), minus])
    return PointMeasures(weights, xp.concat([targets[:, None, :], samples], axis=1), kernel, bandwidth)
