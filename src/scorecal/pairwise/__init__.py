"""Parts of statistics: H of pairs of rows, features f of rows, or the largest of one number of each."""

from .algebra import ProductOfPairs, Remembered, SumOfPairs
from .products import Differences, Product, half_distances, sum_of_differences
from .protocol import Average, Extreme, Features, PairFunction, Redraw, Redrawn, RowFunction, Statistic, Units

__all__ = [
    "Average",
    "Differences",
    "Extreme",
    "Features",
    "PairFunction",
    "Product",
    "ProductOfPairs",
    "Redraw",
    "Redrawn",
    "Remembered",
    "RowFunction",
    "Statistic",
    "SumOfPairs",
    "Units",
    "half_distances",
    "sum_of_differences",
]
