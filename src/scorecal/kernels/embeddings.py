"""Finite embeddings phi(P): distances between predictions as Euclidean distances between rows."""

from functools import partial

import array_api_extra as xpx
import numpy as np

from .._lib.arrays import Array, array_namespace, full_product, like
from .._lib.linalg import symmetric_root
from .radial import Diffusion, Radial


def sampled_gfd(scores: Array) -> Array:
    """Features (n, m d) from scores (n, m, d) at base points; their squared distances are the sampled GFD."""
    n, m, d = scores.shape
    return array_namespace(scores).reshape(scores, (n, m * d)) / m**0.5


def sampled_kgfd(scores: Array, points: Array, ground: Radial, bandwidth: float) -> Array:
    """Features (n, m d) from scores (n, m, d) at base points (m, d); their squared distances are the sampled KGFD."""
    xp = array_namespace(scores)
    n, m, d = scores.shape
    t = xp.sum((points[:, None, :] - points[None, :, :]) ** 2, axis=-1) / bandwidth**2
    root = symmetric_root(ground.profile(t)[0])
    return xp.reshape(full_product(root / m, scores), (n, m * d))


def sampled_diffusion_kgfd(scores: Array, points: Array, ground: Diffusion, bandwidth: float) -> Array:
    """Features (n, m d) whose squared distances are the sampled KGFD with the matrix-valued ground kernel."""
    xp = array_namespace(scores)
    n, m, d = scores.shape
    blocks = ground.blocks(points[:, None, :] - points[None, :, :], bandwidth)
    gram = xp.reshape(xp.permute_dims(blocks, (0, 2, 1, 3)), (m * d, m * d))
    return full_product(xp.reshape(scores, (n, m * d)), symmetric_root(gram) / m)


def gaussian_gfd(at_centre: Array, precision: Array, covariance: Array) -> Array:
    """Features of Gaussians whose squared distances are their GFD, exactly, for a Gaussian base measure.

    The score of a Gaussian is affine, so its embedding is (precision x root of the covariance, score at the centre).
    """
    xp = array_namespace(at_centre)
    precision = like(precision, covariance)
    if precision.ndim == 3:
        spread = xp.reshape(full_product(precision, xp.linalg.cholesky(covariance)), (precision.shape[0], -1))
    elif precision.shape[1] == 1:  # isotropic
        spread = precision * xp.sqrt(xp.linalg.trace(covariance))
    else:
        spread = precision * xp.sqrt(xp.linalg.diagonal(covariance))
    return xp.concat([spread, at_centre], axis=1)


def gaussian_kgfd(at_centre: Array, precision: Array, covariance: Array, bandwidth: float) -> Array:
    """Features of Gaussians whose squared distances are their KGFD, exactly, for Gaussian base and ground kernel.

    The base measure of two draws, weighted by the ground kernel, has total mass Z and cross-covariance C.
    """
    xp = array_namespace(at_centre)
    identity = like(np.eye(at_centre.shape[1]), covariance)
    total = 2.0 * covariance + bandwidth**2 * identity
    cross = full_product(covariance, xp.linalg.solve(total, covariance))
    log_mass = -0.5 * xp.linalg.slogdet(identity + (2.0 / bandwidth**2) * covariance)[1]
    return xp.exp(0.5 * log_mass) * gaussian_gfd(at_centre, precision, 0.5 * (cross + cross.mT))


def gaussian_diffusion_kgfd(at_centre: Array, precision: Array, covariance: Array, bandwidth: float) -> Array:
    """Features of Gaussians whose squared distances are their KGFD, exactly, with the ground kernel grad grad' k.

    The base measure of two draws z, z', weighted by k, has total mass Z and cross-covariance C; P = Cov(z, z - z'). For
    a difference of scores g(z) = A (z - m) + b, the fourth moments of Gaussians give

    Z (tr(A C A) + |b|^2) / tau^2 + Z (tr(A P)^2 + tr(A P A P) - 2 tr(A C A P) - 2 b'P b) / tau^4,

    a quadratic form in (A, b), whose root gives the embedding.
    """
    xp = array_namespace(at_centre)
    n, d = at_centre.shape
    tau2 = bandwidth**2
    identity = like(np.eye(d), covariance)
    total = 2.0 * covariance + tau2 * identity
    cross = full_product(covariance, xp.linalg.solve(total, covariance))
    part = tau2 * xp.linalg.solve(total, covariance)
    log_mass = -0.5 * xp.linalg.slogdet(identity + (2.0 / tau2) * covariance)[1]
    kron = partial(xpx.kron, xp=xp)
    flat = xp.reshape(part, (d * d, 1))
    matrix = (
        kron(identity, cross) / tau2
        + (full_product(flat, flat.mT) + kron(part, part) - 2.0 * kron(part, cross)) / tau2**2
    )
    swap = np.eye(d * d)[np.arange(d * d).reshape(d, d).T.ravel()]  # A is symmetric, so the form may be symmetrised
    matrix = 0.5 * (matrix + full_product(like(swap, matrix), matrix, like(swap, matrix)))
    vector = identity / tau2 - 2.0 * part / tau2**2
    precision = like(precision, matrix)
    if precision.ndim == 2:
        precision = (precision + like(0.0 * at_centre, matrix))[..., None] * identity
    spread = full_product(xp.reshape(precision, (n, d * d)), symmetric_root(0.5 * (matrix + matrix.mT)))
    shift = full_product(at_centre, symmetric_root(vector))
    return xp.exp(0.5 * log_mass) * xp.concat([spread, shift], axis=1)


def gaussian_wasserstein(mean: Array, scale: Array | None) -> Array:
    """Features of isotropic or diagonal Gaussians whose squared distances are Wasserstein-2 ones, exactly."""
    if scale is None:
        raise ValueError(
            "`predictions` have full covariances, for which the Wasserstein distance is not Hilbertian: no kernel "
            "can be built on it. Use `Wasserstein(n_samples=...)`, the sliced distance, or another kernel."
        )
    weight = mean.shape[1] ** 0.5 if scale.shape[1] == 1 else 1.0
    return array_namespace(mean).concat([mean, weight * scale], axis=1)


def sliced_wasserstein(samples: Array, directions: Array) -> Array:
    """Features of samples (n, S, d) whose squared distances are sliced Wasserstein-2 ones: sorted projections."""
    xp = array_namespace(samples)
    n, n_samples, _ = samples.shape
    ordered = xp.sort(full_product(samples, directions.mT), axis=1)
    return xp.reshape(ordered, (n, -1)) / (n_samples * directions.shape[0]) ** 0.5


def random_directions(n_directions: int, dim: int, rng: np.random.Generator) -> Array:
    """Draw unit vectors (n_directions, dim); in one dimension, return the only direction."""
    if dim == 1:
        return np.ones((1, 1))
    directions = rng.standard_normal((n_directions, dim))
    return directions / np.linalg.norm(directions, axis=1, keepdims=True)
