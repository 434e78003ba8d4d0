"""Features of the squared kernel calibration error: a kernel between vectors of probabilities, in finite rank."""

import numpy as np

from .features import ProductFeatures

_RANK, _REST = 32, 1e-3  # of the kernel matrix; what may be left out, as a share of its trace
_MOST_FEATURES = 4096  # of many classes, fewer functions of the prediction
_MOST_PAIRS = 10**5
_SEED = 0


def kernel_features(p: np.ndarray, ordered: bool) -> ProductFeatures:
    """Return features f with f_i.f_j = k(p_i, p_j) e_i.e_j: k is Gaussian, up to its rank, or linear for ordered rows.

    A kernel that is fitted to the predictions knows later ones, which in time series may depend on earlier targets.
    """
    if ordered:
        n_classes = p.shape[1]
        rng = np.random.default_rng(_SEED)
        curves = p if n_classes <= _RANK else p @ rng.normal(size=(n_classes, _RANK))
    else:
        curves = pivoted_root(p, median_distance(p), max(2, min(_RANK, _MOST_FEATURES // p.shape[1])))
    return ProductFeatures(p, curves, np.ones(p.shape[1]))


def median_distance(p: np.ndarray) -> float:
    """Return the median distance of two rows, of those that differ if most do not; 1 if none do."""
    n = len(p)
    if n * (n - 1) // 2 <= _MOST_PAIRS:
        i, j = np.triu_indices(n, 1)
    else:
        i, j = np.random.default_rng(_SEED).integers(n, size=(2, _MOST_PAIRS))
    step = max(1, 2**22 // p.shape[1])
    parts = (slice(start, start + step) for start in range(0, len(i), step))
    gaps = np.concatenate([np.sqrt(np.sum((p[i[part]] - p[j[part]]) ** 2, axis=1)) for part in parts])
    middle = np.median(gaps)
    gaps = gaps[gaps > 0]
    return float(middle) if middle > 0 else float(np.median(gaps)) if len(gaps) else 1.0


def pivoted_root(p: np.ndarray, bandwidth: float, rank: int = _RANK) -> np.ndarray:
    """Return a root (n, r) of the Gaussian kernel matrix of the rows, by Cholesky's method with pivots."""
    columns: list[np.ndarray] = []
    rest = np.ones(len(p))
    while len(columns) < min(rank, len(p)) and np.mean(rest) > _REST:
        pivot = int(np.argmax(rest))
        column = np.exp(-0.5 * np.sum((p - p[pivot]) ** 2, axis=1) / bandwidth**2)
        for known in columns:
            column = column - known * known[pivot]
        columns.append(column / np.sqrt(rest[pivot]))
        rest = np.maximum(rest - columns[-1] ** 2, 0.0)
    return np.stack(columns, axis=1)
