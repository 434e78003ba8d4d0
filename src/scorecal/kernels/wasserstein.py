"""Kernel on the Wasserstein-2 distance between predictions."""

from dataclasses import dataclass

import numpy as np

from .._lib.arrays import Array, like
from .._lib.checks import check_count
from ..predictions import Gaussian, Predictions, draw_samples
from .distances import Distance, Euclidean
from .embeddings import gaussian_wasserstein, random_directions, sliced_wasserstein
from .protocol import check_outer
from .radial import check_bandwidth

DEFAULT_N_SAMPLES = 10


@dataclass(frozen=True)
class Wasserstein:
    """Kernel on the squared Wasserstein-2 distance.

    Parameters
    ----------
    bandwidth : "median" or float
        Unit of the distance.
    n_samples : int, optional
        None: the closed form for isotropic and diagonal Gaussians. Otherwise the sliced distance between this many
        draws from each prediction (in one dimension, the distance itself).
    n_projections : int
        Number of random directions of the sliced distance.
    outer : {"gaussian", "imq", "linear"}
        As for `GFD`.
    """

    bandwidth: float | str = "median"
    n_samples: int | None = None
    n_projections: int = 20
    outer: str = "gaussian"

    def __post_init__(self) -> None:
        check_count("n_samples", self.n_samples, optional=True)
        check_count("n_projections", self.n_projections)
        check_bandwidth(self.bandwidth)
        check_outer(self.outer)

    def distance(
        self, predictions: Predictions, reference: Array, rng: np.random.Generator
    ) -> tuple[Distance, dict[str, float]]:
        if self.n_samples is None and isinstance(predictions, Gaussian):
            return Euclidean(gaussian_wasserstein(predictions.mean, predictions.scale)), {}
        directions = random_directions(self.n_projections, predictions.dim, rng)
        samples = draw_samples(predictions, self.n_samples or DEFAULT_N_SAMPLES, rng)
        return Euclidean(sliced_wasserstein(like(samples, reference), like(directions, reference))), {}
