"""How clear each kind of miscalibration is in the views, and what is left of it when others are taken out."""

import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np

from ..statistics.hermite import Hermite, RadialTails
from ..statistics.test_functions import Trace
from .far_rows import FarRows, far_rows_in
from .frame import ViewFrame
from .judge import Judged
from .near_modes import NearModes
from .second_moments import OF_ALL, Spread, spread_in
from .taken_out import without
from .view import View

_SHARE = 0.7  # of a departure's size, in standard errors, that second moments must show for it to be one of spread
_NOTABLE = 3.0  # standard errors
_FAR = 2.0


@dataclass(frozen=True, eq=False)
class Evidence:
    """Judgements by the views of targets from which flaws are taken out."""

    ask: Callable[[ViewFrame], Judged | None]
    frame: ViewFrame
    known: dict[tuple[str, ...], tuple[Judged | None, ViewFrame]] = field(default_factory=dict)

    def without(self, kinds: Sequence[str]) -> tuple[Judged | None, ViewFrame]:
        """The judgement of what is left without these kinds, or None where models do not answer, and the targets."""
        key = tuple(kinds)
        if key not in self.known:
            with warnings.catch_warnings(action="ignore"):  # of targets that the user never gave
                try:
                    frame = without(self.without(key[:-1])[1] if key else self.frame, key)
                    self.known[key] = self.ask(frame), frame
                except Exception:  # a model may answer as it likes so far from its own targets: there are fewer words
                    self.known[key] = None, self.frame
        return self.known[key]

    def amount_without(self, *kinds: str) -> float:
        """Minus the log10 of the smallest p-value of a view that is left without these kinds, beyond that of chance."""
        judged, _ = self.without(kinds)
        return (
            np.inf if judged is None else max(0.0, judged.combined.statistic - float(np.median(judged.combined.null)))
        )

    def left(self, kinds: Sequence[str], level: float) -> dict[str, float]:
        """Kinds that are left without these, and how clear they are."""
        judged, frame = self.without(kinds)
        return {} if judged is None else sizes_of(judged, frame, max(level, judged.draws.least_pvalue))


def sizes_of(judged: Judged, frame: ViewFrame, level: float, known: Spread | None = None) -> dict[str, float]:
    """Kinds that views see, and how clear they are, in standard errors; `known` is the spread of whole predictions."""
    clear = [k for k, result in enumerate(judged.views) if result.adjusted_pvalue <= level]
    if not clear:
        return {}
    far = far_rows_in(frame) if any(judged.used[k].sees == "outliers" for k in clear) else None
    outliers = far.far if far is not None and far.are_outliers else None
    places = {judged.used[k].coordinates for k in clear}
    known = known if outliers is None else None
    spread = {where: (where in OF_ALL and known) or spread_in(frame, where, outliers) for where in places}
    sizes: dict[str, float] = {}
    for k in clear:
        view, size = judged.used[k], float(judged.combined.sizes[k])
        if isinstance(view.target_kernel, NearModes):
            kind = "over-confidence" if view.target_kernel.are_too_far(frame) else "under-confidence"
        else:
            kind = _kind(view, size, spread[view.coordinates])
        sizes[kind] = max(size, sizes.get(kind, 0.0))
    if "outliers" in sizes:
        sizes = _outliers_or_shape(sizes, far)
    if len(sizes) > 1:
        sizes.pop("any", None)
    if {"over-confidence", "under-confidence"} <= sizes.keys():
        del sizes[min(("over-confidence", "under-confidence"), key=sizes.__getitem__)]
    return sizes


def _outliers_or_shape(sizes: dict[str, float], far: FarRows | None) -> dict[str, float]:
    """Sizes where far targets, if the others have the right shape, come first; otherwise the shape is wrong.

    A row that is only just far is no more than the far end of whatever else is wrong.
    """
    found = dict(sizes)
    if far is not None and far.beyond_doubt:
        found.pop("shape", None)
        return found | {"outliers": max(sizes.values()) + 1.0}
    if far is None or not far.are_outliers or "shape" in found:
        found["shape"] = max(found.pop("outliers"), found.get("shape", 0.0))
        return found
    return found | {"outliers": min(sizes.values()) - 1.0}


def _kind(view: View, size: float, spread: Spread) -> str:
    """Kind of miscalibration that a view names; second moments, which see spread alone, tell spread from shape."""
    if view.sees not in ("confidence", "shape"):
        return view.sees
    clearest = max([spread.overall, *spread.alone], key=abs)
    moments = isinstance(view.target_kernel, Trace | Hermite | RadialTails)  # which do not see each other
    too_far = spread.ratio > _FAR and clearest < -_NOTABLE  # then second moments are loud, and their errors as well
    if not moments and abs(clearest) < _SHARE * size and not too_far:
        return "shape"
    if moments and view.sees == "shape" and not too_far:
        return "shape"
    return "over-confidence" if clearest < 0 else "under-confidence"
