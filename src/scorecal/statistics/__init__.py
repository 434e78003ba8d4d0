"""What is averaged: pair functions H, given for a block of rows and columns."""

from .operator import FunctionStein, SumOfPairs, matrix_stein
from .precision import enough_digits
from .skce import SKCEPairs, gaussian_surprise, sampled_surprise
from .stein import stein_pairs

__all__ = [
    "FunctionStein",
    "SKCEPairs",
    "SumOfPairs",
    "enough_digits",
    "gaussian_surprise",
    "matrix_stein",
    "sampled_surprise",
    "stein_pairs",
]
