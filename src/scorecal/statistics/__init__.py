"""Stein features of rows, and pair functions H evaluated on blocks of rows and columns."""

from .assemble import assemble, stein_features, stein_statistic
from .precision import cast_gram, sufficient_dtype
from .skce import surprise_of

__all__ = ["assemble", "cast_gram", "stein_features", "stein_statistic", "sufficient_dtype", "surprise_of"]
