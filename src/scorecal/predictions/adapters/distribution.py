"""Batches of distributions of torch or numpyro, and their checks."""

from dataclasses import dataclass
from typing import Any

from ..._lib.arrays import Array
from ..._lib.cached import cached_property
from ..protocol import describe
from ..supports import Box, Support
from .distribution_support import support_of


@dataclass(frozen=True, eq=False)
class BatchOfDistributions:
    """n distributions on R^dim in one object, whose `log_prob` broadcasts."""

    distribution: Any

    @property
    def n(self) -> int:
        return int(self.distribution.batch_shape[0])

    @property
    def dim(self) -> int:
        return int(self.distribution.event_shape[0]) if self.distribution.event_shape else 1

    @cached_property
    def support(self) -> Support | None:
        """Support of the distributions; None for all of R^dim."""
        found = support_of(self.distribution)
        if isinstance(found, Box) and not self.distribution.event_shape and found.low.ndim == 1:
            return Box(found.low[:, None], found.high[:, None])  # one row for each distribution on the line
        return found

    def __repr__(self) -> str:
        return describe(self, type(self.distribution).__name__)

    def log_prob(self, y: Array) -> Array:
        """Log-densities at `y`, broadcast against (n, dim)."""
        points = self.broadcast(y)
        return self.distribution.log_prob(points if self.distribution.event_shape else points[..., 0])

    def broadcast(self, y: Array) -> Array:
        """Broadcast points to (..., n, dim); raise unless they are arrays of the library of the distribution."""
        raise NotImplementedError


def check_distribution(distribution: Any, wrapped: str) -> None:
    """Raise, with advice, unless it is a batch of n continuous distributions on R^d or a part of it.

    `wrapped` is the expression that turns a second batch axis into dimensions.
    """
    _check_shapes(tuple(distribution.batch_shape), tuple(distribution.event_shape), wrapped)
    if is_discrete(distribution):
        inner = distribution.base_dist if type(distribution).__name__ == "Independent" else distribution
        if any(kind in type(inner).__name__ for kind in ("Categorical", "Multinomial")):
            raise TypeError(f"`distribution` is of classes ({distribution}); for classes use `Categorical`.")
        return
    support_of(distribution)


def is_discrete(distribution: Any) -> bool:
    """Return whether the distribution is one of whole numbers; False where it does not say."""
    try:
        return bool(distribution.support.is_discrete)
    except NotImplementedError:
        return False


def check_batch_of_classes(distribution: Any) -> None:
    """Raise unless it is a batch of n distributions on classes."""
    batch = tuple(distribution.batch_shape)
    if len(batch) != 1 or 0 in batch:
        raise ValueError(
            f"`distribution` of classes must have batch shape (n,), one row for each prediction, but has {batch}."
        )


def _check_shapes(batch: tuple[int, ...], event: tuple[int, ...], wrapped: str) -> None:
    if len(batch) == 1 and len(event) <= 1 and 0 not in batch + event:
        return
    advice = ""
    if len(batch) == 2 and not event:
        advice = f" For n predictions on R^d with independent dimensions, wrap it: `{wrapped}`."
    raise ValueError(
        f"`distribution` must have batch shape (n,) and event shape (d,) or (), but has batch shape {batch} and event "
        f"shape {event}.{advice}"
    )
