"""Kinds of miscalibration that the views see, the best explanation first."""

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
from .taken_out import spread_too_much, without
from .view import View

_OF_SECOND = 0.2  # of the level: the share for kinds beside the first, which are many
_SHARE = 0.7  # of a departure's size, in standard errors, that second moments must show for it to be one of spread
_NOTABLE = 3.0  # standard errors
_FAR = 2.0
_PLAIN = 6.0  # standard errors, of a kind that other flaws hid
_CLEARLY_LESS, _HALF = 2.0 / 3.0, 0.5  # of the evidence; the latter where views did not see the kind
_FIRM = ("shape", "modes")  # flaws that cannot be taken out


@dataclass(frozen=True, eq=False)
class _Evidence:
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
        return {} if judged is None else _sizes(judged, frame, max(level, judged.draws.least_pvalue))


def seen_by(
    judged: Judged,
    frame: ViewFrame,
    ask: Callable[[ViewFrame], Judged | None],
    level: float,
    *,
    in_ranks: bool,
    spread: Spread | None = None,
) -> tuple[str, ...]:
    """Kinds of miscalibration with evidence at this level, that of the best explanation first.

    One flaw shows in several views. So flaws are taken out of the targets, and `ask` is the judgement of views on what
    is left. First comes the clearest kind, unless another explains it: without that one it is not seen, and clearly
    less evidence is left of any. Then come the clearest kinds that are left. A wrong shape, which cannot be taken out,
    must be seen without all others. If the frame has only some of the rows, `spread` is that of all of them.
    """
    evidence = _Evidence(ask, frame)
    sizes = _sizes(judged, frame, level, spread)
    if len(sizes) == 0 or "any" in sizes or all(view.coordinates == "natural" for view in judged.used):
        return tuple(sorted(sizes, key=lambda kind: -sizes[kind]))  # without units nothing can be taken out
    seen = _first_of(sizes, evidence, level)
    families = {*map(_family, sizes)}
    if in_ranks and seen != ["shape"]:  # a wrong location or spread makes the shape of normal scores wrong
        families.discard("shape")
    while seen[-1] != "modes":
        found = evidence.left(seen, _OF_SECOND * level)
        left = {kind: size for kind, size in found.items() if _family(kind) not in map(_family, seen)}
        left = {kind: size for kind, size in left.items() if _family(kind) in families or size > _PLAIN}
        if not left:
            break
        kind = max(left, key=left.__getitem__)
        seen.append(_shape_or_spread(evidence, seen, level) if kind == "shape" else kind)
    others = [kind for kind in seen if kind != "shape"]
    seen = seen if not others or "shape" in evidence.left(others, level) else others
    return (*seen, *_other_way(seen, evidence, _OF_SECOND * level))


def _other_way(seen: Sequence[str], evidence: _Evidence, level: float) -> list[str]:
    """The other direction of a wrong spread, if some dimensions spread too much and others too little."""
    from scipy.special import ndtri

    named = [kind for kind in seen if _family(kind) == "confidence"]
    if not named or "shape" in seen:
        return []
    alone = np.asarray(spread_in(evidence.without([kind for kind in seen if kind not in named])[1], "whitened").alone)
    clear = -ndtri(0.5 * level / len(alone))
    both = {"over-confidence": np.any(alone < -clear), "under-confidence": np.any(alone > clear)}
    return [kind for kind, found in both.items() if found and kind not in named and all(both.values())]


def _family(kind: str) -> str:
    """The kind, or both directions of a wrong spread: which one it is may change when something else is taken out."""
    return "confidence" if kind.endswith("confidence") else kind


def _first_of(sizes: dict[str, float], evidence: _Evidence, level: float) -> list[str]:
    """The clearest kind, unless another explains it, or a bias and a wrong spread do together and neither alone."""
    clearest = max(sizes, key=sizes.__getitem__)
    before = min(evidence.amount_without(clearest), evidence.amount_without())
    if before == 0.0 or (len(sizes) == 1 and not evidence.left([clearest], level)):
        return [clearest]
    best = min(_simpler(sizes, evidence.frame), key=evidence.amount_without)
    most = (_CLEARLY_LESS if best in sizes else _HALF) * before
    explained = evidence.amount_without(best) < most and clearest not in evidence.left([best], level)
    first = [best if explained else clearest]
    if "modes" in first or not evidence.left(first, level):
        return first
    spread = _spread_of(evidence.without(["bias"])[1])
    both = {"bias": sizes.get("bias", 0.0), spread: evidence.left(["bias"], level).get(spread, 0.0)}
    most = _HALF * min(before, evidence.amount_without(*first))
    if evidence.amount_without(*both) >= most or clearest in evidence.left([*both], level):
        return first
    found = [kind for kind, size in both.items() if size > 0.0]
    return sorted(found, key=both.__getitem__, reverse=True) or [spread]


def _shape_or_spread(evidence: _Evidence, seen: Sequence[str], level: float) -> str:
    """A wrong spread if it explains, once a bias is taken out too, what looks like a wrong shape; otherwise "shape"."""
    if "confidence" in map(_family, seen):
        return "shape"
    without_bias = [*seen, *({"bias"} - {*seen})]
    kind = _spread_of(evidence.without(without_bias)[1])
    explained = [*without_bias, kind]
    clearly_less = evidence.amount_without(*explained) < _HALF * evidence.amount_without(*seen)
    return kind if clearly_less and "shape" not in evidence.left(explained, level) else "shape"


def _spread_of(frame: ViewFrame) -> str:
    return "over-confidence" if spread_too_much(frame) else "under-confidence"


def _simpler(sizes: dict[str, float], frame: ViewFrame) -> list[str]:
    """Kinds that can be taken out, the clearest first, and first and second moments, which look like other flaws."""
    kinds = [kind for kind in sorted(sizes, key=lambda kind: -sizes[kind]) if kind not in _FIRM]
    if "confidence" not in map(_family, kinds):
        kinds.append(_spread_of(frame))
    if "correlation" not in kinds and frame.reference.shape[1] > 1:
        kinds.append("correlation")
    return kinds if "bias" in kinds else ["bias", *kinds]


def _sizes(judged: Judged, frame: ViewFrame, level: float, known: Spread | None = None) -> dict[str, float]:
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
