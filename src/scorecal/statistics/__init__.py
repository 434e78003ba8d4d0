"""What is averaged: pair functions H, given for a block of rows and columns."""

from ..pairwise.algebra import ProductOfPairs, Remembered, SumOfPairs
from .operator import FunctionStein, matrix_stein
from .precision import cast_gram, sufficient_dtype
from .skce import gaussian_surprise, sampled_surprise
from .stein import radial_stein, stein_pairs

__all__ = [
    "FunctionStein",
    "ProductOfPairs",
    "Remembered",
    "SumOfPairs",
    "cast_gram",
    "gaussian_surprise",
    "matrix_stein",
    "radial_stein",
    "sampled_surprise",
    "stein_pairs",
    "sufficient_dtype",
]
