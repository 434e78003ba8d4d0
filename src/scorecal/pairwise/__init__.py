"""Functions that statistics average: H of pairs of rows, or features f of rows."""

from .algebra import ProductOfPairs, Remembered, SumOfPairs
from .products import Differences, Product, half_distances, sum_of_differences
from .protocol import Average, Features, PairFunction, Redraw, Statistic

__all__ = [
    "Average",
    "Differences",
    "Features",
    "PairFunction",
    "Product",
    "ProductOfPairs",
    "Redraw",
    "Remembered",
    "Statistic",
    "SumOfPairs",
    "half_distances",
    "sum_of_differences",
]
