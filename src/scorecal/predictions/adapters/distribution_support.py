"""Supports of distributions of torch and numpyro, which some of them declare wrongly."""

from collections.abc import Callable
from typing import Any

import numpy as np

from ..._lib.arrays import Array, to_numpy
from ..supports import Box, Support, bounded_support

_WRAPPERS = {"Independent", "ExpandedDistribution", "MaskedDistribution"}  # of a distribution with the same support


def support_of(distribution: Any) -> Support | None:
    """Return the support; None for all of R^d, and where the distribution declares none."""
    kinds = {kind.__name__ for kind in type(distribution).__mro__}
    if "MultipleIndependent" in kinds:  # sbi's product of priors
        return bounded_support(_side_by_side(distribution))
    if kinds & _WRAPPERS:
        return support_of(distribution.base_dist)
    if type(distribution).__name__ == "TransformedDistribution":  # subclasses, such as LogNormal, declare it correctly
        return _transformed(distribution)
    try:
        said = distribution.support
    except (AttributeError, NotImplementedError):
        return None
    return bounded_support(said)


def _transformed(distribution: Any) -> Support | None:
    """Map the ends of its base through the transforms: the support that it declares ignores the base."""
    start = support_of(distribution.base_dist)
    elementwise = all(_is_monotone(transform) for transform in distribution.transforms)
    if start is None and any(transform.domain.event_dim > 0 for transform in distribution.transforms):
        return bounded_support(distribution.support)  # a flow from all of R^d
    ends: list[Any] = [np.nan]
    if elementwise and isinstance(start, Box | None):
        start = start or Box()
        ends = [_through(distribution, end) for end in (start.low, start.high)]
    if np.any(np.isnan(ends)) or np.any(ends[0] == ends[1]):  # not monotone, or not elementwise
        raise TypeError(
            f"`distribution` is transformed from one on {start!r} in a way that hides its support. Give a "
            "`LogDensity` or a `ScoreFunction` with its `support`."
        )
    return bounded_support(Box(np.minimum(*ends), np.maximum(*ends)))


def _is_monotone(transform: Any) -> bool:
    """Return whether it is monotone in each dimension; numpyro declares nothing, but only its Abs is not."""
    bijective = getattr(transform, "bijective", "Abs" not in type(transform).__name__)
    return bool(bijective) and transform.domain.event_dim == 0


def _through(distribution: Any, end: np.ndarray) -> np.ndarray:
    point = _array_of(distribution)(end)
    for transform in distribution.transforms:
        point = transform(point)
    return to_numpy(point)


def _array_of(distribution: Any) -> Callable[[Any], Array]:
    if any(kind.__module__.startswith("torch.") for kind in type(distribution).__mro__):
        import torch

        return torch.as_tensor
    import jax

    return jax.numpy.asarray


def _side_by_side(prior: Any) -> Box:
    ends = []
    for part, dim in zip(prior.dists, prior.dims_per_dist, strict=True):
        box = support_of(part) or Box()
        if not isinstance(box, Box):
            raise TypeError(f"`prior` combines a {box!r} with other dimensions, which cannot be mapped.")
        ends.append([np.broadcast_to(end, (int(dim),)) for end in (box.low, box.high)])
    return Box(*(np.concatenate(side) for side in zip(*ends, strict=True)))
