"""Predictions from `torch.distributions`, flows included."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..._lib.arrays import Array
from ..._lib.cached import cached_property
from ..._lib.extras import needs
from ..categorical import Categorical
from ..gaussian import Gaussian
from ..mixture import GaussianMixture
from ..protocol import Predictions
from .discrete import IntegerPredictions, from_log_prob
from .distribution import BatchOfDistributions, check_batch_of_classes, check_distribution, is_discrete

ROWS_AT_ONCE = 16384
_FEW_DRAWS, _DRAWS_PER_DIMENSION = 32, 8  # of a flow, for its location and spread
_SEED = 0  # of these: coordinates must not depend on `rng`


def from_torch(distribution: Any) -> Predictions | Categorical | IntegerPredictions:
    """Predictions from a `torch.distributions` object of batch shape (n,).

    Parameters
    ----------
    distribution : torch.distributions.Distribution
        Batch shape (n,) and event shape (d,) or (); a `TransformedDistribution`, such as a flow, included. Of discrete
        ones, `Categorical`, `OneHotCategorical` and `Bernoulli`.

    Returns
    -------
    Predictions
        `Gaussian`, `GaussianMixture` or `Categorical` where it is one, with all their closed forms; otherwise scores
        come from automatic differentiation of `log_prob`. Other discrete ones, such as `Poisson`, have no scores: the
        sums of their probabilities serve the tests.

    Examples
    --------
    >>> import scorecal as sc, torch
    >>> from torch.distributions import Independent, Normal, StudentT
    >>> mean = torch.linspace(-1.0, 1.0, 50)[:, None].expand(50, 2)
    >>> sc.from_torch(Independent(Normal(mean, 1.0), 1))
    Gaussian(n=50, dim=2, diagonal)
    >>> sc.from_torch(Independent(StudentT(5.0, mean), 1))
    TorchDistribution(n=50, dim=2, Independent)
    """
    torch = _torch()
    if not isinstance(distribution, torch.distributions.Distribution):
        raise TypeError(
            f"`distribution` must be a `torch.distributions.Distribution`, but is a {type(distribution).__name__}."
        )
    if isinstance(distribution, torch.distributions.VonMises):
        raise TypeError("`distribution` is VonMises, on a circle, which torch treats as a line; it has no score there.")
    classes = _as_classes(distribution)
    if classes is not None:
        return classes
    check_distribution(distribution, "Independent(distribution, 1)")
    if is_discrete(distribution):
        return from_log_prob(distribution, torch.as_tensor)
    return _as_gaussian(distribution) or _as_mixture(distribution) or TorchDistribution(distribution)


@dataclass(frozen=True, eq=False, repr=False)
class TorchDistribution(BatchOfDistributions):
    """Predictions from a distribution of torch without closed forms in scorecal."""

    @cached_property
    def slow_to_sample(self) -> bool:
        """Whether draws go through networks, as those of flows do, and random signs are the default null."""
        return _has_networks(self.distribution)

    @cached_property
    def spread_of(self) -> Array | None:
        """Draws (m, n, dim) of a flow, which tell where it lies and how wide it is at less cost than its scores."""
        if not self.slow_to_sample:
            return None
        return self.sample(max(_FEW_DRAWS, _DRAWS_PER_DIMENSION * self.dim), _SEED)

    def score(self, y: Array) -> Array:
        """Gradients of `log_prob` at `y`, broadcast against (n, dim)."""
        points = self.broadcast(y)
        if points.ndim == 2:
            return self._slope(points)
        return _torch().cat([self._slope(part) for part in points.split(max(1, ROWS_AT_ONCE // self.n))])

    def _slope(self, points: Array) -> Array:
        torch = _torch()
        try:
            return torch.func.grad(lambda points: self.log_prob(points).sum())(points)
        except RuntimeError:  # flows with a custom backward pass that `torch.func` does not support
            with torch.enable_grad():
                points = points.detach().clone().requires_grad_()
                (slope,) = torch.autograd.grad(self.log_prob(points).sum(), points)
            return slope

    def broadcast(self, y: Array) -> Array:
        if not isinstance(y, _torch().Tensor):
            raise TypeError(f"`y` must be a torch tensor, as the predictions are torch's, but is a {type(y).__name__}.")
        return y.broadcast_to(*y.shape[:-2], self.n, self.dim)

    def sample(self, n_samples: int, rng: Any = None) -> Array:
        """Draws (n_samples, n, dim), from torch's global generator, seeded from `rng` and then restored."""
        draws = seeded_draws(self.distribution, n_samples, rng)
        return draws if self.distribution.event_shape else draws[..., None]


@contextmanager
def seeded(rng: Any) -> Iterator[None]:
    """Seed torch's global generator from `rng`, restore it in the end, and keep no gradients."""
    torch = _torch()
    seed = int(np.random.default_rng(rng).integers(2**63))
    with torch.random.fork_rng(), torch.no_grad():
        torch.manual_seed(seed)
        yield


def seeded_draws(distribution: Any, n_samples: int, rng: Any) -> Array:
    """Draw from torch's global generator, seeded from `rng` and then restored."""
    with seeded(rng):
        return distribution.sample((n_samples,))


def _torch() -> Any:
    try:
        import torch
    except ImportError:
        raise needs("torch is not installed", "torch") from None
    return torch


def _as_classes(distribution: Any) -> Categorical | None:
    kinds = _torch().distributions
    one_of_many = isinstance(distribution, kinds.Categorical | kinds.OneHotCategorical)
    if not one_of_many and not isinstance(distribution, kinds.Bernoulli):
        return None
    check_batch_of_classes(distribution)
    p = distribution.probs
    return Categorical(p if one_of_many else _torch().stack([1.0 - p, p], dim=1))


def _as_gaussian(distribution: Any) -> Gaussian | None:
    kinds = _torch().distributions
    inner = distribution
    if type(distribution) is kinds.Independent and distribution.reinterpreted_batch_ndims == 1:
        inner = distribution.base_dist
    if type(inner) is kinds.Normal:
        return Gaussian(inner.loc, inner.scale if inner.loc.ndim > 1 else inner.scale[..., None])
    if type(distribution) is kinds.MultivariateNormal:
        return Gaussian(distribution.loc, covariance=distribution.covariance_matrix)
    return None


def _as_mixture(distribution: Any) -> GaussianMixture | None:
    kinds = _torch().distributions
    if type(distribution) is not kinds.MixtureSameFamily:
        return None
    parts = distribution.component_distribution
    if type(parts) is kinds.Independent and parts.reinterpreted_batch_ndims == 1:
        parts = parts.base_dist
    if type(parts) is not kinds.Normal:
        return None
    weights = distribution.mixture_distribution.probs
    scales = parts.scale if parts.loc.ndim == 3 else parts.scale[..., None]
    return GaussianMixture(weights, parts.loc, scales)


def _has_networks(part: Any) -> bool:
    """Whether a distribution or a transform is made of modules of torch, or is a part of zuko, which hides its own."""
    if isinstance(part, _torch().nn.Module) or type(part).__module__.startswith("zuko."):
        return True
    inner = [getattr(part, name, None) for name in ("base_dist", "transform")]
    steps = [*(getattr(part, "transforms", None) or []), *(getattr(part, "parts", None) or [])]
    return any(_has_networks(each) for each in (*inner, *steps) if each is not None)
