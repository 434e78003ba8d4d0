"""Predictions from `numpyro.distributions`."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from array_api_compat import is_jax_array

from ..._lib.arrays import Array
from ..._lib.cached import cached_property
from ..._lib.extras import needs
from ..categorical import Categorical
from ..gaussian import Gaussian
from ..mixture import GaussianMixture
from ..protocol import Predictions
from .discrete import IntegerPredictions, from_log_prob
from .distribution import BatchOfDistributions, check_batch_of_classes, check_distribution, is_discrete


def from_numpyro(distribution: Any) -> Predictions | Categorical | IntegerPredictions:
    """Predictions from a `numpyro.distributions` object of batch shape (n,).

    Parameters
    ----------
    distribution : numpyro.distributions.Distribution
        Batch shape (n,) and event shape (d,) or (). Tests map a bounded support to one without a boundary. Of discrete
        ones, `Categorical` and `Bernoulli`.

    Returns
    -------
    Predictions
        `Gaussian`, `GaussianMixture` or `Categorical` where it is one, with all their closed forms; otherwise scores
        come from automatic differentiation of `log_prob`. Other discrete ones, such as `Poisson`, have no scores: the
        sums of their probabilities serve the tests.

    Examples
    --------
    >>> import jax.numpy as jnp, numpyro.distributions as dist, scorecal as sc
    >>> mean = jnp.linspace(-1.0, 1.0, 50)[:, None] * jnp.ones(2)
    >>> sc.from_numpyro(dist.Normal(mean, 1.0).to_event(1))
    Gaussian(n=50, dim=2, diagonal)
    >>> sc.from_numpyro(dist.StudentT(5.0, mean).to_event(1))
    NumpyroDistribution(n=50, dim=2, Independent)
    """
    kinds = _kinds()
    if not isinstance(distribution, kinds.Distribution):
        raise TypeError(
            f"`distribution` must be a `numpyro.distributions.Distribution`, but is a {type(distribution).__name__}."
        )
    classes = _as_classes(distribution, kinds)
    if classes is not None:
        return classes
    check_distribution(distribution, "distribution.to_event(1)")
    if is_discrete(distribution):
        import jax

        return from_log_prob(distribution, jax.numpy.asarray)
    return _closed_form(distribution, kinds) or NumpyroDistribution(distribution)


@dataclass(frozen=True, eq=False, repr=False)
class NumpyroDistribution(BatchOfDistributions):
    """Predictions from a distribution of numpyro without closed forms in scorecal."""

    def score(self, y: Array) -> Array:
        """Gradients of `log_prob` at `y`, broadcast against (n, dim)."""
        return self._slopes(self.broadcast(y))

    def sample(self, n_samples: int, rng: Any = None) -> Array:
        """Draws (n_samples, n, dim), with a key seeded from `rng`."""
        import jax

        key = jax.random.key(int(np.random.default_rng(rng).integers(2**31)))
        draws = self.distribution.sample(key, (n_samples,))
        return draws if self.distribution.event_shape else draws[..., None]

    @cached_property
    def _slopes(self) -> Callable[[Array], Array]:
        import jax

        compiled: Callable[[Array], Array] = jax.jit(jax.grad(lambda points: self.log_prob(points).sum()))
        return compiled

    def broadcast(self, y: Array) -> Array:
        if not is_jax_array(y):
            raise TypeError(f"`y` must be a JAX array, as the predictions are JAX's, but is a {type(y).__name__}.")
        import jax

        return jax.numpy.broadcast_to(y, (*y.shape[:-2], self.n, self.dim))


def _kinds() -> Any:
    try:
        import numpyro.distributions as kinds
    except ImportError:
        raise needs("numpyro is not installed", "numpyro") from None
    return kinds


def _as_classes(distribution: Any, kinds: Any) -> Categorical | None:
    one_of_many = isinstance(distribution, kinds.CategoricalProbs | kinds.CategoricalLogits)
    if not one_of_many and not isinstance(distribution, kinds.BernoulliProbs | kinds.BernoulliLogits):
        return None
    import jax

    check_batch_of_classes(distribution)
    p = distribution.probs
    return Categorical(p if one_of_many else jax.numpy.stack([1.0 - p, p], axis=1))


def _closed_form(distribution: Any, kinds: Any) -> Gaussian | GaussianMixture | None:
    if type(distribution) is kinds.MultivariateNormal:
        return Gaussian(distribution.loc, covariance=distribution.covariance_matrix)
    if type(normal := _inside(distribution, kinds)) is kinds.Normal:
        loc, scale = (part if part.ndim > 1 else part[:, None] for part in _broadcast_parameters(normal))
        return Gaussian(loc, scale)
    if isinstance(distribution, kinds.MixtureSameFamily):
        normal = _inside(distribution.component_distribution, kinds)
        if type(normal) is kinds.Normal:
            loc, scale = (part if part.ndim > 2 else part[..., None] for part in _broadcast_parameters(normal))
            return GaussianMixture(distribution.mixing_distribution.probs, loc, scale)
    return None


def _inside(distribution: Any, kinds: Any) -> Any:
    """Return the distribution of one dimension where dimensions are independent, otherwise the whole."""
    if type(distribution) is kinds.Independent and distribution.reinterpreted_batch_ndims == 1:
        return distribution.base_dist
    return distribution


def _broadcast_parameters(normal: Any) -> list[Array]:
    import jax

    return [jax.numpy.broadcast_to(part, normal.batch_shape) for part in (normal.loc, normal.scale)]
