"""What is averaged: Stein features of rows, and pair functions H, given for a block of rows and columns."""

from .assemble import assemble
from .precision import cast_gram, sufficient_dtype
from .skce import surprise_of

__all__ = ["assemble", "cast_gram", "sufficient_dtype", "surprise_of"]
