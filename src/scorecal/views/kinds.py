"""Kinds of miscalibration that the views see, the best explanation first."""

from collections.abc import Callable, Sequence

import numpy as np

from .evidence import Evidence, sizes_of
from .frame import ViewFrame
from .judge import Judged
from .second_moments import Spread, spread_in
from .taken_out import spread_too_much

_OF_SECOND = 0.2  # of the level: the share for kinds beside the first, which are many
_PLAIN = 6.0  # standard errors, of a wrong spread that a bias hid
_CLEARLY_LESS, _HALF = 2.0 / 3.0, 0.5  # of the evidence; the latter where views did not see the kind
_FIRM = ("shape", "modes")  # flaws that cannot be taken out


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
    evidence = Evidence(ask, frame)
    sizes = sizes_of(judged, frame, level, spread)
    if len(sizes) == 0 or "any" in sizes or all(view.coordinates == "natural" for view in judged.used):
        return tuple(sorted(sizes, key=lambda kind: -sizes[kind]))  # without units nothing can be taken out
    seen = _first_of(sizes, evidence, level)
    families = {*map(_family, sizes)}
    if in_ranks and seen != ["shape"]:  # a wrong location or spread makes the shape of normal scores wrong
        families.discard("shape")
    while seen[-1] != "modes":
        found = evidence.left(seen, _OF_SECOND * level)
        left = {kind: size for kind, size in found.items() if _family(kind) not in map(_family, seen)}
        hidden = {kind for kind, size in left.items() if _family(kind) == "confidence" and size > _PLAIN}
        left = {kind: size for kind, size in left.items() if _family(kind) in families or kind in hidden}
        if not left:
            break
        kind = max(left, key=left.__getitem__)
        seen.append(_shape_or_spread(evidence, seen, level) if kind == "shape" else kind)
    others = [kind for kind in seen if kind != "shape"]
    seen = seen if not others or "shape" in evidence.left(others, level) else others
    return (*seen, *_other_way(seen, evidence, _OF_SECOND * level))


def _other_way(seen: Sequence[str], evidence: Evidence, level: float) -> list[str]:
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


def _first_of(sizes: dict[str, float], evidence: Evidence, level: float) -> list[str]:
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
    return _bias_and_spread(sizes, evidence, level, before, first) or first


def _bias_and_spread(
    sizes: dict[str, float], evidence: Evidence, level: float, before: float, first: Sequence[str]
) -> list[str]:
    """A bias and a wrong spread, as far as they are clear, if both together explain what `first` does not."""
    spread = _spread_kind(evidence.without(["bias"])[1])
    both = {"bias": sizes.get("bias", 0.0), spread: evidence.left(["bias"], level).get(spread, 0.0)}
    most = _HALF * min(before, evidence.amount_without(*first))
    if evidence.amount_without(*both) >= most or max(sizes, key=sizes.__getitem__) in evidence.left([*both], level):
        return []
    found = [kind for kind, size in both.items() if size > 0.0]
    return sorted(found, key=both.__getitem__, reverse=True) or [spread]


def _shape_or_spread(evidence: Evidence, seen: Sequence[str], level: float) -> str:
    """A wrong spread if it explains, once a bias is taken out too, what looks like a wrong shape; otherwise "shape"."""
    if "confidence" in map(_family, seen):
        return "shape"
    without_bias = [*seen, *({"bias"} - {*seen})]
    kind = _spread_kind(evidence.without(without_bias)[1])
    explained = [*without_bias, kind]
    clearly_less = evidence.amount_without(*explained) < _HALF * evidence.amount_without(*seen)
    return kind if clearly_less and "shape" not in evidence.left(explained, level) else "shape"


def _spread_kind(frame: ViewFrame) -> str:
    return "over-confidence" if spread_too_much(frame) else "under-confidence"


def _simpler(sizes: dict[str, float], frame: ViewFrame) -> list[str]:
    """Kinds that can be taken out, the clearest first, and first and second moments, which look like other flaws."""
    kinds = [kind for kind in sorted(sizes, key=lambda kind: -sizes[kind]) if kind not in _FIRM]
    if "confidence" not in map(_family, kinds):
        kinds.append(_spread_kind(frame))
    if "correlation" not in kinds and frame.reference.shape[1] > 1:
        kinds.append("correlation")
    return kinds if "bias" in kinds else ["bias", *kinds]
