"""How far a posterior of two moons is from the exact one, which can be drawn from and has a density.

Two figures that need none of the tests compared in `two_moons.py`:

- accuracy: how often the best classifier tells a draw from the posterior from an exact one; 0.5 where they agree. It is
  (1 + TV) / 2, the limit of a classifier two-sample test (C2ST), from the ratio of both densities.
- coverage: how many exact draws lie in the region of highest density that holds 90 % of the posterior's own draws.
"""

import math
from typing import Any

import torch
from sbi_cases import NOISE_OF_RADIUS, RADIUS

N_EXACT, N_ANGLES, N_RADII = 100, 400, 15
N_CELLS, N_PROPOSALS = 40, 1500  # of draws by importance: along each side of a grid, and from its cells
HELD = 0.9


def placed(radius: torch.Tensor, angle: torch.Tensor, sign: Any, x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """Parameters that make x of noise at this radius and angle, for one moon, and whether the prior holds them.

    In coordinates q = (first + second) / sqrt(2), w = (second - first) / sqrt(2), x is noise + (0.25 - |q|, w).
    """
    size, w = radius * angle.cos() + 0.25 - x[:, 0], x[:, 1] - radius * angle.sin()
    theta = torch.stack([sign * size - w, sign * size + w], dim=-1) / 2**0.5
    return theta, (size > 0) & (theta.abs() < 1).all(dim=-1)


def exact_draws(x: torch.Tensor, n_draws: int = N_EXACT) -> torch.Tensor:
    """Draws (n_draws, n, 2) from the exact posteriors, by rejection."""
    found, n_found = torch.zeros(n_draws, len(x), 2), torch.zeros(len(x), dtype=torch.long)
    while n_found.min() < n_draws:
        shape = (n_draws, len(x))
        radius, angle = RADIUS + NOISE_OF_RADIUS * torch.randn(shape), math.pi * (torch.rand(shape) - 0.5)
        theta, good = placed(radius, angle, 2.0 * (torch.rand(shape) < 0.5) - 1.0, x)
        for i in range(len(x)):
            new = theta[good[:, i], i][: n_draws - n_found[i]]
            found[n_found[i] : n_found[i] + len(new), i] = new
            n_found[i] += len(new)
    return found


def exact_log_density(theta: torch.Tensor, x: torch.Tensor) -> torch.Tensor:
    """Logarithms of the exact density at theta (m, n, 2) in the prior; the normalising constant is a sum over noise."""
    first, second = theta[..., 0], theta[..., 1]
    across, along = x[:, 0] - 0.25 + (first + second).abs() / 2**0.5, x[:, 1] - (second - first) / 2**0.5
    radius = (across**2 + along**2).sqrt()
    density = torch.distributions.Normal(RADIUS, NOISE_OF_RADIUS).log_prob(radius) - (math.pi * radius).log()
    angles = math.pi * ((torch.arange(N_ANGLES) + 0.5) / N_ANGLES - 0.5)
    radii = RADIUS + NOISE_OF_RADIUS * torch.special.ndtri((torch.arange(N_RADII) + 0.5) / N_RADII)
    angle, noise = (part.reshape(-1, 1) for part in torch.meshgrid(angles, radii, indexing="ij"))
    mass = sum(placed(noise, angle, sign, x)[1].float().mean(dim=0) for sign in (-1.0, 1.0))
    return torch.where(across > 0, density, -torch.inf) - mass.log()


def drawn_by_importance(posterior: Any, x: torch.Tensor, n_draws: int) -> tuple[torch.Tensor, torch.Tensor]:
    """Draws by sbi's potential at one x, and the logarithm of its integral.

    Proposals come from the cells of a grid where the potential is high, or is so in a cell beside.
    """
    side = torch.arange(N_CELLS)
    corners = torch.cartesian_prod(side, side)

    def in_cells(which: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        points = 2.0 * (corners[which] + torch.rand(len(which), 2)) / N_CELLS - 1.0
        with torch.no_grad():
            return points, posterior.potential(points, x=x)

    found = torch.softmax(in_cells(torch.arange(len(corners)))[1], 0).reshape(1, N_CELLS, N_CELLS)
    near = torch.nn.functional.max_pool2d(found, 3, stride=1, padding=1).flatten() + 0.1 / len(corners)
    near = near / near.sum()
    which = torch.multinomial(near, N_PROPOSALS, replacement=True)
    points, potential = in_cells(which)
    weights = potential - near[which].log() + 2.0 * math.log(2.0 / N_CELLS)
    chosen = torch.multinomial(torch.softmax(weights, 0), n_draws, replacement=True)
    return points[chosen], torch.logsumexp(weights, 0) - math.log(N_PROPOSALS)


def accuracy_and_coverage(posterior: Any, x: torch.Tensor) -> tuple[float, float]:
    """Means of both figures over `x`."""
    exact = exact_draws(x)
    log_exact = exact_log_density(exact, x)
    distances, held = [], []
    for i, row in enumerate(x):
        own, log_mass = drawn_by_importance(posterior, row, N_EXACT)
        with torch.no_grad():
            at_exact, at_own = (posterior.potential(points, x=row) for points in (exact[:, i], own))
        distances.append(torch.relu(1.0 - torch.exp(at_exact - log_mass - log_exact[:, i])).mean())
        held.append((at_exact >= torch.quantile(at_own, 1.0 - HELD)).float().mean())
    return 0.5 + 0.5 * float(torch.stack(distances).mean()), float(torch.stack(held).mean())
