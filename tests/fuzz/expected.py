"""What a test of the reference campaign must find: H of all pairs, and bandwidths, with error bounds."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from .ball import Ball, Real, exact, exponential, power, rounded, total
from .data import Data
from .formulas import (
    differences,
    expected_kernel,
    fisher,
    gaussian,
    imq,
    inverse,
    median_bandwidth,
    norms_error,
    sampled_fisher,
    stein,
    tilted,
    times,
)

PROFILES = {"gaussian": gaussian, "imq": imq}


class Chosen(NamedTuple):
    """Kernels by name and their numbers, in the units of the data."""

    test: str
    target: str
    between: str
    target_width: float | str
    width: float | str
    ground: float
    points: np.ndarray  # (m, d); the first is the mean of the Gaussian base measure
    base_sd: float


class Expected(NamedTuple):
    H: Ball  # (n, n)
    bandwidths: dict[str, Ball]
    granted: np.ndarray  # (n,), an error of the row sums that is no error of H


def precisions(data: Data, eps: float) -> tuple[Ball, Ball]:
    """Precisions and covariances of the predictions, (n, d, d)."""
    n, d = data.mean.shape
    if data.covariance is not None:
        covariance = exact(np.broadcast_to(data.covariance, (n, d, d)), eps)
        return inverse(covariance)[0], covariance
    rows = data.scale[:, None] if data.scale.ndim == 1 else data.scale
    scale = exact(np.broadcast_to(rows, (n, d)), eps)
    square = scale * scale
    identity = np.eye(d, dtype=Real)
    precision = 1.0 / square
    return precision[..., None] * identity, square[..., None] * identity


def expected(chosen: Chosen, data: Data, eps: float) -> Expected:
    """Return H, bandwidths and granted errors for arithmetic of precision `eps`."""
    n = len(data.mean)
    mean, y = exact(data.mean, eps), exact(data.y, eps)
    precision, covariance = precisions(data, eps)
    scores = times(precision, mean - y)
    bandwidths: dict[str, Ball] = {}
    k, names = _between(chosen, data, mean, precision, covariance)
    bandwidths |= names
    if chosen.target not in PROFILES:
        features = _features(chosen.target, y, scores)
        h = total(features[:, None, :] * features[None, :, :], 2)
        H = h if k is None else k * h
        return Expected(H, bandwidths, 16 * n * eps * np.einsum("ii->i", h.value))
    gap = differences(y)
    squared = total(gap * gap, 2)
    bandwidths["target"] = _width(chosen.target_width, squared, np.all(gap.value == 0, axis=2))
    if chosen.test == "skce":
        h = _surprise(y, mean, covariance, bandwidths["target"])
    else:
        h = stein(y, scores, PROFILES[chosen.target], bandwidths["target"])
    H = h if k is None else k * h
    return Expected(H, bandwidths, np.zeros(n))


def _width(width: float | str, squared: Ball, same: np.ndarray) -> Ball:
    if isinstance(width, str):
        return median_bandwidth(squared, same)
    return rounded(np.asarray(Real(width)), np.asarray(Real(0)), squared.eps)


def _features(name: str, y: Ball, scores: Ball) -> Ball:
    """Stein features s.phi + div phi of test functions phi, (n, q)."""
    n, d = y.shape
    if name == "Constant":
        return scores
    if name == "Linear":
        products = scores[:, :, None] * y[:, None, :] + np.eye(d)
        return Ball(products.value.reshape(n, -1), products.error.reshape(n, -1), y.eps)
    if name == "Polynomial":
        return scores * y * y + y * 2.0
    trace = total(scores * y, 1)[:, None] + float(d)
    if name == "Trace":
        return trace
    square = total(y * y, 1)[:, None]
    return exponential(square * -0.5) * (trace - square)


def _between(
    chosen: Chosen, data: Data, mean: Ball, precision: Ball, covariance: Ball
) -> tuple[Ball | None, dict[str, Ball]]:
    """Return k of all pairs of predictions, or of inputs, and its bandwidths."""
    n, d = mean.shape
    eps, names = mean.eps, {}
    no_pairs = chosen.test == "kccsd" and chosen.between == "constant" and chosen.target not in PROFILES
    if chosen.test == "ksd" or no_pairs:
        return None, {}
    spread = data.covariance if data.scale is None else data.scale
    own = spread if spread.ndim == (3 if data.scale is None else 1) or spread.shape == (n, d) else np.zeros((n, 1))
    rows = np.concatenate([data.mean, np.reshape(own, (n, -1))], axis=1)
    kernel = "inputs" if chosen.test == "kcsd" else chosen.between
    if kernel == "inputs":
        gap = differences(exact(data.x, eps))
        squared, width, rows = total(gap * gap, 2), d, data.x
    elif kernel == "constant":
        squared, width = exact(np.zeros((n, n)), eps), 1
    elif kernel == "wasserstein":
        scale = power(exact(np.einsum("nii->ni", covariance.value), eps), 0.5)
        gap, wider = differences(mean), differences(scale)
        squared, width = total(gap * gap, 2) + total(wider * wider, 2), d + 1
    elif kernel == "mmd":
        squared, width = _mmd(mean, covariance, chosen.ground), 0
        names["ground"] = exact(chosen.ground, eps)
    elif kernel.endswith("points"):
        at_base = times(precision[:, None], mean[:, None, :] - chosen.points[None])
        gram = None
        if kernel.startswith("kgfd"):
            shift = chosen.points[:, None, :].astype(Real) - chosen.points[None, :, :]
            gram = np.exp(-np.sum(shift**2, axis=2) / (2 * Real(chosen.ground) ** 2))
        squared, width = sampled_fisher(at_base, gram), len(chosen.points) * d
    else:
        base = np.eye(d, dtype=Real) * Real(chosen.base_sd) ** 2
        at_centre = times(precision, mean - chosen.points[:1])
        mass, cross = (Real(1), base) if kernel == "gfd" else tilted(base, chosen.ground)
        squared, width = fisher(precision, at_centre, cross) * rounded(mass, 16 * eps * mass, eps), d * d + d
    if kernel.startswith("kgfd"):
        names["ground"] = exact(chosen.ground, eps)
    same = np.all(rows[:, None, :] == rows[None, :, :], axis=2)
    bandwidth = exact(1.0, eps) if kernel == "constant" else _width(chosen.width, squared, same)
    names["input" if kernel == "inputs" else "distribution"] = bandwidth
    if width:  # a Euclidean distance between features, which are equal for equal predictions
        squared = Ball(np.where(same, 0, squared.value), np.where(same, 0, squared.error), eps)
    t = squared / (bandwidth * bandwidth)
    if width:
        t = t.within(norms_error(t, width))
    f = imq(t)[0] if kernel == "inputs" else gaussian(t)[0]
    return f, names


def _mmd(mean: Ball, covariance: Ball, ground: float) -> Ball:
    """Squared maximum mean discrepancies of all pairs of Gaussians."""
    inner = _inner(mean, covariance, mean, covariance, exact(ground, mean.eps))
    own = np.einsum("ii->i", inner.value), np.einsum("ii->i", inner.error)
    norms = Ball(own[0], own[1], mean.eps)
    return norms[:, None] + norms[None, :] - inner * 2.0


def _surprise(y: Ball, mean: Ball, covariance: Ball, bandwidth: Ball) -> Ball:
    """The factor of the SKCE that depends on targets: l(y, y') - E l(Z, y') - E l(y, Z') + E l(Z, Z')."""
    none = covariance * 0.0
    own, mixed = _inner(y, none, y, none, bandwidth), _inner(mean, covariance, y, none, bandwidth)
    return own - mixed - mixed.T + _inner(mean, covariance, mean, covariance, bandwidth)


def _inner(mean: Ball, covariance: Ball, mean2: Ball, covariance2: Ball, bandwidth: Ball) -> Ball:
    """E l(X, X') for all pairs of Gaussians; distances may be taken from norms."""
    shift = mean[:, None, :] - mean2[None, :, :]
    values = expected_kernel(shift, covariance[:, None] + covariance2[None, :], bandwidth)
    t = total(shift * shift, 2) / (bandwidth * bandwidth)
    return values.within(norms_error(t, mean.shape[1]) * values.value)
