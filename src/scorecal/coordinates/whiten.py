"""Each target in units of its own prediction: z = root^-1 (y - location), with scores root s.

The map depends on the prediction only, so calibrated predictions stay calibrated. A wrong spread shows as |z| too large
or too small, however much the locations vary; in the units of the targets, as in the paper, it hardly shows.
"""

from dataclasses import dataclass

import numpy as np

from .._lib.arrays import Array, array_namespace, check_finite, full_product, like, to_numpy
from .._lib.linalg import diagonals, roots_and_inverses, times
from ..predictions import Gaussian, Predictions
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
    root: Array  # symmetric root of the covariance in the frame, and its inverse, (n, d, d)
    inverse_root: Array
    log_spread: Array  # (n,)
    unfitted: np.ndarray  # rows whose location and spread could not be fitted, (n,)

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

    def turn(self) -> Array:
        """Rotation of whitened targets to each dimension given those before it, (n, d, d): of one root to another."""
        xp = array_namespace(self.root)
        steps = full_product(self.inverse_root, self.frame.inverse_root)
        # With Q R = steps in reverse order of the columns, Q' in reverse order of the rows makes them triangular.
        rotation, triangle = xp.linalg.qr(xp.flip(steps, axis=2))
        sign = xp.sign(xp.linalg.diagonal(triangle))
        return xp.flip((rotation * sign[:, None, :]).mT, axis=1)

    def axes(self) -> Array:
        """Directions of length 1 in which whitened targets move as one dimension does alone, (n, d, d), by column."""
        xp, (n, d) = array_namespace(self.root), self.location.shape
        if self.diagonal:
            return xp.broadcast_to(like(np.eye(d), self.root), (n, d, d))
        steps = full_product(self.inverse_root, self.frame.inverse_root)
        return steps / xp.sqrt(xp.sum(steps**2, axis=1, keepdims=True))

    def framed(self, predictions: Predictions, y: Array) -> Predictions:
        """Predictions in the common frame, for kernels to compare; models are asked in the dtype of `y`."""
        if isinstance(predictions, Gaussian):
            if self.diagonal:
                return Gaussian(self.frame.inverse(self.location), self.root)
            covariance = full_product(self.root, self.root.mT)
            return Gaussian(self.frame.inverse(self.location), covariance=0.5 * (covariance + covariance.mT))
        frame = Affine(*(like(part, y) for part in (self.frame.mean, self.frame.root, self.frame.inverse_root)))
        return map_predictions(predictions, frame.inverse(y), frame, predictions.dim)


def whitening_of(predictions: Predictions, reference: Array) -> Whitening:
    """Return the whitening; its frame has the mean, spreads and correlation of a draw from a random prediction.

    With the symmetric root of the correlation, units of the dimensions change nothing; with symmetric roots of the
    covariances in the frame, other linear maps of the targets rotate all whitened targets alike. Where covariances of
    many dimensions are diagonal, so is the frame, and whitened targets are in units of each dimension.
    """
    xp = array_namespace(reference)
    location, covariance, unfitted = location_and_spread(predictions, reference)
    diagonal = covariance.ndim == 2
    with np.errstate(over="ignore", invalid="ignore"):
        mean = xp.mean(location, axis=0)
        spread = location - mean
        between = xp.mean(spread**2, axis=0) if diagonal else full_product(spread.mT, spread) / location.shape[0]
        total = xp.mean(covariance, axis=0) + between
    check_finite(
        "predictions.moments()",
        total,
        "These are covariances of all predictions together. Likely causes: a mean or a standard deviation that stands "
        "for a missing value, or predictions in extreme units.",
    )
    if diagonal:
        sd = xp.sqrt(total)
        root = xp.sqrt(covariance) / sd
        log_spread = xp.mean(xp.log(root), axis=1)
        return Whitening(location, covariance, Affine(mean, sd, 1.0 / sd), root, 1.0 / root, log_spread, unfitted)
    sd = xp.sqrt(xp.linalg.diagonal(total))
    root, inverse, _ = roots_and_inverses(total / (sd[:, None] * sd))
    frame = Affine(mean, sd[:, None] * root, inverse / sd)
    inverse = frame.inverse_root
    root, inverse_root, log_spread = roots_and_inverses(full_product(inverse, covariance, inverse.mT))
    return Whitening(location, covariance, frame, root, inverse_root, log_spread, unfitted)


def check_not_beyond_squares(whitened: Array, reference: Array) -> None:
    """Raise where a whitened target is so far away that its square is infinite."""
    xp = array_namespace(whitened)
    beyond = xp.any(~(xp.abs(whitened) < float(xp.finfo(whitened.dtype).max) ** 0.5), axis=(0, 2))
    if bool(xp.any(beyond)):
        row = int(np.argmax(to_numpy(beyond)))
        raise ValueError(
            f"`y` is too far from the predictions: row {row} is {to_numpy(reference)[row]}, and the square of its "
            "distance, in standard deviations, is infinite. Likely causes: a number that stands for a missing value, "
            "or targets in other units than predictions."
        )
