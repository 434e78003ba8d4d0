"""Correlations of many dimensions, as far as few rows tell them: factors that all have in common."""

import numpy as np

from .._lib.arrays import to_numpy
from .frame import ViewFrame


def without_factors(frame: ViewFrame) -> np.ndarray:
    """Return targets (S, n, d), in units of each dimension, with spread 1 along each factor of their correlation.

    Factors are directions whose second moment is larger than any of uncorrelated targets would be, but for rare ones:
    (1 + sqrt(d / n))^2 for n rows (V. Marchenko, L. Pastur, Math. USSR Sb. 1, 1967). Each dimension keeps its spread.
    """
    u = to_numpy(frame.marginal[0]).astype(np.float64)
    kept = np.ones(u.shape[1], dtype=bool) if frame.kept is None else ~frame.whitening.unfitted
    rows, n, d = u[:, kept].reshape(-1, u.shape[2]), int(np.sum(kept)), u.shape[2]
    size = _size(rows)
    factors, lengths = _factors(rows / size, 1.0 + (d / n) ** 0.5)
    other = u / size
    other = other - ((other @ factors.T) * (1.0 - 1.0 / lengths)) @ factors
    return np.asarray(other * size / _size(other[:, kept].reshape(-1, d)))


def _factors(rows: np.ndarray, least: float) -> tuple[np.ndarray, np.ndarray]:
    """Directions (k, d) along which the root mean square of rows (n, d) is larger than the least, and it (k,)."""
    n, d = rows.shape
    if d <= n:
        squares, vectors = np.linalg.eigh(rows.T @ rows / n)
        large = squares > least**2
        return vectors[:, large].T, np.sqrt(squares[large])
    squares, vectors = np.linalg.eigh(rows @ rows.T / n)
    large = squares > least**2
    lengths = np.sqrt(squares[large])
    return (rows.T @ vectors[:, large] / (lengths * n**0.5)).T, lengths


def _size(rows: np.ndarray) -> np.ndarray:
    return np.asarray(np.sqrt(np.maximum(np.mean(rows**2, axis=0), np.finfo(float).tiny)))
