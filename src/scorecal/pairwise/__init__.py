"""Parts of statistics: H of pairs of rows, features f of rows, or the largest of one number of each."""

from .algebra import ProductOfPairs, Remembered, SumOfPairs
from .products import Differences, DistancesByBlock, Product, half_distances, is_long, sum_of_differences
from .protocol import Average, Extreme, Features, PairFunction, Redraw, Redrawn, RowFunction, Statistic, Units
from .stacks import Rows, Stack, rows_of, takes_stacks

__all__ = [
    "Average",
    "Differences",
    "DistancesByBlock",
    "Extreme",
    "Features",
    "PairFunction",
    "Product",
    "ProductOfPairs",
    "Redraw",
    "Redrawn",
    "Remembered",
    "RowFunction",
    "Rows",
    "Stack",
    "Statistic",
    "SumOfPairs",
    "Units",
    "half_distances",
    "is_long",
    "rows_of",
    "sum_of_differences",
    "takes_stacks",
]
