"""Correlations of many dimensions, as far as few rows tell them: factors that all have in common."""

import numpy as np

from .frame import ViewFrame


def without_factors(frame: ViewFrame, u: np.ndarray) -> np.ndarray:
    """Return targets u (S, n, d), in units of each dimension, with spread 1 along each factor of their correlation.

    Factors are directions whose second moment is larger than any of uncorrelated targets would be, but for rare ones:
    (1 + sqrt(d / n))^2 for n rows (V. Marchenko, L. Pastur, Math. USSR Sb. 1, 1967). Each dimension keeps its spread.
    """
    kept = np.ones(u.shape[1], dtype=bool) if frame.kept is None else ~frame.whitening.unfitted
    rows = u[:, kept].reshape(-1, u.shape[2])
    size = np.sqrt(np.maximum(np.mean(rows**2, axis=0), np.finfo(float).tiny))
    n, d = int(np.sum(kept)), u.shape[2]
    _, singular, axes = np.linalg.svd(rows / size / len(rows) ** 0.5, full_matrices=False)
    large = singular > 1.0 + (d / n) ** 0.5
    factors, lengths = axes[large], singular[large]
    other = u / size
    other = other - ((other @ factors.T) * (1.0 - 1.0 / lengths)) @ factors
    now = np.sqrt(np.mean(other[:, kept].reshape(-1, d) ** 2, axis=0))
    return np.asarray(other * size / np.maximum(now, np.finfo(float).tiny))
