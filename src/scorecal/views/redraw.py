"""Statistics of views for targets that are drawn from the predictions: the exact null distribution.

A data set whose targets are draws from its predictions is, if these are calibrated, like the observed one. What depends
on the predictions alone (whitening, traits, kernels between predictions) is computed once, and all else for each draw.
Features are functions of one row, so that many data sets are stacked, and their sums over rows taken at once.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np
from array_api_compat import is_numpy_array

from .._lib.arrays import Array, array_namespace, ignore_overflow, to_numpy
from .._lib.cached import cached_property
from .._lib.cores import cpu_count
from ..coordinates import Coordinates
from ..coordinates.chains import can_be_moved, chains_from
from ..coordinates.locate import locate_all, noise_stream
from ..pairwise import Average, Redrawn, Units
from ..parallel.progress import progress
from ..parallel.threads import in_threads
from ..predictions import Noised, drawn_targets
from ..resampling.features import statistic_of_sums
from ..results import check_overflow
from ..statistics import stein_features
from .components import in_components
from .dense_pairs import DensePairs, dense_pairs, is_dense
from .evaluate import evaluate
from .extremes import Largest
from .frame import N_NOISE_DRAWS, ViewFrame, noise_source
from .near_modes import NearModes
from .normal_draws import NormalDraws, normal_draws
from .row_kernels import is_linear
from .row_sums import sums_of_stack
from .summaries import Summaries
from .view import FrameFeatures, RowKernel, Shares, View

_FLOATS_AT_ONCE = 2**18  # few enough for the features of a view to stay in the cache
_DRAWS_FOR_UNITS = 100  # at most: more change little


class DrawsError(ValueError):
    """Targets could not be drawn from the predictions, or what was drawn could not be judged."""


@dataclass(frozen=True, eq=False)
class ViewRedraw:
    """Function that draws targets from `predictions` and returns the statistics of all views, (V, B), and their units.

    Units are expected sums of squares and cubes. They are means over draws of their own, which are not ranked: given
    these, the data and the other draws are still alike, and ranks are exact.
    """

    views: Sequence[View]
    frames: Mapping[float, ViewFrame]  # by noise
    predictions: Any
    coordinates: Coordinates | None
    all_pairs: bool  # averaged by views that compare pairs

    @cached_property
    def _dense(self) -> dict[str, DensePairs]:
        frame = self.frames[0.0]
        return {view.name: dense_pairs(view, frame) for view in self.views if self.all_pairs and is_dense(view, frame)}

    @cached_property
    def tabulated(self) -> NormalDraws | None:
        """Draws from tables of normal numbers, for Gaussian predictions in their own coordinates."""
        if self.coordinates is not None:
            return None
        return normal_draws(self.views, self.frames[0.0], self.predictions, self._dense)

    def __call__(self, n_draws: int, rng: np.random.Generator, average: Average) -> Redrawn:
        if self.tabulated is not None:
            return self.tabulated.statistics(n_draws, int(rng.integers(2**63)))
        try:
            return self._drawn(n_draws, rng, average)
        except (ArithmeticError, RuntimeError, TypeError, ValueError) as error:
            raise DrawsError(str(error)) from error

    def _drawn(self, n_draws: int, rng: np.random.Generator, average: Average) -> Redrawn:
        frame, dense = self.frames[0.0], self._dense
        slow = [view for view in self.views if view.name not in dense and not stacks(view)]
        in_units = [view for view in self.views if view.finite_rank and stacks(view)]
        found: dict[str, list[Array]] = {view.name: [] for view in self.views}
        n_threads = cpu_count() if is_numpy_array(frame.reference) else 1
        with progress(n_draws, "draw", delay=2.0) as advance:
            stacks_of_draws = self._stacks(n_draws, rng, for_units=bool(in_units))
            first = [next(stacks_of_draws)] if in_units else []
            units = {view.name: _units(view, stack) for stack in first for view in in_units}
            work = partial(_of_stack, self.views, dense, units)
            for stack, statistics in in_threads(work, stacks_of_draws, n_threads):
                for name, row in statistics.items():
                    found[name].append(row)
                if slow:
                    rows = [average(*_of_one(slow, stack, k, rng)) for k in range(stack.size)]
                    for v, view in enumerate(slow):
                        found[view.name] += [row[v : v + 1] for row in rows]
                advance(stack.size)
        drawn = np.stack([np.concatenate([to_numpy(part) for part in found[view.name]]) for view in self.views])
        check_overflow(drawn)
        return Redrawn(drawn, [units.get(view.name) for view in self.views])

    def _stacks(self, n_draws: int, rng: np.random.Generator, *, for_units: bool) -> Iterator["Stack"]:
        """Yield draws, a few at a time; with `for_units` after a stack of others, from the same chains."""
        n, frame = self.predictions.n, self.frames[0.0]
        source, predictions, coordinates = self.predictions, self.predictions, self.coordinates
        if can_be_moved(predictions):
            source = chains_from(frame.predictions, frame.whitening, frame.targets[0, ...], rng)
            predictions, coordinates = frame.predictions, None
        n_noise = N_NOISE_DRAWS if len(self.frames) > 1 else 1
        size = max(1, min(_FLOATS_AT_ONCE // (n * n_noise * frame.reference.shape[1]), -(-n_draws // 2)))
        n_first = min(size, _DRAWS_FOR_UNITS) if for_units else 0
        draws: list[Array] = []
        for k, targets in enumerate(drawn_targets(source, n, n_first + n_draws, rng), start=1):
            draws.append(targets)
            if len(draws) == size or k in (n_first, n_first + n_draws):
                frames = {
                    noise: _redrawn(frame, predictions, noise, draws, coordinates)
                    for noise, frame in self.frames.items()
                }
                yield Stack(len(draws), frames)
                draws = []


@dataclass(frozen=True, eq=False)
class Stack:
    """Several drawn data sets, in frames with targets and scores (size * S, n, d), S draws of noise for each."""

    size: int
    frames: Mapping[float, ViewFrame]
    _features: dict[Any, Array] = field(default_factory=dict, init=False)

    def features(self, view: View) -> Array:
        """Features (size, n, q) of the view's kernel between targets."""
        key = (view.coordinates, view.noise, id(view.target_kernel))
        if key not in self._features:
            self._features[key] = self._evaluate(view)
        return self._features[key]

    def _evaluate(self, view: View) -> Array:
        frame = self.frames[view.noise]
        if isinstance(view.target_kernel, Shares):
            mixture: Any = frame.predictions
            return view.target_kernel.used(frame, mixture.shares(frame.targets) - mixture.weights)
        if isinstance(view.target_kernel, Summaries | NearModes):
            return view.target_kernel.of_stack(frame)
        targets, scores, shares = _stacked_at(frame, view.coordinates, self.size)
        xp = array_namespace(targets)
        points, slopes = (xp.reshape(part, (-1, part.shape[-1])) for part in (targets, scores))
        found = stein_features(view.target_kernel, points, slopes, f"view {view.name!r}")
        return xp.sum(xp.reshape(found, (*targets.shape[:-1], -1)) * shares, axis=1)


def _stacked_at(frame: ViewFrame, coordinates: str, size: int) -> tuple[Array, Array, Array]:
    """As `frame.at`, for `size` drawn data sets whose targets are (size * S, n, d): each part is (size, S, n, ...)."""
    if coordinates == "component":
        return in_components(frame.predictions, frame.targets)
    xp = array_namespace(frame.targets)
    targets, scores, shares = (xp.reshape(part, (size, -1, *part.shape[1:])) for part in frame.at(coordinates))
    return targets, scores, size * shares


def stacks(view: View) -> bool:
    """Return whether the statistic of a view is known for many draws at once."""
    between, kernel = view.distribution_kernel, view.target_kernel
    if isinstance(kernel, Largest):
        return True
    if not view.finite_rank or (isinstance(between, RowKernel) and not is_linear(between)):
        return False
    return isinstance(kernel, Shares | Summaries | NearModes) or not isinstance(kernel, FrameFeatures)


def _redrawn(
    frame: ViewFrame,
    predictions: Any,
    noise: float,
    draws: Sequence[Array],
    coordinates: Coordinates | None,
) -> ViewFrame:
    """The frame with drawn targets in place of the observed ones."""
    if noise:
        predictions = predictions.noisy(noise)
    if isinstance(predictions, Noised):
        streams = [noise_stream(noise_source()) for _ in draws]
        parts = zip(draws, streams, strict=True)
        draws = [predictions.noised(points, stream) for points, stream in parts for _ in range(N_NOISE_DRAWS)]
    xp, dtype = array_namespace(frame.targets), frame.targets.dtype
    moved = locate_all(coordinates, predictions, draws)
    return frame.redrawn(*(xp.astype(part, dtype, copy=False) for part in moved))


@ignore_overflow
def _of_stack(
    views: Sequence[View], dense: Mapping[str, DensePairs], units: Mapping[str, Units], stack: Stack
) -> tuple[Stack, dict[str, Array]]:
    """Statistics (size,) of the views that stack, by name."""
    found = {}
    for view in views:
        frame = stack.frames[view.noise]
        if view.name in units:
            plain = sums_of_stack(view.distribution_kernel, stack.features(view), frame, view.coordinates, 1)
            found[view.name] = statistic_of_sums(view.largest, plain, units[view.name], frame.reference.shape[0])
        elif view.name in dense:
            found[view.name] = dense[view.name](*frame.at(view.coordinates)[:2])
        elif isinstance(view.target_kernel, Largest):
            found[view.name] = view.target_kernel.of_stack(frame)
    return stack, found


@ignore_overflow
def _units(view: View, stack: Stack) -> Units:
    """Mean sums of squares and cubes of the features of a view."""
    frame, xp = stack.frames[view.noise], array_namespace(stack.frames[view.noise].targets)
    powers = (
        sums_of_stack(view.distribution_kernel, stack.features(view), frame, view.coordinates, power)
        for power in (2, 3)
    )
    return Units(*(xp.mean(sums, axis=1) for sums in powers))


def _of_one(views: Sequence[View], stack: Stack, k: int, rng: np.random.Generator) -> tuple[list[Any], Array]:
    """Functions of the other views for one draw, and their reference."""
    functions = []
    for view in views:
        frame = stack.frames[view.noise]
        n_noise = frame.targets.shape[0] // stack.size
        some = slice(k * n_noise, (k + 1) * n_noise)
        evaluated = evaluate(view, frame.redrawn(frame.targets[some, ...], frame.scores[some, ...]), rng, {})
        functions.append(evaluated[0])  # type: ignore[index]
    return functions, stack.frames[0.0].reference
