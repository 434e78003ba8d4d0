"""Choice of a dtype with enough digits for distances that are differences of large numbers."""

from collections.abc import Sequence
from typing import Any

from .._lib.arrays import Array, accumulation_dtype, array_namespace
from .._lib.linalg import norms_cancel
from ..kernels.gram import EmbeddingGram
from ..pairwise import PairFunction


def sufficient_dtype(targets: Array, bandwidth: Array, grams: Sequence[PairFunction]) -> Any:
    """Return the dtype of the targets, or float64 where float32 would lose distances between rows far from the centre.

    Where there is no float64, or rows are too far apart even for that, distances are computed from differences.
    """
    wide = accumulation_dtype(targets)
    if targets.dtype == wide:
        return wide
    scaled = [targets / bandwidth, *(gram.features for gram in grams if isinstance(gram, EmbeddingGram))]
    return wide if any(norms_cancel(part) for part in scaled) else targets.dtype


def cast_gram(gram: PairFunction, dtype: Any) -> PairFunction:
    """Return the Gram matrix with its features in this dtype; one without features is returned unchanged."""
    if not isinstance(gram, EmbeddingGram):
        return gram
    return EmbeddingGram(array_namespace(gram.features).astype(gram.features, dtype, copy=False), gram.outer)
