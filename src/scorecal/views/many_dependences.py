"""Biases of many dimensions that depend on something, for all dimensions at once."""

import numpy as np

from .._lib.arrays import to_numpy
from .frame import ViewFrame

_CLEAR = 2.0  # standard errors


def own_slopes(frame: ViewFrame, values: np.ndarray, functions: np.ndarray) -> np.ndarray:
    """Regression (n, d) of values (n, d) on a function of each dimension (n, d), where its slope is clear."""
    kept = _kept(frame)
    x = functions - np.mean(functions[kept], axis=0)
    products = (values - np.mean(values[kept], axis=0))[kept] * x[kept]
    slopes = np.sum(products, axis=0) / np.maximum(np.sum(x[kept] ** 2, axis=0), np.finfo(float).tiny)
    return np.asarray(x * np.where(np.abs(np.sum(products, axis=0)) > _CLEAR * _size(products), slopes, 0.0))


def shared_slopes(frame: ViewFrame, values: np.ndarray, functions: np.ndarray) -> np.ndarray:
    """Regression (n, d) of values (n, d) on functions (n, q) of all dimensions, nearly uncorrelated, where clear."""
    return np.asarray(sum(own_slopes(frame, values, column[:, None]) for column in functions.T))


def _kept(frame: ViewFrame) -> np.ndarray:
    return np.ones(frame.reference.shape[0], dtype=bool) if frame.kept is None else to_numpy(frame.kept)[:, 0] > 0


def _size(products: np.ndarray) -> np.ndarray:
    return np.asarray(np.sqrt(np.sum(products**2, axis=0)))
