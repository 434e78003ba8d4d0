"""Statistics of views for targets drawn from Gaussian predictions: from standard normal numbers, in tables.

In units of its own prediction, a target drawn from a Gaussian is standard normal, whatever the prediction. Numbers of
the same n, d and seed are kept, with the sums of all features that depend on nothing else; a further test of the same
size computes only what depends on its predictions: traits, gain, kernels between predictions, and, in several
dimensions, the rotation between targets that are whitened and targets in units of each dimension alone.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache, partial
from typing import Any

import numpy as np

from .._lib.arrays import ignore_overflow, to_numpy
from .._lib.cores import cpu_count
from ..parallel.progress import progress
from ..parallel.threads import in_threads
from ..predictions import Gaussian
from ..resampling.features import statistics_of_sums
from ..statistics import stein_features
from ..statistics.rank_functions import RadialRank, Rank
from ..statistics.test_functions import BoundedRadial, Constant, Cross
from .dense_pairs import DensePairs
from .frame import ViewFrame
from .view import FrameFeatures, Gain, RowKernel, Traits, View

_FLOATS_AT_ONCE, _TABLES_KEPT = 2**19, 8
# Kernels whose features never change, and of which is known what they have in closed form for normal targets.
_OURS = (BoundedRadial, Constant, Cross, RadialRank, Rank)

Sums = tuple[np.ndarray, np.ndarray, np.ndarray]  # of f, f^2 and f^3 over rows, (q, draws) each


@dataclass(frozen=True, eq=False)
class Table:
    """Standard normal numbers (d, n, draws), and features of them that no prediction changes."""

    numbers: np.ndarray
    _features: dict[Any, np.ndarray] = field(default_factory=dict, init=False)
    _sums: dict[Any, Sums] = field(default_factory=dict, init=False)

    def features(self, kernel: Any) -> np.ndarray:
        """Features (q, n, draws), kept for kernels of ours that are used with traits."""
        if type(kernel) not in _OURS:
            return normal_features(kernel, self.numbers)
        if kernel not in self._features:
            self._features[kernel] = normal_features(kernel, self.numbers)
        return self._features[kernel]

    def sums(self, kernel: Any) -> Sums:
        """Sums over rows of the powers of features, kept for kernels of ours."""
        if type(kernel) not in _OURS:
            return normal_sums(kernel, self.numbers)
        if kernel not in self._sums:
            kept = self._features.get(kernel)
            self._sums[kernel] = normal_sums(kernel, self.numbers) if kept is None else sums_of(kept)
        return self._sums[kernel]


@lru_cache(maxsize=_TABLES_KEPT)
def table_of(n: int, d: int, n_draws: int, seed: int, part: int) -> Table:
    """Return a table, which calls with the same arguments share."""
    rng = np.random.default_rng([seed, part])
    return Table(rng.standard_normal((d, n, n_draws)))


def normal_features(kernel: Any, numbers: np.ndarray) -> np.ndarray:
    """Features (q, n, draws) of standard normal numbers (d, n, draws), whose scores are minus the numbers."""
    d, n, n_draws = numbers.shape
    points = np.moveaxis(numbers, 0, 2).reshape(-1, d)
    if type(kernel) in (Rank, RadialRank):
        found = kernel.normal_features(points)
    else:
        found = stein_features(kernel, points, -points, repr(kernel))
    return np.ascontiguousarray(np.moveaxis(found.reshape(n, n_draws, -1), 2, 0))


def normal_sums(kernel: Any, numbers: np.ndarray) -> Sums:
    """Sums over rows of the powers of features of standard normal numbers (d, n, draws)."""
    if type(kernel) is Cross:
        plain, squares, cubes = kernel.normal_sums(numbers)
        return plain, squares, cubes
    return sums_of(normal_features(kernel, numbers))


def sums_of(features: np.ndarray, weights: np.ndarray | None = None) -> Sums:
    """Sums over rows of the powers of features (q, n, draws) times weights (n, t), (q t, draws)."""
    weights = np.ones((features.shape[1], 1)) if weights is None else weights
    squares = features * features
    powers = (features, squares, squares * features)
    found = [np.matmul((weights**k).T, power) for k, power in enumerate(powers, 1)]
    return tuple(part.reshape(-1, features.shape[2]) for part in found)


@dataclass(frozen=True, eq=False)
class NormalDraws:
    """Statistics of views from tables of normal numbers, given what views know of Gaussian predictions."""

    views: Sequence[View]
    frame: ViewFrame
    rotation: np.ndarray | None  # from the numbers to the other coordinates, (n, d, d); None in one dimension
    diagonal: bool  # the numbers are targets in units of each dimension; otherwise they are whitened
    pairs: Mapping[str, DensePairs]

    def statistics(self, n_draws: int, seed: int) -> np.ndarray:
        """Statistics (V, n_draws)."""
        n, d = self.frame.reference.shape
        size = max(1, min(_FLOATS_AT_ONCE // (n * d), -(-n_draws // 2)))
        parts = range(-(-n_draws // size))
        found = []
        with progress(n_draws, "draw", delay=2.0) as advance:
            for statistics in in_threads(partial(self._of_table, n, d, size, seed), parts, cpu_count()):
                found.append(statistics)
                advance(size)
        return np.concatenate(found, axis=1)[:, :n_draws]

    @ignore_overflow
    def _of_table(self, n: int, d: int, size: int, seed: int, part: int) -> np.ndarray:
        table = table_of(n, d, size, seed, part)
        rotated = table.numbers if self.rotation is None else rotate(self.rotation, table.numbers)
        by_rank = [view for view in self.views if view.name not in self.pairs]
        sums = [(view.largest, self._sums(view, table, rotated)) for view in by_rank]
        found = {view.name: row for view, row in zip(by_rank, statistics_of_sums(sums, n), strict=True)}
        for view in self.views:
            if view.name in self.pairs:
                numbers = np.ascontiguousarray(self._numbers(view, table, rotated).transpose(2, 1, 0))
                found[view.name] = self.pairs[view.name].of_normal(numbers)
        return np.stack([found[view.name] for view in self.views])

    def _is_shared(self, view: View) -> bool:
        """Return whether the view looks at the numbers of the table themselves, not at rotated ones."""
        return self.rotation is None or (view.coordinates == "marginal") == self.diagonal

    def _numbers(self, view: View, table: Table, rotated: np.ndarray) -> np.ndarray:
        return table.numbers if self._is_shared(view) else rotated

    def _sums(self, view: View, table: Table, rotated: np.ndarray) -> Sums:
        kernel: Any = view.target_kernel
        numbers, between = self._numbers(view, table, rotated), view.distribution_kernel
        shared = self._is_shared(view) or type(kernel) in (BoundedRadial, RadialRank)  # these depend on |z| alone
        if type(between) is Gain:  # with the features -z of the constant
            along = -np.einsum("nd,dnm->nm", to_numpy(self.frame.directions[view.coordinates]), numbers)
            return sums_of(along[None])
        if type(between) is Traits:
            features = table.features(kernel) if shared else normal_features(kernel, numbers)
            return sums_of(features, to_numpy(self.frame.traits))
        return table.sums(kernel) if shared else normal_sums(kernel, numbers)


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
    whitening = frame.whitening
    rotation = None
    diagonal = predictions.scale is not None
    if predictions.dim > 1:
        to_marginal = to_numpy(whitening.frame.root) @ to_numpy(whitening.root) / to_numpy(whitening.sd)[:, :, None]
        rotation = to_marginal.swapaxes(1, 2) if diagonal else to_marginal
    on_host = {name: DensePairs(to_numpy(each.gram), each.bandwidth) for name, each in pairs.items()}
    return NormalDraws(views, frame, rotation, diagonal, on_host)


def _is_known(view: View) -> bool:
    """Return whether a view's features depend on a target in units of its prediction, and at most on its traits."""
    between = view.distribution_kernel
    return (
        view.finite_rank
        and view.coordinates in ("whitened", "marginal")
        and not view.noise
        and not isinstance(view.target_kernel, FrameFeatures)
        and (not isinstance(between, RowKernel) or type(between) in (Gain, Traits))
    )
