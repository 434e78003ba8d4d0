"""The statistics, written from the formulas of the paper with no regard to speed, in long double with error bounds.

Nothing here comes from `scorecal`. Pairs are (n, n, ...) arrays. The library may take squared distances from norms, as
|a|^2 + |b|^2 - 2 a.b: this costs eps times the largest squared distance in units of the bandwidth, and is granted as
long as it stays below `CANCELLATION`.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from .ball import Ball, Real, exact, exponential, median, power, rounded, total

CANCELLATION = 1e-2


def differences(rows: Ball) -> Ball:
    """Differences of all pairs of rows, (n, n, d)."""
    return rows[:, None, :] - rows[None, :, :]


def norms_error(t: Ball, width: int) -> np.longdouble:
    """Error of squared distances t (n, n) that are taken from norms of rows with `width` entries."""
    largest = np.max(np.sum(t.value, axis=1))  # bounds the squared norms, whatever row or median is the origin
    return np.minimum(4 * (width + 2) * t.eps * (1 + largest), CANCELLATION)


def median_bandwidth(squared: Ball, same: np.ndarray) -> Ball:
    """Median of distances from squared ones (n, n): of those that are not 0 if it is 0, and 1 if all are.

    Pairs of `same` rows have distance 0 exactly. Where it cannot be told whether a distance is 0, nothing is known.
    """
    upper = np.triu_indices(len(same), 1)
    pairs, same = squared[upper], same[upper]
    unknown = np.any(~same & (pairs.value <= pairs.error))
    pairs = Ball(np.where(same, 0, pairs.value), np.where(same, 0, pairs.error), squared.eps)
    found = median(power(pairs, 0.5))
    if found.value == 0:
        found = median(power(pairs[~same], 0.5)) if np.any(~same) else exact(1.0, squared.eps)
    return found.within(np.inf) if unknown else found


def gaussian(t: Ball) -> tuple[Ball, Ball, Ball]:
    """f = exp(-t / 2) and its two derivatives."""
    f = exponential(t * -0.5).at_most(1.0)
    return f, f * -0.5, f * 0.25


def imq(t: Ball) -> tuple[Ball, Ball, Ball]:
    """f = (1 + t)^(-1/2) and its two derivatives."""
    base = t + 1.0
    return power(base, -0.5).at_most(1.0), power(base, -1.5) * -0.5, power(base, -2.5) * 0.75


def stein(y: Ball, scores: Ball, profile: Callable[[Ball], tuple[Ball, Ball, Ball]], bandwidth: Ball) -> Ball:
    """The Stein kernel h of all pairs (eq. 10): l s.s' + tr + s.grad' l + s'.grad l."""
    d = y.shape[1]
    gap = differences(y)
    precision = 1.0 / (bandwidth * bandwidth)
    t = total(gap * gap, 2) * precision
    cancelled = norms_error(t, d)
    f, slope, curve = profile(t.within(cancelled))
    products = total(scores[:, None, :] * scores[None, :, :], 2)
    along = total(gap * (scores[:, None, :] - scores[None, :, :]), 2)
    h = f * products - 2.0 * precision * (slope * (d + along) + 2.0 * curve * t)
    # The same cancellation in the terms with s and y, which are products of rows too.
    size = np.sqrt(np.sum(scores.value**2, axis=1)) + np.sqrt(precision.value)
    return h.within(cancelled * abs(f.value) * size[:, None] * size)


def cholesky(matrices: np.ndarray) -> np.ndarray:
    """Lower Cholesky factors of matrices (..., d, d) in long double."""
    factor = np.zeros_like(matrices)
    for j in range(matrices.shape[-1]):
        rest = matrices[..., j:, j] - np.einsum("...ik,...k->...i", factor[..., j:, :j], factor[..., j, :j])
        factor[..., j:, j] = rest / np.sqrt(rest[..., :1])
    return factor


def inverse(matrices: Ball) -> tuple[Ball, Ball]:
    """Inverses and log-determinants of positive definite matrices, with the error of a Cholesky factorisation.

    In units that make the diagonal 1, it is eps times the norm of the inverse, which does not depend on the units.
    """
    d = matrices.shape[-1]
    unit = np.sqrt(np.einsum("...ii->...i", matrices.value))
    units = unit[..., :, None] * unit[..., None, :]
    factor = cholesky(matrices.value / units)
    root = np.zeros_like(factor)
    for i in range(d):  # forward substitution
        known = np.einsum("...k,...kj->...j", factor[..., i, :i], root[..., :i, :])
        root[..., i, :] = (np.eye(d, dtype=Real)[i] - known) / factor[..., i, i, None]
    found = np.einsum("...ki,...kj->...ij", root, root)
    size = np.sqrt(np.sum(found**2, axis=(-2, -1)))[..., None, None]
    relative = 8 * d * matrices.eps + np.max(matrices.error / units, axis=(-2, -1), keepdims=True)
    error = np.where(relative * size < 0.1, 2 * relative * size * size, np.inf)
    logs = 2 * np.sum(np.log(np.einsum("...ii->...i", factor)), axis=-1) + 2 * np.sum(np.log(unit), axis=-1)
    return (
        rounded(found / units, error / units, matrices.eps),
        rounded(logs, d * (relative * size)[..., 0, 0], matrices.eps),
    )


def times(matrices: Ball, vectors: Ball) -> Ball:
    """Products of matrices (..., d, d) and vectors (..., d)."""
    return total(matrices * vectors[..., None, :], -1)


def fisher(precision: Ball, at_centre: Ball, covariance: np.ndarray) -> Ball:
    """GFD of all pairs of Gaussians, E |A z + b|^2 for A z + b the difference of their scores, z from a Gaussian."""
    gap, shift = precision[:, None] - precision[None, :], differences(at_centre)
    spread = total(total(times(gap[..., None, :, :], exact(covariance, gap.eps)) * gap, -1), -1)
    return spread + total(shift * shift, 2)


def tilted(covariance: np.ndarray, bandwidth: float) -> tuple[np.longdouble, np.ndarray]:
    """Mass and cross-covariance of two draws of N(0, covariance), weighted by a Gaussian kernel between them."""
    d = len(covariance)
    coupling = np.eye(d, dtype=Real) / Real(bandwidth) ** 2
    own = inverse(exact(covariance, 0.0))[0].value + coupling
    joint = inverse(exact(np.block([[own, -coupling], [-coupling, own]]), 0.0))[0].value
    return np.exp(-0.5 * inverse(exact(np.eye(d) + 2 * covariance * coupling[0, 0], 0.0))[1].value), joint[:d, d:]


def sampled_fisher(at_base: Ball, ground: np.ndarray | None) -> Ball:
    """GFD of scores at base points (n, m, d), or KGFD with the Gram matrix of the points: the V-statistic."""
    m = at_base.shape[1]
    gap = at_base[:, None, ...] - at_base[None, ...]
    flat = total(gap * gap, 3)
    if ground is None:
        return total(flat, 2) * (Real(1) / m)
    value = np.einsum("ijkd,kl,ijld->ij", gap.value, ground, gap.value) / m**2
    # From a root of the Gram matrix: errors are relative to its largest eigenvalue, at most m.
    moved = np.sqrt(m * np.sum(gap.error**2, axis=(2, 3))) / m
    error = 16 * m * at_base.eps * np.sum(flat.value, axis=2) / m + 2 * np.sqrt(abs(value)) * moved + moved**2
    return rounded(value, error, at_base.eps)


def expected_kernel(shift: Ball, covariance: Ball, bandwidth: Ball) -> Ball:
    """E l(X, X') for the Gaussian kernel l and X - X' from N(shift, covariance)."""
    d = shift.shape[-1]
    square = bandwidth * bandwidth
    scaled = covariance / square + np.eye(d)
    precision, log_det = inverse(scaled)
    t = total(times(precision, shift) * shift, -1) / square
    return exponential((t + log_det) * -0.5).at_most(1.0)
