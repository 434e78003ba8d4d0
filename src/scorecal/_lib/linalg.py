"""Linear algebra that NumPy, torch and JAX have no one function for."""

from __future__ import annotations

from .arrays import Array, array_namespace, full_product


def symmetric_root(matrix: Array) -> Array:
    """Positive semi-definite square root (..., d, d); eigenvalues that rounding made negative count as zero."""
    xp = array_namespace(matrix)
    values, vectors = xp.linalg.eigh(matrix)
    return (vectors * xp.sqrt(xp.maximum(values, 0.0))[..., None, :]) @ vectors.mT


def roots_and_inverses(matrices: Array) -> tuple[Array, Array, Array]:
    """Symmetric square roots, their inverses, and the mean logarithms of their eigenvalues."""
    xp = array_namespace(matrices)
    values, vectors = xp.linalg.eigh(0.5 * (matrices + matrices.mT))
    # Rounding may take the smallest eigenvalue of nearly singular covariances below zero.
    values = xp.maximum(values, float(xp.finfo(values.dtype).eps) * values[..., -1:])
    sd = xp.sqrt(values)[..., None, :]
    return (vectors * sd) @ vectors.mT, (vectors / sd) @ vectors.mT, 0.5 * xp.mean(xp.log(values), axis=-1)


def times(matrices: Array, vectors: Array) -> Array:
    """Each matrix (..., d, d) times its vector (..., d)."""
    return full_product(matrices, vectors[..., None])[..., 0]


def centre(features: Array) -> Array:
    """Features (n, p) less a median of some rows, which no outlier drags away; only their differences must count."""
    some = features[:: max(1, features.shape[0] // 1024), :]
    return features - array_namespace(features).sort(some, axis=0)[some.shape[0] // 2, :]


def distance_factors(features: Array) -> tuple[Array, Array]:
    """Two matrices whose product has the entries -|x_i - x_j|^2 / 2: the norms ride along as two more columns.

    Features are centred first, since the norms cancel.
    """
    xp = array_namespace(features)
    features = centre(features)
    norms = -0.5 * xp.sum(features**2, axis=1, keepdims=True)
    ones = xp.ones_like(norms)
    return xp.concat([features, norms, ones], axis=1), xp.concat([features, ones, norms], axis=1)
