"""Priors of sbi as base measures, and their supports."""

from dataclasses import dataclass
from typing import Any

from ...._lib.arrays import Array
from ...._lib.cached import cached_property
from ...capabilities import Prior
from ...supports import Support
from ..distribution_support import support_of
from ..torch import from_torch, seeded_draws
from .density import dim_of


@dataclass(frozen=True, eq=False)
class SbiPrior:
    """A prior that is not Gaussian, as the base measure."""

    distribution: Any
    n: int = 1

    @property
    def dim(self) -> int:
        return dim_of(self.distribution)

    @cached_property
    def support(self) -> Support | None:
        return support_of(self.distribution)

    def sample(self, n_samples: int, rng: Any = None) -> Array:
        """Draws (n_samples, 1, dim), from torch's global generator, seeded from `rng` and then restored."""
        return seeded_draws(self.distribution, n_samples, rng)[:, None, :]


def as_prior(distribution: Any) -> Prior | None:
    """Return a prior of sbi as a base measure, a `Gaussian` where it is one; None for None."""
    if distribution is None:
        return None
    try:
        return from_torch(distribution.expand((1,)))  # type: ignore[return-value]
    except (NotImplementedError, AttributeError, TypeError):  # sbi's own priors cannot be expanded
        prior = SbiPrior(distribution)
        _check_edges(prior)
        return prior


def _check_edges(prior: SbiPrior) -> None:
    """Raise if the density is 0 beyond the draws but inside the declared support, as a custom prior may have it."""
    draws = prior.sample(100, 0)[:, 0, :]
    low, high = draws.amin(dim=0), draws.amax(dim=0)
    for k in range(prior.dim):
        for end in (2 * low - high, 2 * high - low):
            point = draws[:1].clone()
            point[0, k] = end[k]
            if prior.support is not None and not bool(prior.support.contains(point)):
                continue
            if not bool(prior.distribution.log_prob(point).isfinite().all()):
                raise ValueError(
                    f"`posterior` has a prior whose density is 0 at {point[0].tolist()}, inside its declared "
                    f"support, {prior.support or 'all of R^d'}. Tests would reject even a calibrated posterior. Likely "
                    "cause: a custom prior without `lower_bound` and `upper_bound` for sbi's `process_prior`."
                )
