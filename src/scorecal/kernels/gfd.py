"""Kernels between predictions: k(P, Q) = outer(D(P, Q) / bandwidth^2) with a squared Hilbertian distance D.

Whether a distance is exact or sampled is a way to make it, not another kernel: each kernel has one method, which
picks the closed form where there is one.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np

from .._lib.arrays import Array, has_values, like
from ..predictions import Gaussian as GaussianPredictions
from ..predictions import GaussianMixture, Predictions, draw_samples, held_array
from . import embeddings
from .bandwidth import median_distance
from .base import base_measure, base_scores, check_base, check_count
from .distances import Distance, Euclidean, mmd_distance
from .mean_embeddings import GaussianMeasures, MeanEmbeddings, PointMeasures
from .radial import Diffusion, Gaussian, Radial, check_bandwidth
from .second_order import second_order_median

__all__ = ["GFD", "KGFD", "MMD", "DistributionKernel", "Wasserstein"]

_OUTERS = ("gaussian", "imq", "linear")
DEFAULT_N_SAMPLES = 10


class DistributionKernel(Protocol):
    """What every kernel between predictions offers."""

    @property
    def bandwidth(self) -> float | str: ...

    @property
    def outer(self) -> str: ...

    def distance(
        self, predictions: Predictions, reference: Array, rng: np.random.Generator
    ) -> tuple[Distance, dict[str, float]]:
        """Squared distances between the predictions, and the ground bandwidth if there is one."""
        ...


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
        _check_outer(self.outer)

    def distance(
        self, predictions: Predictions, reference: Array, rng: np.random.Generator
    ) -> tuple[Distance, dict[str, float]]:
        base = base_measure(self.base, predictions, reference, rng)
        if (
            self.n_base is None
            and isinstance(base, GaussianPredictions)
            and isinstance(predictions, GaussianPredictions)
        ):
            return Euclidean(embeddings.gaussian_gfd(predictions, base)), {}
        _, scores = base_scores(base, predictions, reference, self.n_base, rng)
        return Euclidean(embeddings.sampled_gfd(scores)), {}


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
        _check_outer(self.outer)
        _check_ground(self.ground, Radial | Diffusion)

    def distance(
        self, predictions: Predictions, reference: Array, rng: np.random.Generator
    ) -> tuple[Distance, dict[str, float]]:
        base = base_measure(self.base, predictions, reference, rng)
        diffusion = isinstance(self.ground, Diffusion)
        smooth = self.ground.kernel if isinstance(self.ground, Diffusion) else self.ground
        if (
            self.n_base is None
            and isinstance(base, GaussianPredictions)
            and isinstance(predictions, GaussianPredictions)
            and isinstance(smooth, Gaussian)
        ):
            tau = _ground_bandwidth(smooth, predictions, None)
            exact = embeddings.gaussian_diffusion_kgfd if diffusion else embeddings.gaussian_kgfd
            return Euclidean(exact(predictions, base, tau)), {"ground": tau}
        points, scores = base_scores(base, predictions, reference, self.n_base, rng)
        if points is None:
            raise ValueError("`KGFD` needs the base points themselves: give `base_points` to `Scores`, or use `GFD`.")
        tau = _ground_bandwidth(smooth, predictions, points)
        if isinstance(self.ground, Diffusion):
            features = embeddings.sampled_diffusion_kgfd(scores, points, self.ground, tau)
        else:
            features = embeddings.sampled_kgfd(scores, points, self.ground, tau)
        return Euclidean(features), {"ground": tau}


@dataclass(frozen=True)
class MMD:
    """Kernel on the squared maximum mean discrepancy.

    Parameters
    ----------
    ground : sc.kernels.Gaussian or sc.kernels.IMQ
        The ground kernel; its bandwidth "median" is that of `KGFD`.
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
        check_count(self.n_samples, "n_samples")
        check_bandwidth(self.bandwidth)
        _check_ground(self.ground)

    def distance(
        self, predictions: Predictions, reference: Array, rng: np.random.Generator
    ) -> tuple[Distance, dict[str, float]]:
        tau = _ground_bandwidth(self.ground, predictions, None)
        exact = self.n_samples is None and isinstance(self.ground, Gaussian)
        if exact and isinstance(predictions, GaussianPredictions | GaussianMixture):
            embeddings: MeanEmbeddings = GaussianMeasures(*predictions.components(), tau)
        else:
            samples = draw_samples(predictions, self.n_samples or DEFAULT_N_SAMPLES, rng)
            weights = like(np.full(samples.shape[1], 1.0 / samples.shape[1]), reference)
            embeddings = PointMeasures(weights, like(samples, reference), self.ground, tau)
        return mmd_distance(embeddings, reference), {"ground": tau}


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
        Random directions of the sliced distance.
    outer : {"gaussian", "imq", "linear"}
        As for `GFD`.
    """

    bandwidth: float | str = "median"
    n_samples: int | None = None
    n_projections: int = 20
    outer: str = "gaussian"

    def __post_init__(self) -> None:
        check_count(self.n_samples, "n_samples")
        check_count(self.n_projections, "n_projections", optional=False)
        check_bandwidth(self.bandwidth)
        _check_outer(self.outer)

    def distance(
        self, predictions: Predictions, reference: Array, rng: np.random.Generator
    ) -> tuple[Distance, dict[str, float]]:
        if self.n_samples is None and isinstance(predictions, GaussianPredictions):
            return Euclidean(embeddings.gaussian_wasserstein(predictions)), {}
        directions = embeddings.random_directions(self.n_projections, predictions.dim, rng)
        samples = draw_samples(predictions, self.n_samples or DEFAULT_N_SAMPLES, rng)
        return Euclidean(embeddings.sliced_wasserstein(like(samples, reference), like(directions, reference))), {}


def _check_outer(outer: str) -> None:
    if outer not in _OUTERS:
        raise ValueError(f"`outer` must be one of {', '.join(map(repr, _OUTERS))}, but is {outer!r}.")


def _check_ground(ground: Any, allowed: Any = Radial) -> None:
    if not isinstance(ground, allowed):
        names = "`kernels.Gaussian` or `kernels.IMQ`" + ("" if allowed is Radial else ", or `kernels.Diffusion` of one")
        raise TypeError(f"`ground` must be {names}, but is {type(ground).__name__}.")


def _ground_bandwidth(ground: Radial, predictions: Predictions, points: Array | None) -> float:
    if not isinstance(ground.bandwidth, str):
        return float(ground.bandwidth)
    held = held_array(predictions)
    if held is not None and not has_values(held):
        raise TypeError('The ground bandwidth "median" cannot be found while JAX is tracing; give `ground` a number.')
    if points is None or hasattr(predictions, "sample"):
        return second_order_median(predictions)
    return float(median_distance(Euclidean(points), points))
