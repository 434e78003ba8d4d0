"""Targets and scores in the coordinates of the views, and what views know of the predictions."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from .._lib.arrays import Array, array_namespace, as_float, full_product, like
from .._lib.cached import cached_property
from .._lib.linalg import times
from ..coordinates import Coordinates
from ..coordinates.locate import locate
from ..coordinates.location_spread import location_and_spread
from ..coordinates.mapped import in_widest_dtype
from ..coordinates.whiten import Whitening, check_not_beyond_squares
from ..predictions import Predictions, part_of
from ..resampling.clusters import Clusters
from ..resampling.tiles import blocks_of
from .components import in_components
from .context import FrameContext, context_sums, few_of
from .curves import all_curves, curves_of_locations
from .near_modes import information, valleys
from .so_far import errors_before, locations_so_far, mean_so_far, size_so_far, traits_so_far

_ROWS_AT_ONCE = 2**14
N_NOISE_DRAWS = 16  # of the noise of each target
_OF_PREDICTIONS = {
    *("context", "whitening", "framed", "kept", "location", "traits", "curves", "curves_of_locations", "directions"),
    *("axes", "turn", "valleys", "_located"),
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
    first: int = 0  # number of the first row, where these are some of many

    def redrawn(self, targets: Array, scores: Array) -> "ViewFrame":
        """Return the frame of other targets (S, n, d) of the same predictions, with all that is known of these."""
        other = replace(self, targets=targets, scores=scores)
        vars(other).update({name: value for name, value in vars(self).items() if name in _OF_PREDICTIONS})
        return other

    def part(self, rows: slice) -> "ViewFrame | None":
        """Return the frame of some rows, which knows of the others what `context` does; None where that is too little.

        So it is with ordered rows, and where a model answers for all rows at once.
        """
        predictions = None if self.ordered else part_of(self.predictions, rows)
        if predictions is None:
            return None
        covariates = {name: functions[rows, ...] for name, functions in self.covariates.items()}
        targets, scores = self.targets[:, rows, :], self.scores[:, rows, :]
        given = {"targets": targets, "scores": scores, "reference": self.reference[rows, ...], "covariates": covariates}
        some = replace(self, predictions=predictions, clusters=None, grams={}, **given)
        return some.among(self.context, self.first + rows.start)

    def among(self, context: FrameContext, first: int) -> "ViewFrame":
        """Return the frame as one of some of the rows that the context knows, from number `first` on."""
        some = replace(self, first=first)
        vars(some)["context"] = context
        return some

    @cached_property
    def context(self) -> FrameContext:
        """What is known of all predictions together."""
        fitted = self._located if part_of(self.predictions, slice(0, 1)) is None else None
        return FrameContext(context_sums(self.predictions, self.targets[0, ...], fitted, self.first), self.rounding)

    @cached_property
    def _located(self) -> tuple[Array, Array, np.ndarray]:
        return location_and_spread(self.predictions, self.targets[0, ...])

    @cached_property
    def whitening(self) -> Whitening:
        """Locations and spreads of the predictions."""
        location, covariance, unfitted = self._located
        return Whitening(location, covariance, self.context.average, unfitted)

    @cached_property
    def framed(self) -> Predictions:
        """The predictions in the frame of an average one, for kernels to compare."""
        return self.whitening.framed(self.predictions, self.targets[0, ...])

    @cached_property
    def whitened(self) -> tuple[Array, Array]:
        """Targets and scores in units of their own predictions."""
        targets, scores = self.whitening.whitened(self.targets, self.scores)
        check_not_beyond_squares(targets, self.reference, self.first)
        return targets, scores

    @property
    def residuals(self) -> Array:
        """Whitened targets (n, d), averaged over draws of noise, made from a block of rows at a time."""
        xp = array_namespace(self.targets)
        if "whitened" in vars(self) or self.part(slice(0, 1)) is None:
            return xp.mean(self.whitened[0], axis=0)
        parts = map(self.part, blocks_of(self.reference.shape[0], _ROWS_AT_ONCE))
        return xp.concat([xp.mean(part.whitened[0], axis=0) for part in parts if part is not None])

    @cached_property
    def marginal(self) -> tuple[Array, Array]:
        """Targets and scores in units of their own predictions, one dimension at a time."""
        if self.whitening.diagonal:
            return self.whitened
        return self.whitening.marginal(self.targets, self.scores)

    @cached_property
    def turn(self) -> Array:
        """Rotation of whitened targets to each dimension given those before it, (n, d, d): of one root to another."""
        xp, steps = array_namespace(self.targets), self._steps
        # With Q R = steps in reverse order of the columns, Q' in reverse order of the rows makes them triangular.
        rotation, triangle = xp.linalg.qr(xp.flip(steps, axis=2))
        sign = xp.sign(xp.linalg.diagonal(triangle))
        turn = xp.flip((rotation * sign[:, None, :]).mT, axis=1)
        return xp.broadcast_to(turn, (self.reference.shape[0], *turn.shape[1:]))

    @property
    def _steps(self) -> Array:
        """How whitened targets move with targets, (n, d, d); (1, d, d) where all have the same directions."""
        inverse = self.whitening.inverse_root
        if self.whitening.diagonal:
            return like(np.eye(inverse.shape[1])[None, ...], inverse)
        some = inverse[:1, ...] if self.whitening.isotropic else inverse
        return full_product(some, self.whitening.frame.inverse_root)

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
        n_fitted = self.context.sums.n_fitted
        if not n_fitted:
            raise ValueError(
                "`predictions`: no spread can be fitted to the scores of any of them: nothing is left to judge. "
                "Likely causes: scores of the wrong sign, a bounded support that was not given, or base points far "
                "from the predictions. `kccsd_test` needs no spread."
            )
        return like(~self.whitening.unfitted[:, None], self.targets) if n_fitted < self.context.n else None

    @property
    def ordered(self) -> bool:
        """Whether rows are in time order.

        Then whatever multiplies features looks back only. The rotation of whitened targets and the kernels of `framed`
        predictions still come from all rows; in random walks of one to three dimensions, their views keep the level.
        """
        return self.clusters is not None and self.clusters.ordered

    @cached_property
    def _so_far(self) -> tuple[Array, Array, Array]:
        return locations_so_far(self.whitening.location, self.whitening.covariance, self.series)

    @property
    def series(self) -> np.ndarray | None:
        """Which of several time series each row is in; None for one."""
        return None if self.clusters is None else self.clusters.series

    @cached_property
    def location(self) -> Array:
        """Locations of the predictions in the frame, (n, d); of ordered rows, in that of the rows so far."""
        return self._so_far[1] if self.ordered else self.whitening.frame.inverse(self.whitening.location)

    @cached_property
    def traits(self) -> Array:
        """Locations and centred log spreads, each divided by one root mean square; left out where that is zero."""
        spread = self.whitening.log_spread
        if self.ordered:
            return traits_so_far(few_of(self.location), spread, self.series, self.rounding)
        return self.context.traits(few_of(self.location), spread)

    @cached_property
    def curves_of_locations(self) -> Array:
        """Legendre polynomials of order 2, 3 and 4 of the ranks by location in each dimension, (n, d, 3).

        Each has mean 0 and mean square 1 over the rows, or a sample of many, but those of ordered rows, which look back
        only; zero where locations do not vary. (n, 0, 3) if none does.
        """
        return curves_of_locations(self)

    @cached_property
    def curves(self) -> Array:
        """Curves of the locations in all dimensions and of the spread that are not zero, (n, t).

        Of many dimensions, those of a few sums of locations.
        """
        return all_curves(self)

    @property
    def alike(self) -> bool:
        """Whether all predictions are in the same place."""
        if not self.ordered:
            return self.context.alike
        xp = array_namespace(self.location)
        return as_float(xp.max(xp.abs(self.location))) <= self.rounding

    @cached_property
    def directions(self) -> dict[str, Array]:
        """Locations less their mean, (n, d), where a step along them is a step of the location itself."""
        if not self.ordered:
            return self.context.directions(self.whitening)
        gap, _, sd = self._so_far
        along = self.whitening.inverse_step(gap)
        return {"whitened": along / size_so_far(self.location, self.series, self.rounding), "marginal": gap / sd}

    @cached_property
    def axes(self) -> Array:
        """Directions of length 1 in which whitened targets move as one dimension does alone, (n, d, d), by column."""
        xp, steps = array_namespace(self.targets), self._steps
        axes = steps / xp.sqrt(xp.sum(steps**2, axis=1, keepdims=True))
        return xp.broadcast_to(axes, (self.reference.shape[0], *axes.shape[1:]))

    @cached_property
    def errors_before(self) -> Array:
        """Targets, in units of their predictions, of the rows observed last before each row of ordered ones, (n, d)."""
        assert self.clusters is not None
        return errors_before(array_namespace(self.targets).mean(self.marginal[0], axis=0), self.clusters)

    @cached_property
    def sizes_before(self) -> Array:
        """Mean squares of the `errors_before`, less those of the rows so far, (n, 1)."""
        squares = array_namespace(self.targets).mean(self.errors_before**2, axis=1, keepdims=True)
        return squares - mean_so_far(squares, self.series)

    @cached_property
    def component(self) -> tuple[Array, Array, Array]:
        """Targets and scores in units of each of the K components of a mixture, (K, n, d), and shares (K, n, 1)."""
        z, scores, shares = in_components(self.predictions, self.targets[:1, ...])
        return z[0, ...], scores[0, ...], shares[0, ...]

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


def noise_source(first: int = 0) -> np.random.Generator:
    """Return the generator of the noise that is added to a set of targets, from row number `first` on."""
    return np.random.default_rng([_NOISE_SEED, first] if first else _NOISE_SEED)


def frame_of(
    predictions: Any, y: Any, noise: float, coordinates: Coordinates | None = None, first: int = 0
) -> ViewFrame:
    """The frame of views with this noise; 0 stands for the noise, if any, that the predictions come with.

    It is in the widest dtype, for numbers are few, compared to pairs; models are asked in the dtype of the targets.
    """
    if noise:
        predictions = predictions.noisy(noise)
    located = locate(coordinates, predictions, y, noise_source(first), N_NOISE_DRAWS)
    reference = located.targets[0, ...]
    rounding = 1e3 * float(array_namespace(reference).finfo(reference.dtype).eps)
    unbounded, targets, scores = in_widest_dtype(located.predictions, located.targets, located.scores)
    name = f"{located.coordinates}, whiten()".replace("identity, ", "")
    return ViewFrame(unbounded, targets, scores, reference, name, rounding, first=first)
