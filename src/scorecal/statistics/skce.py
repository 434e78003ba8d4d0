"""The pair function G of the SKCE: k(P_i, P_j) times an inner product of mean embeddings (eq. 4)."""

from __future__ import annotations

from dataclasses import dataclass

from .._arrays import Array, array_namespace
from ..kernels.gram import Gram
from ..kernels.mean_embeddings import GaussianMeasures, MeanEmbeddings, PointMeasures
from ..kernels.products import Product
from ..kernels.radial import Radial

__all__ = ["SKCEPairs", "gaussian_surprise", "sampled_surprise"]


@dataclass(frozen=True, eq=False)
class SKCEPairs:
    """G = k <surprise_i, surprise_j>, where surprise_i is the point mass at the target minus the prediction."""

    gram: Gram
    surprise: MeanEmbeddings | Product

    @property
    def floats_per_pair(self) -> int:
        return 2 + max(self.gram.floats_per_pair, self.surprise.floats_per_pair)

    def __call__(self, rows: slice, cols: slice) -> Array:
        return self.gram(rows, cols) * self.surprise(rows, cols)


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
