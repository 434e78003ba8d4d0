"""Stein features of rows, and pair functions H evaluated on blocks of rows and columns."""

from .assemble import assemble
from .precision import cast_gram, sufficient_dtype
from .skce import surprise_of

__all__ = ["assemble", "cast_gram", "sufficient_dtype", "surprise_of"]
