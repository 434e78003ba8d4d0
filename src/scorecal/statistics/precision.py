"""Enough digits for distances that are differences of large numbers."""

from __future__ import annotations

import warnings

from .._arrays import Array, accumulation_dtype, array_namespace, as_float, has_values
from ..kernels.gram import DistanceGram, EmbeddingGram, Gram, RadialGram
from ..kernels.products import centre

__all__ = ["enough_digits"]

_TOLERANCE = 1e-3


def enough_digits(targets: Array, scores: Array, bandwidth: Array, gram: Gram) -> tuple[Array, Array, Array, Gram]:
    """The same arrays, in float64 where float32 would lose the distances between rows far from the centre.

    Squared distances come from norms that cancel, so their error is about eps times the largest squared norm, in units
    of the bandwidths.
    """
    xp = array_namespace(targets)
    if not has_values(targets) or xp.finfo(targets.dtype).bits >= 64:
        return targets, scores, bandwidth, gram
    features = [] if isinstance(gram, DistanceGram) else [gram.features]
    largest = sum(as_float(xp.max(xp.sum(centre(part) ** 2, axis=1))) for part in [targets / bandwidth, *features])
    if float(xp.finfo(targets.dtype).eps) * largest <= _TOLERANCE:
        return targets, scores, bandwidth, gram
    wide = accumulation_dtype(targets)
    if wide == targets.dtype:
        warnings.warn(
            "Some of `y` or of the predictions lie so far from the others, in units of the bandwidths, that float32 "
            "blurs the distances between them. Enable float64, or rescale or drop these rows.",
            stacklevel=5,
        )
    if isinstance(gram, EmbeddingGram):
        gram = EmbeddingGram(xp.astype(gram.features, wide), gram.outer)
    elif isinstance(gram, RadialGram):
        gram = RadialGram(xp.astype(gram.features, wide), gram.kernel)
    return xp.astype(targets, wide), xp.astype(scores, wide), xp.astype(bandwidth, wide), gram
