"""What is averaged: pair functions H, given for a block of rows and columns."""

from .operator import FunctionStein, SumOfPairs, matrix_stein
from .precision import cast_gram, sufficient_dtype
from .skce import SKCEPairs, gaussian_surprise, sampled_surprise
from .stein import stein_pairs

__all__ = [
    "FunctionStein",
    "SKCEPairs",
    "SumOfPairs",
    "cast_gram",
    "gaussian_surprise",
    "matrix_stein",
    "sampled_surprise",
    "stein_pairs",
    "sufficient_dtype",
]
