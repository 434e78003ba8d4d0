"""Stein features of rows, and pair functions H evaluated on blocks of rows and columns."""

from .assemble import assemble, stein_features
from .precision import cast_gram, sufficient_dtype
from .skce import surprise_of

__all__ = ["assemble", "cast_gram", "stein_features", "sufficient_dtype", "surprise_of"]
