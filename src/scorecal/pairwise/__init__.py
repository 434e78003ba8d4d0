"""What is averaged over pairs of rows: H for a block of pairs, or f for a block of rows; and over which pairs."""

from .algebra import ProductOfPairs, Remembered, SumOfPairs
from .products import Product
from .protocol import Features, PairFunction, Statistic

__all__ = [
    "Features",
    "PairFunction",
    "Product",
    "ProductOfPairs",
    "Remembered",
    "Statistic",
    "SumOfPairs",
]
