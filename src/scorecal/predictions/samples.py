"""Predictions known by draws: ensembles, draws of a posterior, Monte Carlo dropout."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from .._lib.arrays import as_arrays, to_numpy
from .far_beyond import far_beyond
from .normal_scores import as_gaussian, normal_quantiles, positive
from .pool import Pool, ranks_in_pool
from .protocol import Predictions, describe

_FEWEST = 3  # members of a row


def from_samples(draws: Any) -> "Samples":
    """Predictions known by draws from them, such as the members of an ensemble.

    Parameters
    ----------
    draws : array_like, shape (n, m) or (n, m, d)
        m draws for each of n targets in d dimensions, all alike before the target is known. NaN stands for a member
        that is missing, in all dimensions; rows may lack different ones.

    Returns
    -------
    Samples
        Tests rank each target among the members of its row. The null hypothesis is that target and members could be
        exchanged: members are not taken for the distribution that they come from, so that few of them do.

    Notes
    -----
    Covariates must not be made of the members, as their mean is: given it, target and members are not alike. Of
    calibrated predictions with 5 members and n = 1000, 80 % were rejected with it.

    In several dimensions, ranks are those of single dimensions, whose correlations come from the members as well, and
    of summaries of all dimensions: mean, spread, largest and distance from the other members [1].

    References
    ----------
    [1] S. Allen, J. Ziegel, D. Ginsbourger, "Assessing the calibration of multivariate probabilistic forecasts",
    Q. J. R. Meteorol. Soc. 150, 2024.

    Examples
    --------
    Twenty members that differ too little:

    >>> import numpy as np, scorecal as sc
    >>> rng = np.random.default_rng(0)
    >>> mean = rng.normal(size=(300, 1))
    >>> y = mean[:, 0] + rng.normal(size=300)
    >>> predictions = sc.from_samples(mean + 0.7 * rng.normal(size=(300, 20)))
    >>> predictions
    Samples(n=300, dim=1, 20 members)
    >>> sc.calibration_test(predictions, y, rng=0).seen[0]
    'over-confidence'
    """
    members = to_numpy(as_arrays(draws=draws)[0]).astype(np.float64)
    members = members[:, :, None] if members.ndim == 2 else members
    if members.ndim != 3 or 0 in members.shape:
        raise ValueError(f"`draws` must have shape (n, m) or (n, m, d), but has {members.shape}.")
    if np.any(np.isinf(members)):
        row, k, _ = (int(index) for index in np.argwhere(np.isinf(members))[0])
        raise ValueError(f"`draws` must be finite, or NaN where one is missing, but member {k} of row {row} is not.")
    missing = np.isnan(members)
    if np.any(missing != missing[:, :, :1]):
        row = int(np.argwhere(np.any(missing != missing[:, :, :1], axis=(1, 2)))[0, 0])
        raise ValueError(f"`draws`: a member of row {row} is missing in some dimensions only; make all of them NaN.")
    counts = np.sum(~missing[:, :, 0], axis=1)
    if np.min(counts) < _FEWEST:
        row = int(np.argmin(counts))
        raise ValueError(
            f"`draws` must hold at least {_FEWEST} members for each target, but row {row} has {counts[row]}."
            + (" Likely cause: axes in another order; give (n, m) or (n, m, d)." if members.shape[1] < _FEWEST else "")
        )
    return Samples(members)


@dataclass(frozen=True, eq=False)
class Samples:
    """n predictions, each by its members (n, m, d); NaN where one is missing."""

    members: np.ndarray

    @property
    def n(self) -> int:
        return len(self.members)

    @property
    def dim(self) -> int:
        return int(self.members.shape[2])

    def __repr__(self) -> str:
        counts = np.sum(~np.isnan(self.members[:, :, 0]), axis=1)
        low, high = int(np.min(counts)), int(np.max(counts))
        return describe(self, f"{low} members" if low == high else f"{low} to {high} members")

    @property
    def cannot_see(self) -> tuple[str, ...]:
        """Sentences on what ranks do not say, for a result."""
        fewest = int(np.min(np.sum(~np.isnan(self.members[:, :, 0]), axis=1)))
        return (f"how far a target lies beyond all members of its row; a row has {fewest} or more.",)

    def cautions(self, y: np.ndarray) -> tuple[str, ...]:
        """Say which targets (n, d) lie far beyond their members, for a result."""
        return far_beyond(y, np.nanmin(self.members, axis=1), np.nanmax(self.members, axis=1), "members")

    def ranked(self, y: np.ndarray, rng: np.random.Generator) -> tuple[Predictions, np.ndarray]:
        """Return predictions with scores, and targets of them, from the ranks of the targets among the members.

        Locations and spreads are those of the members and the target together, the pool: it does not tell which of them
        is the target, so that ranks are uniform given the pool. Those of the members alone would be larger where the
        target is small (20 members: 7 % of calibrated data sets were rejected, 15 members: 50 %).
        """
        pool = np.concatenate([self.members, y[:, None, :]], axis=1)
        location, spread = np.nanmean(pool, axis=1), positive(np.nanstd(pool, axis=1))
        ranks, sizes = ranks_in_pool(pool, rng)
        below, at = (np.minimum(ranks + step, sizes) / sizes for step in (0.0, 1.0))
        z = normal_quantiles(below[:, -1, :], at[:, -1, :], rng)
        if self.dim == 1:
            return as_gaussian(z, location, spread)
        return Pool(pool, ranks, location, spread, int(rng.integers(2**63))), location + spread * z
