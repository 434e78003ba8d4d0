"""The pair function of the SKCE (eq. 4): G = k(P_i, P_j) <surprise_i, surprise_j>.

The surprise is the point mass at the target minus the prediction, embedded by the kernel between targets.
"""

from typing import Any

import numpy as np

from .._lib.arrays import Array, array_namespace, like
from ..kernels.mean_embeddings import GaussianMeasures, MeanEmbeddings, PointMeasures
from ..kernels.radial import Gaussian, Radial
from ..predictions import MALA, HasComponents, HasDensity, Predictions, Samplable, draw_samples

DEFAULT_N_SAMPLES = 10


def gaussian_surprise(targets: Array, components: tuple[Array, Array, Array], bandwidth: Array) -> GaussianMeasures:
    """Exact surprise, for (mixtures of) Gaussians and the Gaussian kernel: a target is a Gaussian of variance zero."""
    xp = array_namespace(targets)
    weights, means, spreads = components
    return GaussianMeasures(
        xp.concat([xp.ones_like(weights[:, :1]), -weights], axis=1),
        xp.concat([targets[:, None, :], means], axis=1),
        xp.concat([xp.zeros_like(spreads[:, :1, ...]), spreads], axis=1),
        bandwidth,
    )


def sampled_surprise(targets: Array, samples: Array, kernel: Radial, bandwidth: Array) -> PointMeasures:
    """Return the target's point mass minus that of its draws (n, S, d); products of different rows are unbiased."""
    xp = array_namespace(targets)
    n_samples = samples.shape[1]
    minus = -xp.ones_like(samples[0, :, 0]) / n_samples
    weights = xp.concat([xp.ones_like(minus[:1]), minus])
    return PointMeasures(weights, xp.concat([targets[:, None, :], samples], axis=1), kernel, bandwidth)


def surprise_of(
    predictions: Predictions,
    targets: Array,
    kernel: Radial,
    bandwidth: Array,
    n_samples: int | None,
    sampler: MALA | None,
    rng: np.random.Generator,
) -> tuple[MeanEmbeddings, dict[str, Any]]:
    """Return the embedded surprise of each target, and how its expectations were computed."""
    if sampler is not None:
        draws = sampler.draw(predictions, n_samples or DEFAULT_N_SAMPLES, rng, targets)
        how = {"expectations": "mcmc", "acceptance": float(np.mean(draws.acceptance))}
        return sampled_surprise(targets, like(draws.samples, targets), kernel, bandwidth), how
    exact = n_samples is None and isinstance(kernel, Gaussian)
    if exact and isinstance(predictions, HasComponents):
        how = {"expectations": "exact", "acceptance": None}
        weights, means, spreads = (like(part, targets) for part in predictions.components())
        return gaussian_surprise(targets, (weights, means, spreads), bandwidth), how
    if not isinstance(predictions, Samplable) and isinstance(predictions, HasDensity):
        raise TypeError(
            f"`predictions` of type {type(predictions).__name__} cannot be sampled directly; give `sampler=MALA()`."
        )
    samples = draw_samples(predictions, n_samples or DEFAULT_N_SAMPLES, rng)
    how = {"expectations": "samples", "acceptance": None}
    return sampled_surprise(targets, like(samples, targets), kernel, bandwidth), how
