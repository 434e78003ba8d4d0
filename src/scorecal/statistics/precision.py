"""Choice of a dtype with enough digits for distances that are differences of large numbers."""

from collections.abc import Sequence
from typing import Any

from .._lib.arrays import Array, accumulation_dtype, array_namespace, as_float, has_values
from .._lib.linalg import centre
from .._lib.warn import warn_user
from ..kernels.gram import EmbeddingGram
from ..pairwise import PairFunction

_TOLERANCE = 1e-3


def sufficient_dtype(targets: Array, bandwidth: Array, grams: Sequence[PairFunction]) -> Any:
    """Return the dtype of the targets, or float64 where float32 would lose distances between rows far from the centre.

    Squared distances are differences of squared norms, so their error is about eps times the largest squared norm, in
    units of the bandwidths.
    """
    xp = array_namespace(targets)
    features = [gram.features for gram in grams if isinstance(gram, EmbeddingGram)]
    if xp.finfo(targets.dtype).bits >= 64 or not has_values(targets, bandwidth, *features):
        return targets.dtype
    scaled = [targets / bandwidth, *features]
    largest = max(as_float(xp.max(xp.sum(centre(part) ** 2, axis=1))) for part in scaled)
    if float(xp.finfo(targets.dtype).eps) * largest <= _TOLERANCE:
        return targets.dtype
    wide = accumulation_dtype(targets)
    if wide == targets.dtype:
        warn_user(
            "Some rows of `y` or of the predictions lie so far from the others, in units of the bandwidths, that "
            "float32 cannot resolve the distances between them. Enable float64, or rescale or drop these rows."
        )
    return wide


def cast_gram(gram: PairFunction, dtype: Any) -> PairFunction:
    """Return the Gram matrix with its features in this dtype; one without features is returned unchanged."""
    if not isinstance(gram, EmbeddingGram):
        return gram
    return EmbeddingGram(array_namespace(gram.features).astype(gram.features, dtype, copy=False), gram.outer)
