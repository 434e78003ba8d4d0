"""Each target in units of its own prediction: z = root^-1 (y - location), with scores root s.

The map depends on the prediction only, so calibrated predictions stay calibrated. A wrong spread shows as |z| too large
or too small, however much the locations vary; in the units of the targets, as in the paper, it hardly shows.
"""

from dataclasses import dataclass

import numpy as np

from .._lib.arrays import Array, array_namespace, full_product, like, to_numpy
from .._lib.cached import cached_property
from .._lib.linalg import diagonals, log_spreads, roots_and_inverses, times
from ..predictions import Gaussian, Predictions
from .average import average_frame, moment_sums
from .identity import Coordinates, Moved, identity
from .location_spread import location_and_spread
from .mapped import Affine, in_widest_dtype, map_predictions
from .unconstrain import natural


def whiten() -> Coordinates:
    """Return coordinates in which every prediction is centred at 0 with unit spread in all directions.

    Kernels compare predictions in one common frame, in which their locations and spreads still differ. Changing the
    units of the targets changes nothing. Location and spread are the moments where predictions have them (`Gaussian`,
    `GaussianMixture`), otherwise fitted to the scores. Bounded supports are first mapped to ones without a boundary.

    Returns
    -------
    callable
        Value for the argument `coordinates` of `kccsd_test`.

    Examples
    --------
    Standard deviations that are too small by a fifth, with means that vary much more:

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
    """Coordinates in which targets and scores are in units of their predictions."""

    def __repr__(self) -> str:
        return "whiten()"

    def named(self, predictions: Predictions) -> str:
        """Name on a result, with the map from a bounded support if there is one."""
        first = natural(predictions)
        return repr(self) if first is identity else f"{first!r}, {self!r}"

    def __call__(self, predictions: Predictions, y: Array) -> Moved:
        moved = natural(predictions)(predictions, y)
        xp = array_namespace(y)
        dtype = xp.result_type(moved[1].dtype, moved[2].dtype)
        unbounded, targets, scores = in_widest_dtype(*moved)
        whitening = whitening_of(unbounded, targets)
        whitened = (xp.astype(part, dtype, copy=False) for part in whitening.whitened(targets, scores))
        return whitening.framed(moved[0], moved[1]), *whitened


@dataclass(frozen=True, eq=False)
class Whitening:
    """Location and spread of each of n predictions, in units of the targets and in a common frame.

    Of many dimensions, matrices that are diagonal hold nothing else: covariances are (n, d) or (n, 1), roots (n, d).
    """

    location: Array  # (n, d)
    covariance: Array  # (n, d, d)
    frame: Affine
    unfitted: np.ndarray  # rows whose location and spread could not be fitted, (n,)

    @cached_property
    def _roots(self) -> tuple[Array, Array]:
        """Roots of the covariances in the frame and their inverses.

        With symmetric roots, linear maps of the targets rotate all whitened targets alike.
        """
        inverse = self.frame.inverse_root
        if self.diagonal:
            root = array_namespace(inverse).sqrt(self.covariance) / self.frame.root
            return root, 1.0 / root
        if self.isotropic:  # one root for all, in other units
            variance = self.covariance[:, :1, :1]
            sd = array_namespace(variance).sqrt(variance)
            root, inverse = roots_and_inverses(full_product(inverse, inverse.mT))
            return sd * root, inverse / sd
        return roots_and_inverses(full_product(inverse, self.covariance, inverse.mT))

    @cached_property
    def isotropic(self) -> bool:
        """Whether each covariance is a multiple of the identity."""
        covariance = self.covariance
        if self.diagonal:
            return bool(covariance.shape[1] == 1)
        unit = like(np.eye(covariance.shape[1]), covariance)
        return bool(array_namespace(covariance).all(covariance == covariance[:, :1, :1] * unit))

    @cached_property
    def log_spread(self) -> Array:
        """Logarithm of the spread, averaged over directions, (n,): in other units of the targets, all are shifted."""
        return log_spreads(self.covariance)

    @property
    def root(self) -> Array:
        """Symmetric roots of the covariances in the frame, (n, d, d)."""
        return self._roots[0]

    @property
    def inverse_root(self) -> Array:
        """Inverses of these roots."""
        return self._roots[1]

    @property
    def sd(self) -> Array:
        """Standard deviations (n, d)."""
        xp = array_namespace(self.covariance)
        return xp.sqrt(diagonals(self.covariance) + xp.zeros_like(self.location))

    @property
    def diagonal(self) -> bool:
        """Whether dimensions are whitened one by one."""
        return bool(self.covariance.ndim == 2)

    def whitened(self, y: Array, scores: Array) -> tuple[Array, Array]:
        """Targets and scores in units of their predictions."""
        return self.inverse_step(y - self.location), times(self.root, self.frame.carry(y, scores))

    def inverse_step(self, gap: Array) -> Array:
        """Differences of whitened targets from those of targets."""
        return times(self.inverse_root, self.frame.inverse_step(gap))

    def forward_step(self, gap: Array) -> Array:
        """Differences of targets from those of whitened targets."""
        return self.frame.forward_step(times(self.root, gap))

    def score_step(self, gap: Array) -> Array:
        """Differences of minus the scores of Gaussians from those of targets."""
        if self.diagonal:
            return gap / self.covariance
        return array_namespace(gap).linalg.solve(self.covariance, gap[..., None])[..., 0]

    def marginal(self, y: Array, scores: Array) -> tuple[Array, Array]:
        """u_a = (y_a - location_a) / sd_a, and t_a, the derivative of log p along (covariance e_a) / sd_a.

        u_a grows by 1 along that direction, so that g(u_a) t_a + g'(u_a) has mean zero for every function g of one
        variable; for a Gaussian, t_a = -u_a.
        """
        return (y - self.location) / self.sd, times(self.covariance, scores) / self.sd

    def framed(self, predictions: Predictions, y: Array) -> Predictions:
        """Predictions in the common frame, for kernels to compare; models are asked in the dtype of `y`."""
        if isinstance(predictions, Gaussian):
            if self.diagonal:
                return Gaussian(self.frame.inverse(self.location), self.root)
            covariance = full_product(self.root, self.root.mT)
            return Gaussian(self.frame.inverse(self.location), covariance=0.5 * (covariance + covariance.mT))
        frame = Affine(*(like(part, y) for part in (self.frame.mean, self.frame.root, self.frame.inverse_root)))
        return map_predictions(predictions, frame.inverse(y), frame, predictions.dim)


def whitening_of(predictions: Predictions, reference: Array, frame: Affine | None = None) -> Whitening:
    """Return the whitening, in the given frame or in that of an average one of the predictions."""
    location, covariance, unfitted = location_and_spread(predictions, reference)
    return Whitening(location, covariance, frame or average_frame(moment_sums(location, covariance)), unfitted)


def check_not_beyond_squares(whitened: Array, reference: Array, first: int = 0) -> None:
    """Raise where a whitened target is so far away that its square is infinite; `first` is the number of its row."""
    xp = array_namespace(whitened)
    beyond = xp.any(~(xp.abs(whitened) < float(xp.finfo(whitened.dtype).max) ** 0.5), axis=(0, 2))
    if bool(xp.any(beyond)):
        row = int(np.argmax(to_numpy(beyond)))
        raise ValueError(
            f"`y` is too far from the predictions: row {first + row} is {to_numpy(reference)[row]}, and the square of "
            "its distance, in standard deviations, is infinite. Likely causes: a number that stands for a missing "
            "value, or targets in other units than predictions."
        )
