"""Log-densities of ensembles of posteriors as sbi samples them: mixtures of normalised members.

sbi's `sample` draws a member by its weight, and theta from that member. Members by likelihoods or ratios, and flows
inside a bounded prior, are known up to constants only, so that each is divided by its evidence at each observation.
"""

from typing import Any

from ...._lib.arrays import Array
from ...._lib.warn import warn_user
from ...supports import Support
from .density import LogDensities, log_densities
from .evidence import log_evidences

_LEAST_EFFECTIVE = 20.0  # draws behind an evidence, which is then known to some 20 %


def densities_of(posterior: Any, x: Any, support: Support | None) -> LogDensities:
    """Log-densities at observations `x`, those of a mixture where the posterior is an ensemble."""
    import torch

    if not hasattr(posterior, "posteriors"):
        return log_densities(posterior, x)
    parts = [densities_of(member, x, support) for member in posterior.posteriors]
    found = [log_evidences(part, posterior.prior, support) for part in parts]
    evidences, effective = (torch.stack(side) for side in zip(*found, strict=True))
    _warn_of_rough(effective)
    log_weights = (torch.log(posterior.weights).to(evidences)[:, None] - evidences).to(parts[0].x)

    def evaluate(theta: Array, rows: Array) -> Array:
        values = torch.stack([part.evaluate(theta, rows) for part in parts])
        return torch.logsumexp(log_weights[:, None, rows] + values, dim=0)

    return LogDensities(evaluate, parts[0].x, parts[0].dim)


def _warn_of_rough(effective: Array) -> None:
    rough = int((~(effective >= _LEAST_EFFECTIVE)).any(dim=0).sum())
    if rough:
        warn_user(
            f"`posterior` is an ensemble whose members are known up to constants only, and for {rough} of "
            f"{effective.shape[1]} rows of `x` these are known roughly, since few draws fall where a member lies. The "
            "test may take the members for more or less likely than they are. Likely causes: posteriors that are very "
            "narrow in many dimensions, or flows that leave the prior. Test the members one by one."
        )
