"""What is averaged: pair functions H, given for a block of rows and columns."""

from .stein import stein_pairs

__all__ = ["stein_pairs"]
