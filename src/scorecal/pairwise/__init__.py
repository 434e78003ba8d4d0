"""Functions that statistics average: H of pairs of rows, or features f of rows."""

from .algebra import ProductOfPairs, Remembered, SumOfPairs
from .products import Product
from .protocol import Features, PairFunction, Statistic

__all__ = ["Features", "PairFunction", "Product", "ProductOfPairs", "Remembered", "Statistic", "SumOfPairs"]
