"""From what the views saw to words."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from .._arrays import to_numpy
from ..kernels import Trace
from ..results import ViewResult
from .space import Space

__all__ = ["message_of", "seen_by"]

_LEVEL = 0.05
_SHARE = 0.7  # of a departure's size, in standard errors, that second moments must show for it to be one of spread

_WORDS = {
    "bias": "the predictions are biased: targets lie off their centres",
    "over-confidence": "the predictions are over-confident: targets spread more than they claim",
    "under-confidence": "the predictions are under-confident: targets spread less than they claim",
    "correlation": "the predictions have the wrong correlation between dimensions",
    "dependence": "miscalibration depends on the prediction: on its location or its spread",
    "shape": "the predictions have the wrong shape: skewness or tails",
    "modes": "the predictions give their modes the wrong weights",
    "any": "none of the views names the kind",
}


def seen_by(views: Sequence[ViewResult], space: Space) -> tuple[str, ...]:
    """Kinds of miscalibration with evidence at the 5 % level, the clearest first."""
    clear = [view for view in views if view.adjusted_pvalue <= _LEVEL] or [min(views, key=lambda v: v.adjusted_pvalue)]
    found: dict[str, float] = {}
    for view in clear:
        size = _size(view)
        kind = _kind(view, size, space)
        found[kind] = max(size, found.get(kind, 0.0))
    named = {kind: size for kind, size in found.items() if kind != "any"} or found
    modes = named.pop("modes", 0.0)
    # Noise does not hide a bias or a wrong spread: where these show without it, the weights of modes are not at fault.
    if modes and max(named.values(), default=0.0) < modes:
        named["modes"] = modes
    return tuple(sorted(named, key=lambda kind: -named[kind]))


def message_of(pvalue: float, n: int, seen: tuple[str, ...]) -> str:
    """One or two sentences."""
    if not seen:
        return f"Calibration is not rejected (p = {pvalue:.3g}, n = {n})."
    also = f" Also seen: {', '.join(seen[1:])}." if len(seen) > 1 else ""
    return f"Calibration is rejected (p = {pvalue:.3g}, n = {n}): {_WORDS[seen[0]]}.{also}"


def _kind(view: ViewResult, size: float, space: Space) -> str:
    """What the view is for; but spread and shape are told apart by second moments, which see spread alone."""
    if view.sees not in ("confidence", "shape"):
        return view.sees
    excess = _trace_in_errors(space)
    if np.max(np.abs(excess)) < _SHARE * size:
        return "shape"
    return "over-confidence" if excess[np.argmax(np.abs(excess))] < 0 else "under-confidence"


def _trace_in_errors(space: Space) -> np.ndarray:
    """E[s.z] + d, and the same of every dimension alone, in standard errors; below 0, targets spread too much."""
    whitened = _mean_over_draws(*space.whitened, along=None)
    each = [_mean_over_draws(*space.marginal, along=a) for a in range(space.targets.shape[2])]
    values = np.stack([whitened, *each])
    in_errors: np.ndarray = values.mean(axis=1) / (values.std(axis=1) / np.sqrt(values.shape[1]) + 1e-300)
    return in_errors


def _mean_over_draws(targets: np.ndarray, scores: np.ndarray, along: int | None) -> np.ndarray:
    part = slice(None) if along is None else slice(along, along + 1)
    drawn = [Trace().features(y[:, part], s[:, part]) for y, s in zip(targets, scores, strict=True)]
    mean: np.ndarray = np.mean([to_numpy(one)[:, 0] for one in drawn], axis=0)
    return mean


def _size(view: ViewResult) -> float:
    """How many standard errors a single number would be off with such a p-value, beyond the B draws by a gamma law."""
    from scipy.stats import norm, pearson3, skew

    null = view.null_distribution
    sd = float(np.std(null))
    if sd == 0.0:
        return 0.0
    log_tail = pearson3.logsf((view.statistic - np.mean(null)) / sd, max(float(skew(null)), 1e-3))
    return float(-norm.ppf(np.exp(max(log_tail, -600.0)) / 2.0))
