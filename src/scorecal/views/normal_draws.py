"""Statistics of views for targets drawn from Gaussian predictions: from standard normal numbers, in tables.

In units of its own prediction, a target drawn from a Gaussian is standard normal, whatever the prediction. Numbers of
the same n, d and seed are kept, with the sums of all features that depend on nothing else; a further test of the same
size computes only what depends on its predictions: traits, gain, kernels between predictions, and, in several
dimensions, the rotations between targets that are whitened and targets in units of each dimension, alone or in order.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache, partial
from typing import Any

import numpy as np

from .._lib.arrays import ignore_overflow, to_numpy
from .._lib.cached import cached_property
from .._lib.cores import cpu_count
from ..pairwise import Redrawn, Units
from ..parallel.progress import progress
from ..parallel.threads import in_threads
from ..predictions import Gaussian
from ..resampling.features import statistic_of_sums
from ..statistics import stein_features
from ..statistics.hermite import Hermite
from ..statistics.rank_functions import RadialRank, Rank
from ..statistics.test_functions import Cross
from .dense_pairs import DensePairs
from .extremes import Largest, evidence_in
from .frame import ViewFrame
from .normal_moments import OF_LENGTH, OURS, normal_moments
from .row_kernels import Gain, is_linear
from .row_sums import raised, sums_of_table, units_of_rows
from .view import FrameFeatures, RowKernel, View

_FLOATS_AT_ONCE, _TABLES_KEPT = 2**19, 12
_FLOATS_FOR_UNITS, _FEWEST_FOR_UNITS, _OF_UNITS = 2**17, 10, 2**30  # numbers, draws, and the part of their table


@dataclass(frozen=True, eq=False)
class Table:
    """Standard normal numbers (d, n, draws), and features of them that no prediction changes."""

    numbers: np.ndarray
    _features: dict[Any, np.ndarray] = field(default_factory=dict, init=False)
    _sums: dict[Any, np.ndarray] = field(default_factory=dict, init=False)

    def features(self, kernel: Any, owner: str) -> np.ndarray:
        """Features (q, n, draws), kept for kernels of ours that are used with traits."""
        if type(kernel) not in OURS:
            return normal_features(kernel, self.numbers, owner)
        if kernel not in self._features:
            self._features[kernel] = normal_features(kernel, self.numbers)
        return self._features[kernel]

    def sums(self, kernel: Any, power: int, owner: str) -> np.ndarray:
        """Sums over rows of a power of the features, (q, draws), kept for kernels of ours."""
        if type(kernel) not in OURS:
            return normal_sums(kernel, self.numbers, power, owner)
        if (kernel, power) not in self._sums:
            kept = self._features.get(kernel)
            sums = normal_sums(kernel, self.numbers, power) if kept is None else np.sum(raised(kept, power), axis=1)
            self._sums[kernel, power] = sums
        return self._sums[kernel, power]

    @cached_property
    def largest(self) -> np.ndarray:
        """Largest squared length of the rows of each draw, (draws,)."""
        return np.asarray(np.max(np.einsum("dnm,dnm->nm", self.numbers, self.numbers), axis=0))


@lru_cache(maxsize=_TABLES_KEPT)
def table_of(n: int, d: int, n_draws: int, seed: int, part: int) -> Table:
    """Return a table, which calls with the same arguments share."""
    rng = np.random.default_rng([seed, part])
    return Table(rng.standard_normal((d, n, n_draws)))


def normal_features(kernel: Any, numbers: np.ndarray, owner: str = "") -> np.ndarray:
    """Features (q, n, draws) of standard normal numbers (d, n, draws), whose scores are minus the numbers."""
    d, n, n_draws = numbers.shape
    points = np.moveaxis(numbers, 0, 2).reshape(-1, d)
    if type(kernel) in (Rank, RadialRank):
        found = kernel.normal_features(points)
    else:
        found = stein_features(kernel, points, -points, owner or repr(kernel))
    return np.ascontiguousarray(np.moveaxis(found.reshape(n, n_draws, -1), 2, 0))


def normal_sums(kernel: Any, numbers: np.ndarray, power: int, owner: str = "") -> np.ndarray:
    """Sums over rows of a power of features of standard normal numbers (d, n, draws), (q, draws)."""
    if type(kernel) is Cross:
        return kernel.normal_sums(numbers, power)
    return np.asarray(np.sum(raised(normal_features(kernel, numbers, owner), power), axis=1))


@dataclass(frozen=True, eq=False)
class NormalDraws:
    """Statistics of views from tables of normal numbers, given what views know of Gaussian predictions."""

    views: Sequence[View]
    frame: ViewFrame
    rotations: Mapping[str, np.ndarray]  # from the numbers to coordinates that are not theirs, (n, d, d)
    pairs: Mapping[str, DensePairs]

    def statistics(self, n_draws: int, seed: int) -> Redrawn:
        """Statistics (V, n_draws), and the expected sums of squares and cubes."""
        n, d = self.frame.reference.shape
        size = max(1, min(_FLOATS_AT_ONCE // (n * d), -(-n_draws // 2)))
        parts = range(-(-n_draws // size))
        units = self._units(seed)
        found = []
        with progress(n_draws, "draw", delay=2.0) as advance:
            for statistics in in_threads(partial(self._of_table, units, n, d, size, seed), parts, cpu_count()):
                found.append(statistics)
                advance(size)
        return Redrawn(np.concatenate(found, axis=1)[:, :n_draws], [units.get(view.name) for view in self.views])

    @ignore_overflow
    def _units(self, seed: int) -> dict[str, Units]:
        """Expected sums of squares and cubes by view."""
        n, d = self.frame.reference.shape
        found = {}
        for view in (each for each in self.views if each.finite_rank):
            kernel: Any = view.target_kernel
            together = view.coordinates == "marginal" and "marginal" in self.rotations  # dimensions are correlated
            if together and kernel == Hermite(1, common=True) and not isinstance(view.distribution_kernel, RowKernel):
                square = np.sum(np.sum(self.rotations["marginal"], axis=1) ** 2) / d
                found[view.name] = Units(np.array([square]), np.zeros(1))
            elif together and (getattr(kernel, "common", False) or view.distribution_kernel == Gain()):
                few = max(_FEWEST_FOR_UNITS, _FLOATS_FOR_UNITS // (n * d))
                table = table_of(n, d, few, seed, _OF_UNITS)
                sums = (self._sums(view, table, self._rotated(table), power) for power in (2, 3))
                found[view.name] = Units(*(np.mean(each, axis=1) for each in sums))
            else:  # each row has the same distribution
                squares, cubes = normal_moments(kernel, d, f"view {view.name!r}")
                found[view.name] = units_of_rows(view.distribution_kernel, squares, cubes, self.frame, view.coordinates)
        return found

    @ignore_overflow
    def _of_table(self, units: Mapping[str, Units], n: int, d: int, size: int, seed: int, part: int) -> np.ndarray:
        table = table_of(n, d, size, seed, part)
        rotated = self._rotated(table)
        found = []
        for view in self.views:
            if view.name in units:
                plain = self._sums(view, table, rotated, 1)
                found.append(statistic_of_sums(view.largest, plain, units[view.name], n))
            elif isinstance(view.target_kernel, Largest):
                found.append(evidence_in(self.frame)(table.largest))
            else:
                numbers = rotated.get(view.coordinates, table.numbers).transpose(2, 1, 0)
                found.append(self.pairs[view.name].of_normal(np.ascontiguousarray(numbers)))
        return np.stack(found)

    def _rotated(self, table: Table) -> dict[str, np.ndarray]:
        """The numbers in the coordinates that are not theirs, if a view asks for these."""
        wanted = {view.coordinates for view in self.views} & self.rotations.keys()
        return {name: rotate(self.rotations[name], table.numbers) for name in wanted}

    def _sums(self, view: View, table: Table, rotated: Mapping[str, np.ndarray], power: int) -> np.ndarray:
        """Sums over rows of a power of the features of a view, (q, draws)."""
        kernel: Any = view.target_kernel
        between, owner = view.distribution_kernel, f"view {view.name!r}"
        numbers = None if type(kernel) in OF_LENGTH else rotated.get(view.coordinates)  # lengths do not turn
        if isinstance(between, RowKernel):
            features = table.features(kernel, owner) if numbers is None else normal_features(kernel, numbers, owner)
            return sums_of_table(between, features, self.frame, view.coordinates, power)
        return table.sums(kernel, power, owner) if numbers is None else normal_sums(kernel, numbers, power, owner)


def rotate(rotation: np.ndarray, numbers: np.ndarray) -> np.ndarray:
    """Return each row's numbers (d, n, draws) multiplied by its matrix (n, d, d)."""
    return np.ascontiguousarray(np.matmul(rotation, np.moveaxis(numbers, 0, 1)).swapaxes(0, 1))


def normal_draws(
    views: Sequence[View], frame: ViewFrame, predictions: Any, pairs: Mapping[str, DensePairs]
) -> NormalDraws | None:
    """Return how the views see draws from Gaussian predictions; None where a view or the predictions need more."""
    if type(predictions) is not Gaussian:  # a class that inherits from it may draw otherwise
        return None
    if not all(view.coordinates == "whitened" if view.name in pairs else _is_known(view) for view in views):
        return None
    on_host = {name: DensePairs(to_numpy(each.gram), each.bandwidth) for name, each in pairs.items()}
    return NormalDraws(views, frame, _rotations(frame, predictions.scale is not None), on_host)


def _rotations(frame: ViewFrame, diagonal: bool) -> dict[str, np.ndarray]:
    """Rotations of the numbers; of diagonal Gaussians these are the errors of each dimension, of others whitened."""
    if frame.reference.shape[1] == 1 or frame.whitening.diagonal:
        return {}
    root, whitening = to_numpy(frame.whitening.frame.root), frame.whitening
    to_marginal = root @ to_numpy(whitening.root) / to_numpy(whitening.sd)[:, :, None]
    if diagonal:
        return {"whitened": to_marginal.swapaxes(1, 2)}
    return {"marginal": to_marginal, "sequential": to_numpy(frame.turn)}


def _is_known(view: View) -> bool:
    """Return whether a view's features depend on a target in units of its prediction, and at most on its traits."""
    between = view.distribution_kernel
    if isinstance(view.target_kernel, Largest):
        return True
    return (
        view.finite_rank
        and view.coordinates in ("whitened", "sequential", "marginal")
        and not view.noise
        and not isinstance(view.target_kernel, FrameFeatures)
        and (not isinstance(between, RowKernel) or is_linear(between))
    )
