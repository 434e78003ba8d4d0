"""Choice of a dtype with enough digits for distances that are differences of large numbers."""

from collections.abc import Sequence
from typing import Any

from .._lib.arrays import Array, accumulation_dtype
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
    embedded = [(gram.embedding, gram.unit) for gram in grams if isinstance(gram, EmbeddingGram)]
    scaled = [(targets, bandwidth), *embedded]
    return wide if any(norms_cancel(*part) for part in scaled) else targets.dtype


def cast_gram(gram: PairFunction, dtype: Any) -> PairFunction:
    """Return the Gram matrix with its features in this dtype; one without features is returned unchanged."""
    return gram.cast(dtype) if isinstance(gram, EmbeddingGram) else gram
