"""What is averaged: pair functions H, given for a block of rows and columns."""

from .skce import SKCEPairs, gaussian_surprise, sampled_surprise
from .stein import stein_pairs

__all__ = ["SKCEPairs", "gaussian_surprise", "sampled_surprise", "stein_pairs"]
