"""Linear algebra for which NumPy, torch and JAX have no common function."""

import sys
from collections.abc import Callable

import numpy as np
from array_api_compat import is_jax_array, is_numpy_array, is_torch_array

from .arrays import Array, array_namespace, as_float, full_product, has_values, like, to_numpy

_LARGEST_ERROR = 1e-3  # of a squared distance
_FLOATS_AT_ONCE = 2**19  # of matrices that are factored together


def symmetric_root(matrix: Array) -> Array:
    """Positive semi-definite square root (..., d, d); eigenvalues made negative by rounding count as zero."""
    xp = array_namespace(matrix)
    values, vectors = xp.linalg.eigh(matrix)
    return full_product(vectors * xp.sqrt(xp.maximum(values, 0.0))[..., None, :], vectors.mT)


def roots_and_inverses(matrices: Array) -> tuple[Array, Array]:
    """Symmetric square roots and their inverses.

    Many are factored some at a time: solvers on a GPU refuse, or take memory for, all of a long table at once.
    """
    roots, inverses = _some_at_a_time(_roots_and_inverses, matrices)
    return roots, inverses


def log_spreads(covariances: Array) -> Array:
    """Logarithms of the root eigenvalues (n,) of covariances (n, d, d), or variances (n, d), averaged over these."""
    xp, d = array_namespace(covariances), covariances.shape[-1]
    if covariances.ndim == 2:
        return 0.5 * xp.mean(xp.log(covariances), axis=1)
    sd = xp.sqrt(xp.linalg.diagonal(covariances))
    correlations = covariances / (sd[:, :, None] * sd[:, None, :])  # so that units do not hide small eigenvalues
    apart = xp.sum(xp.abs(correlations), axis=(1, 2)) - float(d)
    logs = xp.mean(xp.log(sd), axis=-1)
    if d == 1 or not bool(xp.any(apart > 0)):
        return logs
    return logs + _some_at_a_time(_mean_log_roots, correlations)[0]


def _some_at_a_time(function: Callable[[Array], tuple[Array, ...]], matrices: Array) -> tuple[Array, ...]:
    if matrices.ndim == 2 or matrices.shape[0] <= (at_once := max(1, _FLOATS_AT_ONCE // matrices.shape[-1] ** 2)):
        return function(matrices)
    starts = range(0, matrices.shape[0], at_once)
    parts = [function(matrices[start : start + at_once, :, :]) for start in starts]
    xp = array_namespace(matrices)
    return tuple(xp.concat(part) for part in zip(*parts, strict=True))


def _roots_and_inverses(matrices: Array) -> tuple[Array, Array]:
    xp = array_namespace(matrices)
    values, vectors = xp.linalg.eigh(0.5 * (matrices + matrices.mT))
    sd = xp.sqrt(_positive(values))[..., None, :]
    roots, inverses = (full_product(scaled, vectors.mT) for scaled in (vectors * sd, vectors / sd))
    return roots, inverses


def _mean_log_roots(matrices: Array) -> tuple[Array]:
    xp = array_namespace(matrices)
    return (0.5 * xp.mean(xp.log(_positive(xp.linalg.eigvalsh(matrices))), axis=-1),)


def _positive(eigenvalues: Array) -> Array:
    """Eigenvalues in rising order, of which rounding may have made the smallest negative."""
    xp = array_namespace(eigenvalues)
    return xp.maximum(eigenvalues, float(xp.finfo(eigenvalues.dtype).eps) * eigenvalues[..., -1:])


def times(matrices: Array, vectors: Array) -> Array:
    """Multiply each matrix (..., d, d) by its vector (..., d), or (n, d, d) by several of each row, (S, n, d).

    Diagonal matrices of several rows are (n, d), or (n, 1) where their entries are equal.
    """
    if matrices.ndim == 2 and vectors.ndim > 1:
        return matrices * vectors
    if matrices.ndim == vectors.ndim == 3:
        xp = array_namespace(vectors)
        return xp.permute_dims(full_product(xp.permute_dims(vectors, (1, 0, 2)), matrices.mT), (1, 0, 2))
    return full_product(matrices, vectors[..., None])[..., 0]


def transposed(matrices: Array) -> Array:
    """Transpose each matrix (n, d, d); diagonal ones, (n, d) or (n, 1), are their own transposes."""
    return matrices if matrices.ndim == 2 else matrices.mT


def diagonals(matrices: Array) -> Array:
    """Return the diagonal of each matrix (n, d, d); of diagonal ones, (n, d) or (n, 1), what they are."""
    return matrices if matrices.ndim == 2 else array_namespace(matrices).linalg.diagonal(matrices)


def along(matrix: Array, vectors: Array) -> Array:
    """Multiply vectors (..., d) by one matrix (d, d), or by a diagonal one, (d,)."""
    return vectors * matrix if matrix.ndim == 1 else full_product(vectors, matrix.mT)


def add_by_label(totals: Array, rows: Array, labels: np.ndarray) -> Array:
    """Add each of the rows (n, q) to that row of the totals (m, q) that its label names, in place where possible."""
    if is_torch_array(totals):
        return totals.index_add_(0, sys.modules["torch"].as_tensor(labels, device=totals.device), rows)
    if is_jax_array(totals):
        return totals.at[labels].add(rows)
    order = np.argsort(labels, kind="stable")
    found, starts = np.unique(labels[order], return_index=True)
    on_host = totals if is_numpy_array(totals) else to_numpy(totals).copy()
    on_host[found, :] += np.add.reduceat(to_numpy(rows)[order, :], starts, axis=0)
    return like(on_host, totals)


def middle_of(features: Array) -> Array:
    """Return a median of some rows of features (n, p): unlike a mean, it is robust to outliers."""
    some = features[:: max(1, features.shape[0] // 1024), :]
    return array_namespace(features).sort(some, axis=0)[some.shape[0] // 2, :]


def centre(features: Array) -> Array:
    """Subtract a median of some rows from features (n, p)."""
    return features - middle_of(features)


def norms_cancel(features: Array, unit: Array | float = 1.0) -> bool:
    """Return whether squared distances between rows (n, p) are too inexact as differences of squared norms.

    Their error is about eps times the largest squared norm, of rows in this unit. While JAX is tracing, the answer is
    no. Rows are taken some at a time.
    """
    if not has_values(features, unit):
        return False
    xp, middle, largest = array_namespace(features), middle_of(features), 0.0
    step = max(1, _FLOATS_AT_ONCE // features.shape[1])
    for start in range(0, features.shape[0], step):
        rows = (features[start : min(start + step, features.shape[0]), :] - middle) / unit
        found = as_float(xp.max(xp.sum(rows**2, axis=1)))
        largest = found if not found <= largest else largest  # NaN stays
    return not float(xp.finfo(features.dtype).eps) * largest <= _LARGEST_ERROR


def distance_factors(features: Array) -> tuple[Array, Array]:
    """Return two matrices whose product has entries -|x_i - x_j|^2 / 2, with the norms as two more columns."""
    xp = array_namespace(features)
    features = centre(features)  # less rounding where the norms cancel
    norms = -0.5 * xp.sum(features**2, axis=1, keepdims=True)
    ones = xp.ones_like(norms)
    return xp.concat([features, norms, ones], axis=1), xp.concat([features, ones, norms], axis=1)
