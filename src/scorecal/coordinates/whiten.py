"""Each target in units of its own prediction: z = root^-1 (y - location), with scores root s.

The map depends on the prediction only, so what is calibrated stays so; and a wrong spread shows as |z| too large or
small, whatever the spread of the locations (in the targets' own units, which the paper uses, it hardly shows at all).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .._lib.arrays import Array, array_namespace, full_product
from .._lib.linalg import roots_and_inverses, times
from ..predictions import Gaussian, Predictions
from .identity import Coordinates, Moved, identity
from .location_spread import location_and_spread
from .mapped import Affine, map_predictions
from .unconstrain import natural


def whiten() -> Coordinates:
    """Coordinates in which every prediction is centred at 0 with unit spread in all directions.

    Kernels between predictions compare them in the frame of an average prediction, in which their locations and
    spreads still differ. Affine changes of the targets' units change neither. Location and spread are the moments of
    predictions that know them (`Gaussian`, `GaussianMixture`), and fitted to the scores of others. Predictions on a
    bounded support are first mapped to one without a boundary.

    Returns
    -------
    callable
        For the argument `coordinates` of `kccsd_test`.

    Examples
    --------
    Standard deviations too small by a fifth, of means that vary much more:

    >>> import numpy as np, scorecal as sc
    >>> rng = np.random.default_rng(0)
    >>> mean = 10.0 * rng.normal(size=(300, 2))
    >>> y = mean + rng.normal(size=(300, 2))
    >>> sc.kccsd_test(sc.Gaussian(mean, 0.8), y, rng=0).rejects()
    False
    >>> sc.kccsd_test(sc.Gaussian(mean, 0.8), y, coordinates=sc.coordinates.whiten(), rng=0).rejects()
    True
    """
    return _Whitened()


@dataclass(frozen=True)
class _Whitened:
    def __repr__(self) -> str:
        return "whiten()"

    def named(self, predictions: Predictions) -> str:
        first = natural(predictions)
        return repr(self) if first is identity else f"{first!r}, {self!r}"

    def __call__(self, predictions: Predictions, y: Array) -> Moved:
        unbounded, targets, scores = natural(predictions)(predictions, y)
        whitening = whitening_of(unbounded, targets)
        return whitening.framed(unbounded, targets), *whitening.whitened(targets, scores)


@dataclass(frozen=True, eq=False)
class Whitening:
    """Where each of n predictions lies and how far it spreads, as such and in the frame of them all."""

    location: Array  # (n, d)
    covariance: Array  # (n, d, d)
    frame: Affine
    root: Array  # of the covariance in the frame, symmetric, and its inverse, (n, d, d)
    inverse_root: Array
    log_spread: Array  # (n,)
    unfitted: np.ndarray  # rows without a location and spread of their own, (n,)

    @property
    def sd(self) -> Array:
        """Standard deviations (n, d)."""
        xp = array_namespace(self.covariance)
        return xp.sqrt(xp.linalg.diagonal(self.covariance))

    def whitened(self, y: Array, scores: Array) -> tuple[Array, Array]:
        """Targets and scores in units of their own predictions."""
        gap = full_product(y - self.location, self.frame.inverse_root.mT)
        return times(self.inverse_root, gap), times(self.root, full_product(scores, self.frame.root))

    def marginal(self, y: Array, scores: Array) -> tuple[Array, Array]:
        """u_a = (y_a - location_a) / sd_a, and t_a, the derivative of log p along (covariance e_a) / sd_a.

        u_a grows by 1 along that direction, so that g(u_a) t_a + g'(u_a) has mean zero for every function g of one
        variable; for a Gaussian, t_a = -u_a.
        """
        return (y - self.location) / self.sd, times(self.covariance, scores) / self.sd

    def framed(self, predictions: Predictions, y: Array) -> Predictions:
        """The predictions in the frame, for kernels to compare."""
        if isinstance(predictions, Gaussian):
            covariance = self.root @ self.root.mT
            return Gaussian(self.frame.inverse(self.location), covariance=0.5 * (covariance + covariance.mT))
        return map_predictions(predictions, self.frame.inverse(y), self.frame, predictions.dim)


def whitening_of(predictions: Predictions, reference: Array) -> Whitening:
    """The frame is that of a draw from a prediction chosen at random: its mean, standard deviations and correlation.

    By the symmetric root of the correlation, units of the dimensions change nothing; by symmetric roots of the
    covariances in the frame, other linear maps of the targets turn all whitened targets alike.
    """
    xp = array_namespace(reference)
    location, covariance, unfitted = location_and_spread(predictions, reference)
    mean = xp.mean(location, axis=0)
    spread = location - mean
    total = xp.mean(covariance, axis=0) + spread.mT @ spread / location.shape[0]
    sd = xp.sqrt(xp.linalg.diagonal(total))
    root, inverse, _ = roots_and_inverses(total / (sd[:, None] * sd))
    frame = Affine(mean, sd[:, None] * root, inverse / sd)
    inverse = frame.inverse_root
    root, inverse_root, log_spread = roots_and_inverses(inverse @ covariance @ inverse.mT)
    return Whitening(location, covariance, frame, root, inverse_root, log_spread, unfitted)
