"""Features of rows, or a function of pairs, for each view: what the engine averages."""

import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np

from .._lib.arrays import Array, array_namespace
from .._lib.checks import checked_features
from ..kernels.bandwidth import target_bandwidth
from ..kernels.gram import distribution_gram
from ..pairwise import Features, Product, ProductOfPairs, RowFunction
from ..statistics import assemble, stein_features
from .extremes import Largest
from .frame import ViewFrame
from .view import FrameFeatures, RowKernel, View

Averaged = tuple[RowFunction, Mapping[str, Any]]


@dataclass(frozen=True, eq=False)
class OwnFeatures:
    """Features of rows by one kernel between targets, averaged over draws of noise or over components.

    The last block is kept: the engine asks all views for one block before it goes on to the next, and views that share
    a kernel and coordinates share their features.
    """

    view: View
    frame: ViewFrame
    located: tuple[Array, Array, Array]  # targets and scores (S, n, d), and how much each of S counts, (S, n, 1)
    _last: threading.local = field(default_factory=threading.local, init=False)

    def __call__(self, rows: slice) -> Array:
        if getattr(self._last, "rows", None) != rows:
            if isinstance(self.view.target_kernel, FrameFeatures):
                give = partial(self.view.target_kernel.frame_features, self.frame)
                found = _checked("frame_features(frame, rows)", give, self.view, self.frame, rows)
            else:
                draws = range(self.located[0].shape[0])
                found = sum(self._features(k, rows) for k in draws)
            self._last.rows, self._last.features = rows, found
        return self._last.features

    def _features(self, k: int, rows: slice) -> Array:
        """Features of a block of rows for one draw or component, weighted by its share."""
        targets, scores, shares = (part[k, rows, :] for part in self.located)
        return stein_features(self.view.target_kernel, targets, scores, _owner(self.view, rows)) * shares


def own_features(view: View, frame: ViewFrame, shared: dict[Any, OwnFeatures]) -> OwnFeatures:
    """Features of the view's kernel between targets: those in `shared` of a view with the same kernel, or new ones."""
    key = (view.coordinates, view.noise, id(view.target_kernel))  # views hold their kernels: none is reused
    return shared.setdefault(key, OwnFeatures(view, frame, frame.at(view.coordinates)))


def evaluate(view: View, frame: ViewFrame, rng: np.random.Generator, shared: dict[Any, OwnFeatures]) -> Averaged | None:
    """Function that is averaged for a view, and its bandwidths; None where predictions do not differ as it needs."""
    if isinstance(view.target_kernel, Largest):
        return view.target_kernel.extreme(frame), {}
    if not view.finite_rank:
        return _pairs(view, frame, rng)
    between = view.distribution_kernel
    own = own_features(view, frame, shared)
    if not isinstance(between, RowKernel):
        return Features(own, view.largest, unskewed=True), {}
    if not between.differs(frame):
        return None
    return Features(partial(_combined, between, view, own), view.largest, unskewed=True), {}


def _combined(between: RowKernel, view: View, own: OwnFeatures, rows: slice) -> Array:
    """Features combined with what is known of each prediction."""
    features = own(rows)

    def give(some: slice) -> Array:
        return between.combine(features[: some.stop - some.start, :], own.frame, view.coordinates, some)

    return _checked("combine(features, frame, coordinates, rows)", give, view, own.frame, rows)


def _checked(call: str, give: Callable[[slice], Array], view: View, frame: ViewFrame, rows: slice) -> Array:
    """Features of a block of rows; few rows, all in one block, must not hide that `rows` is ignored."""
    for some in (slice(0, 1), rows) if rows.start == 0 else (rows,):
        found = checked_features(call, give(some), frame.targets[0, some, :], _owner(view, rows))
    return found


def _owner(view: View, rows: slice) -> str:
    return f"view {view.name!r}" + (f", from row {rows.start} on" if rows.start else "")


def _pairs(view: View, frame: ViewFrame, rng: np.random.Generator) -> Averaged:
    """H = k(P_i, P_j) h(y_i, y_j), with predictions compared in the frame."""
    between: Any = view.distribution_kernel
    kernel: Any = view.target_kernel
    targets, scores = (part[0, ...] for part in frame.at(view.coordinates)[:2])
    in_frame = view.coordinates != "natural"
    predictions = frame.framed if in_frame else frame.predictions
    if view.name not in frame.grams:
        frame.grams[view.name] = distribution_gram(between, predictions, scores, rng)
    gram, bandwidths = frame.grams[view.name]
    width = target_bandwidth(kernel, targets)
    function: Any
    owner = f"view {view.name!r}"
    function, computed = assemble(targets, scores, kernel, width, [gram], dtype=frame.reference.dtype, owner=owner)
    kept = frame.kept if in_frame else None
    if kept is not None:
        kept = array_namespace(kept).astype(kept, computed.dtype, copy=False)
        function = ProductOfPairs((function, Product(kept, kept)))
    if width is None:
        return function, bandwidths
    return function, {"target": array_namespace(width).astype(width, computed.dtype), **bandwidths}
