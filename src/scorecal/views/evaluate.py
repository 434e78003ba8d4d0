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
from .low_rank import stein_rows
from .row_kernels import Covariate, Curves, EachDimension, Gain, Traits
from .view import FrameFeatures, RowKernel, Shares, View

_OF_ROWS = (Traits, Curves, Gain, EachDimension, Covariate, Shares)  # given the context, each row by itself
Averaged = tuple[RowFunction, Mapping[str, Any]]


@dataclass(frozen=True, eq=False)
class FrameParts:
    """Frames of blocks of rows, or the frame of all rows where a block needs them.

    The last block of each thread is kept: the engine asks all views for one block before it goes on to the next.
    """

    frame: ViewFrame
    _last: threading.local = field(default_factory=threading.local, init=False)

    def __call__(self, rows: slice, kernel: Any) -> tuple[ViewFrame, slice]:
        """Return a frame that holds the rows, and their places in it; kernels of a user are given the whole one."""
        if kernel is not None and type(kernel) not in _OF_ROWS:
            return self.frame, rows
        if getattr(self._last, "rows", None) != rows:
            self._last.rows, self._last.part = rows, self.frame.part(rows)
        part = self._last.part
        return (self.frame, rows) if part is None else (part, slice(0, rows.stop - rows.start))


@dataclass(frozen=True, eq=False)
class OwnFeatures:
    """Features of rows by one kernel between targets, averaged over draws of noise or over components.

    The last block is kept, since views that share a kernel and coordinates share their features.
    """

    view: View
    parts: FrameParts
    in_frame: bool  # the kernel has features of predictions and targets, not of targets alone
    _last: threading.local = field(default_factory=threading.local, init=False)

    def __call__(self, rows: slice) -> Array:
        if getattr(self._last, "rows", None) != rows:
            kernel: Any = self.view.target_kernel
            if self.in_frame:
                frame, places = self.parts(rows, kernel)
                give = partial(kernel.frame_features, frame)
                found = _checked("frame_features(frame, rows)", give, self.view, frame, places, rows.start)
            else:
                frame, places = self.parts(rows, None)
                located = frame.at(self.view.coordinates)
                draws = range(located[0].shape[0])
                found = sum(self._features([part[k, places, :] for part in located], rows) for k in draws)
            self._last.rows, self._last.features = rows, found
        return self._last.features

    def _features(self, located: list[Array], rows: slice) -> Array:
        """Features of a block of rows for one draw or component, weighted by its share."""
        targets, scores, shares = located
        return stein_features(self.view.target_kernel, targets, scores, _owner(self.view, rows.start)) * shares


def evaluate(
    view: View, frame: ViewFrame, rng: np.random.Generator, shared: dict[Any, Any], *, low_rank: bool = False
) -> Averaged | None:
    """Function that is averaged for a view, and its bandwidths; None where predictions do not differ as it needs.

    What views have in common is kept in `shared`: blocks of the frame, and features by the same kernel between targets.
    With `low_rank` no pairs will be asked for.
    """
    parts = shared.setdefault(view.noise, FrameParts(frame))
    parts(slice(0, 1), None)  # what is known of all rows, before threads ask for it
    if isinstance(view.target_kernel, Largest):
        return view.target_kernel.extreme(frame, lambda rows: parts(rows, None)), {}
    if not view.finite_rank:
        found: Any = stein_rows(view, frame, lambda rows: parts(rows, None)[0]) if low_rank else None
        return found or _pairs(view, frame, rng)
    between = view.distribution_kernel
    key = (view.coordinates, view.noise, id(view.target_kernel))  # views hold their kernels: none is reused
    own = shared.setdefault(key, OwnFeatures(view, parts, isinstance(view.target_kernel, FrameFeatures)))
    if not isinstance(between, RowKernel):
        return Features(own, view.largest, unskewed=True), {}
    if not between.differs(parts(slice(0, 1), between)[0]):
        return None
    return Features(partial(_combined, between, view, own), view.largest, unskewed=True), {}


def _combined(between: RowKernel, view: View, own: OwnFeatures, rows: slice) -> Array:
    """Features combined with what is known of each prediction."""
    features = own(rows)
    frame, places = own.parts(rows, between)

    def give(some: slice) -> Array:
        return between.combine(features[: some.stop - some.start, :], frame, view.coordinates, some)

    return _checked("combine(features, frame, coordinates, rows)", give, view, frame, places, rows.start)


def _checked(
    call: str, give: Callable[[slice], Array], view: View, frame: ViewFrame, places: slice, first: int
) -> Array:
    """Features of a block of rows; few rows, all in one block, must not hide that `rows` is ignored."""
    for some in (slice(0, 1), places) if first == 0 else (places,):
        found = checked_features(call, give(some), frame.targets[0, some, :], _owner(view, first))
    return found


def _owner(view: View, first: int) -> str:
    return f"view {view.name!r}" + (f", from row {first} on" if first else "")


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
