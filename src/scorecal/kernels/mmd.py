"""Kernel on the maximum mean discrepancy between predictions."""

from dataclasses import dataclass, field

import numpy as np

from .._lib.arrays import Array, like
from .._lib.checks import check_count
from ..predictions import HasComponents, Predictions, draw_samples
from .distances import Distance, mmd_distance
from .ground import check_ground, ground_bandwidth
from .mean_embeddings import GaussianMeasures, MeanEmbeddings, PointMeasures
from .radial import Gaussian, Radial, check_bandwidth

DEFAULT_N_SAMPLES = 10


@dataclass(frozen=True)
class MMD:
    """Kernel on the squared maximum mean discrepancy.

    Parameters
    ----------
    ground : sc.kernels.Gaussian or sc.kernels.IMQ
        The ground kernel; its bandwidth "median" is found as for `KGFD`.
    n_samples : int, optional
        Draws from each prediction. None: the closed form for Gaussian predictions and a Gaussian ground kernel,
        otherwise 10 draws.
    bandwidth : "median" or float
        Unit of the distance MMD.
    """

    ground: Radial = field(default_factory=Gaussian)
    n_samples: int | None = None
    bandwidth: float | str = "median"
    outer = "gaussian"

    def __post_init__(self) -> None:
        check_count("n_samples", self.n_samples, optional=True)
        check_bandwidth(self.bandwidth)
        check_ground(self.ground)

    def distance(
        self, predictions: Predictions, reference: Array, rng: np.random.Generator
    ) -> tuple[Distance, dict[str, float]]:
        tau = ground_bandwidth(self.ground, predictions, None)
        exact = self.n_samples is None and isinstance(self.ground, Gaussian)
        if exact and isinstance(predictions, HasComponents):
            embeddings: MeanEmbeddings = GaussianMeasures(*predictions.components(), tau)
        else:
            samples = draw_samples(predictions, self.n_samples or DEFAULT_N_SAMPLES, rng)
            weights = like(np.full(samples.shape[1], 1.0 / samples.shape[1]), reference)
            embeddings = PointMeasures(weights, like(samples, reference), self.ground, tau)
        return mmd_distance(embeddings, reference), {"ground": tau}
