"""The view that compares pairs, by random features, in batches: what all rows share is computed once."""

from __future__ import annotations

from copy import deepcopy
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import numpy as np

from .._lib.arrays import Array, array_namespace, device_of, like
from ..kernels.bandwidth import MAX_PAIRS, pair_indices, resolve_bandwidth, target_bandwidth
from ..kernels.distances import Euclidean
from ..kernels.protocol import distance_of
from ..pairwise import Features
from ..resampling.estimators import LowRank
from ..statistics.random_features import SteinRows, stein_waves
from ..views import View
from ..views.evaluate import FrameParts, kernel_rows
from ..views.frame import ViewFrame
from ..views.low_rank import KernelScale, kernel_scale
from .rows import KeptRows, central_rows


@dataclass(frozen=True, eq=False)
class WaveView:
    """A view with Gaussian kernels: their bandwidths, the centres of what they compare, and random frequencies."""

    view: View
    scale: KernelScale
    centre: Array | None = None  # (d,), of targets, where the scale does not follow from the context
    before: np.random.Generator | None = None  # as it was before base points were drawn
    frequencies: np.ndarray = field(default_factory=lambda: np.zeros((0, 0)))

    def with_frequencies(self, d: int, rng: np.random.Generator) -> WaveView:
        """Return the view with random frequencies, which are drawn after the base points of all views."""
        shape = (self.scale.middle.shape[1] + d, LowRank().n_frequencies)
        return replace(self, frequencies=rng.standard_normal(shape))

    def features(self, frame: ViewFrame, parts: FrameParts) -> Features:
        """Return the features of the rows of a frame, whose blocks are its `parts`."""
        if self.centre is None:
            return Features(stein_waves(kernel_rows(self.scale, parts)[0], self.frequencies))
        scale, embedded = self.scale, _embedded(self.view, frame, deepcopy(self.before))
        xp = array_namespace(embedded[1])
        both = [(embedded[0] - scale.middle) / scale.bandwidth, (embedded[1] - self.centre) / scale.width]
        points, scores = (xp.astype(part, scale.dtype, copy=False) for part in (xp.concat(both, axis=1), embedded[2]))
        rows = SteinRows(lambda some: (points[some, :], scores[some, :]), points.shape[1], scale.width)
        waves, kept = stein_waves(rows, self.frequencies), frame.kept
        return Features(waves if kept is None else partial(_only, waves, kept))


def wave_view(view: View, frame: ViewFrame, anchors: KeptRows, n: int, rng: np.random.Generator) -> WaveView:
    """Return the view for n rows, with the random numbers of a test in memory.

    The frame is that of the anchors, whose pairs give the bandwidth where the context does not.
    """
    scale = kernel_scale(view, frame)
    if scale is not None:
        return WaveView(view, scale)
    kernel: Any = view.target_kernel
    between: Any = view.distribution_kernel
    before = deepcopy(rng)
    embeddings, targets, _ = _embedded(view, frame, rng)
    first, second = (np.searchsorted(anchors.rows, side) for side in pair_indices(n, MAX_PAIRS))
    bandwidth = resolve_bandwidth(between.bandwidth, Euclidean(embeddings), targets, (first, second))
    width: Any = target_bandwidth(kernel, targets)
    places = np.searchsorted(anchors.rows, central_rows(n))
    middle, centre = (_median(part, places) for part in (embeddings, targets))
    scale = KernelScale(bandwidth, width, middle[None, :], frame.reference.dtype)
    return WaveView(view, scale, centre, before)


def _embedded(view: View, frame: ViewFrame, rng: Any) -> tuple[Array, Array, Array]:
    """Return embeddings of the predictions, targets and scores, as `evaluate` has them."""
    between: Any = view.distribution_kernel
    targets, scores = (part[0, ...] for part in frame.at(view.coordinates)[:2])
    distance: Any = distance_of(between, frame.framed, targets.shape[0], scores, rng)[0]
    return like(distance.features, scores), targets, scores


def _median(values: Array, places: np.ndarray) -> Array:
    xp = array_namespace(values)
    some = xp.take(values, xp.asarray(places, device=device_of(values)), axis=0)
    return xp.sort(some, axis=0)[some.shape[0] // 2, :]


def _only(function: Any, kept: Array, rows: slice) -> Array:
    return function(rows) * kept[rows, :]
