"""Proposals for importance sampling of many densities at once: points (m, rows, d) and their log-densities (m, rows).

The first are draws from the prior. The next ones come, by the weights of the last, from a Gaussian and from kernels of
three sizes around some of the points, which also follow several modes and curved ridges, and from the prior again.
"""

import math
from typing import Any

from ...._lib.arrays import Array
from ...supports import Box, Support

_N_CENTRES, _SCALES = 100, (0.25, 0.0625, 0.015625)  # kernels, in units of the spread of all
_SHARES = (0.35, 0.1, 0.2, 0.25, 0.1)  # of proposals: from the Gaussian, kernels from wide to narrow, the prior
# Weights w^beta with the largest beta that keeps enough points, so that narrow densities are approached step by step.
_POWERS, _LEAST_KEPT = [2.0**-k for k in range(12)], 0.05


def prior_draws(prior: Any, m: int, n_rows: int) -> Array:
    return prior.sample((m * n_rows,)).reshape(m, n_rows, -1).double()


def log_prior(prior: Any, points: Array, support: Support | None) -> Array:
    import torch

    moved, inside = moved_inside(points, support)
    values = prior.log_prob(moved.reshape(-1, points.shape[-1])).reshape(points.shape[:-1])
    return torch.where(inside, values.double(), -torch.inf)


def moved_inside(points: Array, support: Support | None) -> tuple[Array, Array]:
    """Points, those outside the support moved to where a density can be asked, and which of them were inside."""
    import torch

    if support is None:
        return points, torch.ones_like(points[..., 0], dtype=torch.bool)
    return support.moved_inside(points) if isinstance(support, Box) else points, support.contains(points)


def effective_number(log_weights: Array) -> Array:
    """Effective number of draws, (sum w)^2 / sum w^2."""
    import torch

    return torch.exp(2.0 * torch.logsumexp(log_weights, dim=0) - torch.logsumexp(2.0 * log_weights, dim=0))


def next_proposals(points: Array, log_weights: Array, prior: Any, support: Support | None) -> tuple[Array, Array]:
    """Points near those of large weight, and the logarithms of the densities that they come from."""
    import torch

    m, n_rows, d = points.shape
    weights = _tempered(log_weights).T  # (rows, m)
    points = points.permute(1, 0, 2)
    mean, root = _moments(points, weights)
    chosen = torch.multinomial(weights, _N_CENTRES, replacement=True)
    centres = torch.take_along_dim(points, chosen[..., None], dim=1)
    sizes = [round(share * m) for share in _SHARES]
    around = [mean.expand(-1, sizes[0], -1)]
    for size in sizes[1:-1]:
        picked = torch.randint(_N_CENTRES, (n_rows, size, 1), device=points.device)
        around.append(torch.take_along_dim(centres, picked, dim=1))
    noise = [scale * torch.randn_like(part) for part, scale in zip(around, (1.0, *_SCALES), strict=True)]
    new = torch.cat(around, dim=1) + torch.cat(noise, dim=1) @ root.mT
    drawn = torch.cat([new.permute(1, 0, 2), prior_draws(prior, m - new.shape[1], n_rows)])

    z, at_centres = (
        torch.linalg.solve_triangular(root, (y - mean).mT, upper=False).mT for y in (drawn.permute(1, 0, 2), centres)
    )
    volume = 0.5 * d * math.log(2.0 * math.pi) + root.diagonal(dim1=1, dim2=2).log().sum(dim=1)[:, None]
    parts = [-0.5 * (z**2).sum(dim=2) - volume]
    squares = torch.cdist(z, at_centres) ** 2
    for scale in _SCALES:
        kernels = torch.logsumexp(-0.5 * squares / scale**2, dim=2) - math.log(_N_CENTRES)
        parts.append(kernels - d * math.log(scale) - volume)
    parts.append(log_prior(prior, drawn, support).T)
    mixture = torch.stack([part + math.log(share) for part, share in zip(parts, _SHARES, strict=True)])
    return drawn, torch.logsumexp(mixture, dim=0).T


def _tempered(log_weights: Array) -> Array:
    """Normalised weights (m, rows), of the largest power that keeps enough points."""
    import torch

    log_weights = log_weights - log_weights.amax(dim=0)
    kept = torch.stack([effective_number(power * log_weights) for power in _POWERS]) >= _LEAST_KEPT * len(log_weights)
    kept[-1] = True
    powers = torch.as_tensor(_POWERS, dtype=log_weights.dtype, device=log_weights.device)
    return torch.softmax(powers[kept.double().argmax(dim=0)] * log_weights, dim=0)


def _moments(points: Array, weights: Array) -> tuple[Array, Array]:
    """Means (rows, 1, d), and Cholesky roots of covariances, of points (rows, m, d)."""
    import torch

    mean = (weights[..., None] * points).sum(dim=1, keepdim=True)
    gaps = points - mean
    covariance = gaps.mT @ (weights[..., None] * gaps)
    least = 1e-6 * points.var(dim=1)  # so that rounding, or few points, leave it positive
    return mean, torch.linalg.cholesky(covariance + torch.diag_embed(least))
