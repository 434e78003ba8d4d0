"""Targets for predictions that cannot be sampled: Markov chains move the observed ones.

If predictions are calibrated, each target is a draw from its own, and stays one while it is moved by a chain that is
reversible for that prediction. Chains lead from the targets back to an origin, and from there, independently, to any
number of other targets. Given the origin, the observed targets and the moved ones are alike: ranks among them are exact
however few the steps (J. Besag and P. Clifford, "Generalized Monte Carlo significance tests", Biometrika 76, 1989). Few
steps cost power only, where the moved targets still resemble the observed ones.
"""

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from .._lib.arrays import Array, array_namespace, detach, device_of, full_product, ignore_overflow, like, to_numpy
from .._lib.linalg import times, transposed
from ..predictions import HasDensity, Noised, Predictions, Samplable, Scores
from .whiten import Whitening

# In units of each prediction, whether a step also leads back to the centre, as in a Gaussian, and its length. Steps of
# the first kind are never refused where predictions are Gaussian; the others find the way back from far tails.
_STEPS = ((True, 1.0), (False, 2.4), (True, 0.5), (False, 1.0)) * 2
# Lobatto's rule on (0, 1), of degree 7, and Simpson's rule: at the ends, at two inner points, and in the middle.
_INNER = (0.5 - math.sqrt(3.0 / 28.0), 0.5 + math.sqrt(3.0 / 28.0))
_LOBATTO, _SIMPSON = (1.0 / 20.0, 49.0 / 180.0, 16.0 / 45.0), (1.0 / 6.0, 0.0, 2.0 / 3.0)
_MOST_DOUBT = 0.1  # by how much the two rules may differ; the error of the first is far smaller


def can_be_moved(predictions: Any) -> bool:
    """Return whether targets can be moved: predictions cannot be sampled, but have scores wherever they are asked."""
    return isinstance(predictions, Predictions) and not isinstance(predictions, Samplable | Noised | Scores)


@dataclass(frozen=True, eq=False)
class Chains:
    """Sampler of targets that are like the observed ones if the predictions are calibrated."""

    predictions: Predictions  # on all of R^d
    location: Array  # (n, d)
    root: Array  # (n, d, d), or of many dimensions (n, d), of the spread of each prediction
    origin: Array  # (1, n, d), in units of the predictions

    @property
    def n(self) -> int:
        return self.predictions.n

    @property
    def dim(self) -> int:
        return self.predictions.dim

    def sample(self, n_samples: int, rng: Any = None) -> Array:
        """Return moved targets (n_samples, n, dim)."""
        xp, shape = array_namespace(self.origin), (n_samples, *self.origin.shape[1:])
        moved = self.moved(xp.broadcast_to(self.origin, shape), _STEPS, np.random.default_rng(rng))
        return self._targets(moved)

    @ignore_overflow
    def moved(self, z: Array, steps: Iterable[tuple[bool, float]], rng: np.random.Generator) -> Array:
        """Return targets (S, n, d), in units of the predictions, after these steps of the Metropolis algorithm."""
        xp, known = array_namespace(z), self._known(z)
        for back, length in steps:
            size = length if back else length / math.sqrt(self.dim)
            new = (math.sqrt(1.0 - size**2) if back else 1.0) * z + size * like(rng.standard_normal(z.shape), z)
            new_known = self._known(new)
            log_ratio = self._log_ratio(z, new, known, new_known)
            if back:  # more of these proposals lead to the centre than away from it
                log_ratio = log_ratio + 0.5 * xp.sum(new**2 - z**2, axis=-1)
            # Points without a density compare as NaN, and are refused.
            accepted = np.log(rng.random(log_ratio.shape)) < to_numpy(log_ratio)
            taken = xp.asarray(accepted, device=device_of(z))
            z = xp.where(taken[..., None], new, z)
            known = xp.where(taken[..., None], new_known, known)
        return z

    def _targets(self, z: Array) -> Array:
        return self.location + times(self.root, z)

    def _known(self, z: Array) -> Array:
        """Log-densities (S, n, 1) where predictions have them, otherwise scores in units of the predictions."""
        y = self._targets(z)
        if isinstance(self.predictions, HasDensity):
            return detach(self.predictions.log_prob(y))[..., None]
        return times(transposed(self.root), detach(self.predictions.score(y)))

    def _log_ratio(self, z: Array, new: Array, known: Array, new_known: Array) -> Array:
        """Log-density at `new` less that at `z`, (S, n): the integral of the score along the line between them.

        It is NaN, and the step refused, where two rules of integration disagree, as on a step into a narrow peak. They
        disagree as much on the way back, so that the chain stays reversible.
        """
        if isinstance(self.predictions, HasDensity):
            return (new_known - known)[..., 0]
        xp, step = array_namespace(z), new - z
        parts = (known + new_known, sum(self._known(z + part * step) for part in _INNER), self._known(z + 0.5 * step))
        precise, rough = (
            xp.sum(sum(weight * part for weight, part in zip(rule, parts, strict=True)) * step, axis=-1)
            for rule in (_LOBATTO, _SIMPSON)
        )
        return xp.where(xp.abs(precise - rough) < _MOST_DOUBT, precise, xp.nan * precise)


def chains_from(predictions: Predictions, whitening: Whitening, targets: Array, rng: np.random.Generator) -> Chains:
    """Return chains from the origin to which the targets (n, d) lead back."""
    root = whitening.sd if whitening.diagonal else full_product(whitening.frame.root, whitening.root)
    z = whitening.whitened(targets, targets)[0]
    start = Chains(predictions, whitening.location, root, z[None, ...])
    return Chains(predictions, whitening.location, root, start.moved(start.origin, reversed(_STEPS), rng))
