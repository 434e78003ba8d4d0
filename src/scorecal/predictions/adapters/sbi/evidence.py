"""Evidence of an unnormalised density at each observation, its integral over the prior's support.

By importance sampling in rounds, until the effective number of draws is large enough; of a flow inside a bounded prior,
by the share of its draws inside. Draws are seeded, and the same for every density: similar ones have similar errors.
"""

import math
from typing import Any

from ...._lib.arrays import Array
from ...supports import Simplex, Support
from ..torch import ROWS_AT_ONCE, seeded
from .density import LogDensities
from .proposals import effective_number, log_prior, moved_inside, next_proposals, prior_draws

_SEED = 0
_LEAST_DRAWS, _DRAWS_PER_DIMENSION, _ROWS_OF_ROUND = 1000, 200, 128
_MOST_ROUNDS, _ENOUGH = 12, 50.0  # rounds of draws, and their effective number that ends the rounds
_N_INSIDE, _LEAST_INSIDE, _TIMES_AS_MANY = 256, 64, 16  # draws of flows; with so few inside, more are drawn


def log_evidences(density: LogDensities, prior: Any, support: Support | None) -> tuple[Array, Array]:
    """Logarithms of the evidence (n,), and effective numbers of draws that they were estimated from (n,)."""
    import torch

    rows = torch.arange(density.x.shape[0], device=density.x.device)
    if density.sample is not None and support is None:  # normalised
        zeros = torch.zeros(len(rows), dtype=torch.float64, device=rows.device)
        return zeros, torch.full_like(zeros, torch.inf)
    with seeded(_SEED):
        if density.sample is not None:
            return _shares_inside(density.sample, rows, support)
        found = [_by_importance(density, part, prior, support) for part in torch.split(rows, _ROWS_OF_ROUND)]
    return torch.cat([part[0] for part in found]), torch.cat([part[1] for part in found])


def _shares_inside(sample: Any, rows: Array, support: Any) -> tuple[Array, Array]:
    """Shares of draws inside the support: more draws where few are."""
    import torch

    def count(n_draws: int, rows: Array) -> Array:
        at_once = max(1, ROWS_AT_ONCE // len(rows))
        sizes = [min(at_once, n_draws - start) for start in range(0, n_draws, at_once)]
        return sum(support.contains(sample(size, rows)).sum(dim=0) for size in sizes).double()

    inside = count(_N_INSIDE, rows)
    shares = inside / _N_INSIDE
    few = rows[inside < _LEAST_INSIDE]
    if len(few):
        inside[few] = count(_TIMES_AS_MANY * _N_INSIDE, few)
        shares[few] = inside[few] / (_TIMES_AS_MANY * _N_INSIDE)
    return torch.log(shares.clamp(min=0.5 / (_TIMES_AS_MANY * _N_INSIDE))), inside


def _by_importance(density: LogDensities, rows: Array, prior: Any, support: Support | None) -> tuple[Array, Array]:
    import torch

    n_draws = max(_LEAST_DRAWS, _DRAWS_PER_DIMENSION * density.dim)
    log_z, effective = torch.full((2, len(rows)), torch.nan, dtype=torch.float64, device=rows.device)
    todo = torch.arange(len(rows), device=rows.device)
    points = prior_draws(prior, n_draws, len(rows))
    proposed = log_prior(prior, points, support)
    for _ in range(1 if isinstance(support, Simplex) else _MOST_ROUNDS):  # Gaussians leave a simplex
        found = _log_density(density, points, rows[todo], support)
        weights = torch.where(torch.isneginf(found), found, found - proposed)  # draws may be rounded to the boundary
        log_z[todo] = torch.logsumexp(weights, dim=0) - math.log(n_draws)
        effective[todo] = effective_number(weights)
        again = effective[todo] < _ENOUGH
        todo = todo[again]
        if len(todo) == 0:
            break
        points, proposed = next_proposals(points[:, again], weights[:, again], prior, support)
    nowhere = torch.isneginf(log_z)  # of a member whose density vanishes at all draws, nothing is known
    largest = torch.finfo(log_z.dtype).max
    return torch.where(nowhere, largest, log_z), torch.where(nowhere, 0.0, effective)


def _log_density(density: LogDensities, points: Array, rows: Array, support: Support | None) -> Array:
    import torch

    moved, inside = moved_inside(points.to(density.x.dtype), support)
    values = [density.evaluate(part, rows) for part in moved.split(max(1, ROWS_AT_ONCE // len(rows)))]
    return torch.where(inside, torch.cat(values).double(), -torch.inf)
