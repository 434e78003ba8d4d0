"""Targets and scores in the coordinates of the views, and what views know of the predictions."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from .._lib.arrays import Array, array_namespace, as_float, device_of, full_product, like, to_numpy
from .._lib.cached import cached_property
from .._lib.dimensions import N_MIXTURES, are_many, mixtures_of
from .._lib.linalg import times
from ..coordinates import Coordinates
from ..coordinates.locate import locate
from ..coordinates.mapped import in_widest_dtype
from ..coordinates.whiten import Whitening, check_not_beyond_squares, whitening_of
from ..predictions import Predictions
from ..resampling.clusters import Clusters, rows_before
from .near_modes import information, valleys
from .ranks import varying_curves
from .so_far import locations_so_far, mean_so_far

N_NOISE_DRAWS = 16  # of the noise of each target
_ORDERS = (2, 3, 4)  # of curves; linear functions are among the traits
_MOST_BEFORE = 2.5  # standard deviations
_OF_PREDICTIONS = {
    *("whitening", "framed", "kept", "location", "traits", "curves", "curves_of_locations", "directions"),
    *("axes", "turn", "valleys"),
}
_NOISE_SEED = 0  # the same noise for observed and drawn targets, and for any `rng`: it is a part of the statistic


@dataclass(frozen=True, eq=False)
class ViewFrame:
    """Predictions on all of R^d at one noise level, with S draws of each target's noise (one without noise)."""

    predictions: Predictions
    targets: Array  # (S, n, d)
    scores: Array  # (S, n, d)
    reference: Array  # (n, d), targets in the dtype in which they came
    coordinates: str
    rounding: float  # traits of predictions that vary by less, in units of the frame, do not vary
    clusters: Clusters | None = None  # if these say that rows are in time order, traits look back only
    covariates: Mapping[str, Array] = field(default_factory=dict)  # functions of each, (n, t), by name
    grams: dict[str, Any] = field(default_factory=dict)  # of kernels between predictions, by view

    def redrawn(self, targets: Array, scores: Array) -> "ViewFrame":
        """Return the frame of other targets (S, n, d) of the same predictions, with all that is known of these."""
        other = replace(self, targets=targets, scores=scores)
        vars(other).update({name: value for name, value in vars(self).items() if name in _OF_PREDICTIONS})
        return other

    @cached_property
    def whitening(self) -> Whitening:
        """Locations and spreads of the predictions."""
        return whitening_of(self.predictions, self.targets[0, ...])

    @cached_property
    def framed(self) -> Predictions:
        """The predictions in the frame of an average one, for kernels to compare."""
        return self.whitening.framed(self.predictions, self.targets[0, ...])

    @cached_property
    def whitened(self) -> tuple[Array, Array]:
        """Targets and scores in units of their own predictions."""
        targets, scores = self.whitening.whitened(self.targets, self.scores)
        check_not_beyond_squares(targets, self.reference)
        return targets, scores

    @cached_property
    def marginal(self) -> tuple[Array, Array]:
        """Targets and scores in units of their own predictions, one dimension at a time."""
        if self.whitening.diagonal:
            return self.whitened
        return self.whitening.marginal(self.targets, self.scores)

    @cached_property
    def turn(self) -> Array:
        """Rotation of whitened targets to each dimension given those before it, (n, d, d): of one root to another."""
        return self.whitening.turn()

    @cached_property
    def sequential(self) -> tuple[Array, Array]:
        """Targets and scores in units of their own predictions, each dimension given those before it."""
        if self.whitening.diagonal:
            return self.whitened
        targets, scores = self.whitened
        return times(self.turn, targets), times(self.turn, scores)

    @cached_property
    def kept(self) -> Array | None:
        """1 for predictions with a fitted spread and 0 for others, (n, 1); None if all have one.

        Far from where a prediction lives, features have mean zero by values too rare to occur: signs would not do.
        """
        unfitted = self.whitening.unfitted
        if np.all(unfitted):
            raise ValueError(
                "`predictions`: no spread can be fitted to the scores of any of them: nothing is left to judge. "
                "Likely causes: scores of the wrong sign, a bounded support that was not given, or base points far "
                "from the predictions. `kccsd_test` needs no spread."
            )
        return like(~unfitted[:, None], self.targets) if np.any(unfitted) else None

    @property
    def ordered(self) -> bool:
        """Whether rows are in time order.

        Then whatever multiplies features looks back only. The rotation of whitened targets and the kernels of `framed`
        predictions still come from all rows; in random walks of one to three dimensions, their views keep the level.
        """
        return self.clusters is not None and self.clusters.ordered

    @cached_property
    def _so_far(self) -> tuple[Array, Array, Array]:
        return locations_so_far(self.whitening.location, self.whitening.covariance, self._series)

    @property
    def _series(self) -> np.ndarray | None:
        return None if self.clusters is None else self.clusters.series

    @cached_property
    def location(self) -> Array:
        """Locations of the predictions in the frame, (n, d); of ordered rows, in that of the rows so far."""
        return self._so_far[1] if self.ordered else self.whitening.frame.inverse(self.whitening.location)

    @cached_property
    def traits(self) -> Array:
        """Locations and centred log spreads, each divided by one root mean square; left out where that is zero."""
        xp, spread = array_namespace(self.location), self.whitening.log_spread[:, None]
        spread = spread - (mean_so_far(spread, self._series) if self.ordered else xp.mean(spread))
        parts = []
        for part in (self._few(self.location), spread):
            size = as_float(xp.mean(part**2)) ** 0.5
            if size > self.rounding:
                parts.append(part / (self._size_so_far(part) if self.ordered else size))
        return xp.concat(parts, axis=1) if parts else self.location[:, :0]

    def _few(self, locations: Array) -> Array:
        """Locations in the frame (n, d), or of many dimensions a few sums of these, (n, N_MIXTURES)."""
        d = locations.shape[1]
        return full_product(locations, like(mixtures_of(d, N_MIXTURES), locations)) if are_many(d) else locations

    @cached_property
    def curves_of_locations(self) -> Array:
        """Legendre polynomials of order 2, 3 and 4 of the ranks by location in each dimension, (n, d, 3).

        Each has mean 0 and mean square 1 over the rows, but those of ordered rows, which look back only; zero where
        locations do not vary. (n, 0, 3) if none does.
        """
        location, frame = self.whitening.location, self.whitening.frame
        diagonal = frame.root if frame.root.ndim == 1 else array_namespace(location).linalg.diagonal(frame.root)
        return self._curves((location - frame.mean) / diagonal)

    @cached_property
    def curves(self) -> Array:
        """Curves of the locations in all dimensions and of the spread that are not zero, (n, t).

        Of many dimensions, curves of a few sums of locations.
        """
        xp = array_namespace(self.whitening.location)
        many = are_many(self.reference.shape[1])
        of_locations = self._curves(self._few(self.location)) if many else self.curves_of_locations
        every = [of_locations, self._curves(self.whitening.log_spread[:, None])]
        columns = xp.concat([xp.reshape(each, (self.reference.shape[0], -1)) for each in every], axis=1)
        varies = np.flatnonzero(to_numpy(xp.any(columns != 0, axis=0)))
        return xp.take(columns, xp.asarray(varies, device=device_of(columns)), axis=1)

    def _curves(self, values: Array) -> Array:
        """Curves of each column of (n, q), (n, q, 3); (n, 0, 3) if no column varies by more than rounding."""
        columns = to_numpy(values).astype(np.float64)
        found = varying_curves(columns, _ORDERS, self.rounding, so_far=self.ordered, series=self._series)
        return like(found, self.targets)

    def _size_so_far(self, part: Array) -> Array:
        """Root mean square of the rows up to each row, (n, 1); 1 where there is nothing but rounding yet."""
        xp = array_namespace(part)
        size = xp.sqrt(mean_so_far(xp.mean(part**2, axis=1, keepdims=True), self._series))
        return xp.where(size > self.rounding, size, xp.ones_like(size))

    @property
    def alike(self) -> bool:
        """Whether all predictions are in the same place."""
        xp = array_namespace(self.location)
        return as_float(xp.max(xp.abs(self.location))) <= self.rounding

    @cached_property
    def directions(self) -> dict[str, Array]:
        """Locations less their mean, (n, d), where a step along them is a step of the location itself."""
        xp = array_namespace(self.location)
        if self.ordered:
            gap, _, sd = self._so_far
            return {
                "whitened": self.whitening.inverse_step(gap) / self._size_so_far(self.location),
                "marginal": gap / sd,
            }
        gap = self.whitening.location - self.whitening.frame.mean
        return {
            "whitened": times(self.whitening.inverse_root, self.location),
            "marginal": gap / xp.sqrt(xp.mean(gap**2 + self.whitening.sd**2, axis=0)),
        }

    @cached_property
    def axes(self) -> Array:
        """Directions of length 1 in which whitened targets move as one dimension does alone, (n, d, d), by column."""
        return self.whitening.axes()

    @cached_property
    def errors_before(self) -> Array:
        """Targets, in units of their predictions, of the rows observed last before each row of ordered ones, (n, d).

        Far ones count as less far, so that none decides alone; 0 where there is no such row.
        """
        assert self.clusters is not None
        before = rows_before(self.clusters, self.reference.shape[0])
        errors = array_namespace(self.targets).mean(self.marginal[0], axis=0)
        xp = array_namespace(errors)
        found = xp.take(errors, xp.asarray(np.maximum(before, 0), device=device_of(errors)), axis=0)
        return xp.clip(found, -_MOST_BEFORE, _MOST_BEFORE) * like((before >= 0)[:, None], errors)

    @cached_property
    def sizes_before(self) -> Array:
        """Mean squares of the `errors_before`, less those of the rows so far, (n, 1)."""
        xp = array_namespace(self.errors_before)
        squares = xp.mean(self.errors_before**2, axis=1, keepdims=True)
        return squares - mean_so_far(squares, self._series)

    @cached_property
    def component(self) -> tuple[Array, Array, Array]:
        """Targets of a mixture in units of each of its K Gaussians, scores (K, n, d), and shares (K, n, 1).

        Features averaged by the shares r_k are those of one test function, the sum of r_k scale_k phi(z_k).
        """
        mixture: Any = self.predictions
        y = self.targets[0, ...]
        xp = array_namespace(y)
        z = xp.permute_dims((y[:, None, :] - mixture.means) / mixture.scales, (1, 0, 2))
        return z, -z, xp.permute_dims(mixture.shares(y), (1, 0))[..., None]

    @cached_property
    def surplus(self) -> Array:
        """Probability of each component of a mixture given the target, less its weight, (n, K)."""
        mixture: Any = self.predictions
        return mixture.shares(self.targets[0, ...]) - mixture.weights

    @cached_property
    def valleys(self) -> Array:
        """1 for predictions with a valley between modes, 0 for others, (n, 1)."""
        return valleys(self)

    @cached_property
    def information(self) -> Array:
        """Squares of the scores along a direction plus their derivatives, (S, n), whose means are zero."""
        return information(self)

    def at(self, coordinates: str) -> tuple[Array, Array, Array]:
        """Targets and scores (S, n, d), and how much each of S counts, (S, n, 1)."""
        if coordinates == "component":
            return self.component
        targets, scores = (self.targets, self.scores) if coordinates == "natural" else getattr(self, coordinates)
        shares = array_namespace(targets).ones_like(targets[:, :, :1]) / targets.shape[0]
        kept = None if coordinates == "natural" else self.kept
        return targets, scores, shares if kept is None else shares * kept

    def stacked_at(self, coordinates: str, size: int) -> tuple[Array, Array, Array]:
        """As `at`, for `size` drawn data sets whose targets are (size * S, n, d): each part is (size, S, n, ...)."""
        xp = array_namespace(self.targets)
        if coordinates == "component":
            mixture: Any = self.predictions
            z = (self.targets[:, :, None, :] - mixture.means) / mixture.scales
            z, shares = (xp.permute_dims(each, (0, 2, 1, 3)) for each in (z, mixture.shares(self.targets)[..., None]))
            return z, -z, shares
        targets, scores, shares = (xp.reshape(part, (size, -1, *part.shape[1:])) for part in self.at(coordinates))
        return targets, scores, size * shares

    @cached_property
    def stacked_surplus(self) -> Array:
        """As `surplus`, for drawn data sets, (size, n, K)."""
        mixture: Any = self.predictions
        return mixture.shares(self.targets) - mixture.weights


def noise_source() -> np.random.Generator:
    """Return the generator of the noise that is added to a set of targets."""
    return np.random.default_rng(_NOISE_SEED)


def frame_of(predictions: Any, y: Any, noise: float, coordinates: Coordinates | None = None) -> ViewFrame:
    """The frame of views with this noise; 0 stands for the noise, if any, that the predictions come with.

    It is in the widest dtype, for numbers are few, compared to pairs; models are asked in the dtype of the targets.
    """
    if noise:
        predictions = predictions.noisy(noise)
    located = locate(coordinates, predictions, y, noise_source(), N_NOISE_DRAWS)
    reference = located.targets[0, ...]
    rounding = 1e3 * float(array_namespace(reference).finfo(reference.dtype).eps)
    unbounded, targets, scores = in_widest_dtype(located.predictions, located.targets, located.scores)
    name = f"{located.coordinates}, whiten()".replace("identity, ", "")
    return ViewFrame(unbounded, targets, scores, reference, name, rounding)
