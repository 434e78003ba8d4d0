"""Functions that statistics average: H of pairs of rows, or features f of rows."""

from .algebra import ProductOfPairs, Remembered, SumOfPairs
from .products import Differences, Product, half_distances, sum_of_differences
from .protocol import Features, PairFunction, Statistic

__all__ = [
    "Differences",
    "Features",
    "PairFunction",
    "Product",
    "ProductOfPairs",
    "Remembered",
    "Statistic",
    "SumOfPairs",
    "half_distances",
    "sum_of_differences",
]
