"""Kernels on the generalised Fisher divergence and its kernelised version, in closed form where there is one."""

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from .._lib.arrays import Array
from ..predictions import Gaussian as GaussianPredictions
from ..predictions import Predictions
from .base import base_measure, base_scores, check_base
from .distances import Distance, Euclidean
from .embeddings import (
    gaussian_diffusion_kgfd,
    gaussian_gfd,
    gaussian_kgfd,
    sampled_diffusion_kgfd,
    sampled_gfd,
    sampled_kgfd,
)
from .ground import check_ground, ground_bandwidth
from .protocol import check_outer
from .radial import Diffusion, Gaussian, Radial, check_bandwidth


@dataclass(frozen=True)
class GFD:
    """Kernel on the generalised Fisher divergence, ``E_nu |s_P - s_Q|^2`` (the paper's definition 4.2).

    Parameters
    ----------
    base : Gaussian of one row, array (m, d), "match" or None
        The base measure nu: a Gaussian, points drawn from any nu, or a Gaussian matched to the predictions. None: the
        base points or the prior that the predictions carry, otherwise N(0, I).
    n_base : int, optional
        Number of base points to draw. None: the closed form for Gaussian predictions, otherwise 10 points.
    bandwidth : "median" or float
        Unit of the distance sqrt(GFD).
    outer : {"gaussian", "imq", "linear"}
        k = exp(-t / 2), 1 / (1 + t) with t = GFD / bandwidth^2, or the inner product of the embeddings.

    Examples
    --------
    >>> import scorecal as sc
    >>> predictions, y = sc.experiments.mgm(200, 0.5, rng=0)
    >>> sc.kccsd_test(predictions, y, distribution_kernel=sc.kernels.GFD(n_base=20), rng=0).rejects()
    True
    """

    base: Any = None
    n_base: int | None = None
    bandwidth: float | str = "median"
    outer: str = "gaussian"

    def __post_init__(self) -> None:
        check_base(self.base, self.n_base)
        check_bandwidth(self.bandwidth)
        check_outer(self.outer)

    def distance(
        self, predictions: Predictions, reference: Array, rng: np.random.Generator
    ) -> tuple[Distance, dict[str, float]]:
        base = base_measure(self.base, predictions, reference, rng)
        if (
            self.n_base is None
            and isinstance(base, GaussianPredictions)
            and isinstance(predictions, GaussianPredictions)
        ):
            centre, covariance = base.moments()
            affine = predictions.score(centre), predictions.precision
            return Euclidean(gaussian_gfd(*affine, covariance[0, ...])), {}
        _, scores = base_scores(base, predictions, reference, self.n_base, rng)
        return Euclidean(sampled_gfd(scores)), {}


@dataclass(frozen=True)
class KGFD:
    """Kernel on the kernelised generalised Fisher divergence (the paper's definition 4.3).

    Parameters
    ----------
    ground : sc.kernels.Gaussian, sc.kernels.IMQ or sc.kernels.Diffusion
        The ground kernel, real- or matrix-valued. Its bandwidth "median" is the median, over pairs of predictions, of
        the median distance between draws of their equal mixture; for predictions that cannot be sampled, between base
        points.
    base, n_base, bandwidth, outer
        As for `GFD`. The closed form needs Gaussian predictions, a Gaussian base and a Gaussian ground kernel.
    """

    ground: Radial | Diffusion = field(default_factory=Gaussian)
    base: Any = None
    n_base: int | None = None
    bandwidth: float | str = "median"
    outer: str = "gaussian"

    def __post_init__(self) -> None:
        check_base(self.base, self.n_base)
        check_bandwidth(self.bandwidth)
        check_outer(self.outer)
        check_ground(self.ground, Radial | Diffusion)

    def distance(
        self, predictions: Predictions, reference: Array, rng: np.random.Generator
    ) -> tuple[Distance, dict[str, float]]:
        base = base_measure(self.base, predictions, reference, rng)
        smooth = self.ground.kernel if isinstance(self.ground, Diffusion) else self.ground
        if (
            self.n_base is None
            and isinstance(base, GaussianPredictions)
            and isinstance(predictions, GaussianPredictions)
            and isinstance(smooth, Gaussian)
        ):
            tau = ground_bandwidth(smooth, predictions, None)
            centre, covariance = base.moments()
            exact = gaussian_diffusion_kgfd if isinstance(self.ground, Diffusion) else gaussian_kgfd
            features = exact(predictions.score(centre), predictions.precision, covariance[0, ...], tau)
            return Euclidean(features), {"ground": tau}
        points, scores = base_scores(base, predictions, reference, self.n_base, rng)
        if points is None:
            raise ValueError("`KGFD` needs the base points themselves: give `base_points` to `Scores`, or use `GFD`.")
        tau = ground_bandwidth(smooth, predictions, points)
        if isinstance(self.ground, Diffusion):
            features = sampled_diffusion_kgfd(scores, points, self.ground, tau)
        else:
            features = sampled_kgfd(scores, points, self.ground, tau)
        return Euclidean(features), {"ground": tau}
