"""From what the views saw to words."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from .._arrays import Array, array_namespace, to_numpy
from ..results import ViewResult
from .space import Space
from .view import View

__all__ = ["message_of", "seen_by"]

_LEVEL = 0.05
_SHARE = 0.7  # of a departure's size, in standard errors, that second moments must show for it to be one of spread
_NOTABLE = 3.0  # standard errors

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


def seen_by(results: Sequence[ViewResult], views: Sequence[View], space: Space) -> tuple[str, ...]:
    """Kinds of miscalibration with evidence at the 5 % level, the clearest first."""
    clear = [(r, view) for r, view in zip(results, views, strict=True) if r.adjusted_pvalue <= _LEVEL]
    spread = {where: _spread_in_errors(space, where) for where in {view.coordinates for _, view in clear}}
    sizes: dict[str, float] = {}
    for result, view in clear:
        size = _size(result)
        kind = _kind(view.sees, size, spread[view.coordinates])
        sizes[kind] = max(size, sizes.get(kind, 0.0))
    if len(sizes) > 1:
        sizes.pop("any", None)
    alone = [size for where in spread for size in spread[where].alone]
    # Spreads that are right in every dimension, and wrong in all together: that is what a wrong correlation looks like.
    if "correlation" in sizes and max(map(abs, alone), default=0.0) < _NOTABLE:
        sizes = _without_spread(sizes)
    # Noise does not hide a bias or a wrong spread: where these show as well without it, modes are not at fault.
    if sizes.get("modes", np.inf) < max(sizes.values()):
        del sizes["modes"]
    # A bias takes targets away from their centres, together: it may explain all that spreads too much.
    explained = max(abs(found.unbiased) for found in spread.values()) < _NOTABLE
    if explained and sizes.get("bias", 0.0) > _SHARE * max(sizes.values()):
        sizes = {**_without_spread(sizes), "bias": np.inf}
        sizes.pop("correlation", None)
    return tuple(sorted(sizes, key=lambda kind: -sizes[kind]))


def message_of(pvalue: float, n: int, seen: tuple[str, ...]) -> str:
    """One or two sentences."""
    if not seen:
        return f"Calibration is not rejected (p = {pvalue:.3g}, n = {n})."
    also = f" Also seen: {', '.join(seen[1:])}." if len(seen) > 1 else ""
    return f"Calibration is rejected (p = {pvalue:.3g}, n = {n}): {_WORDS[seen[0]]}.{also}"


@dataclass(frozen=True)
class _Spread:
    """E[s.z] + d in standard errors; below 0, targets spread too much."""

    overall: float
    unbiased: float  # the same about their means, and less what a shift of all targets would explain
    alone: list[float]  # each dimension


def _kind(sees: str, size: float, spread: _Spread) -> str:
    """What the view is for; but spread and shape are told apart by second moments, which see spread alone."""
    if sees not in ("confidence", "shape"):
        return sees
    clearest = max([spread.overall, *spread.alone], key=abs)
    if abs(clearest) < _SHARE * size:
        return "shape"
    return "over-confidence" if clearest < 0 else "under-confidence"


def _without_spread(sizes: dict[str, float]) -> dict[str, float]:
    return {kind: size for kind, size in sizes.items() if not kind.endswith("confidence")}


def _spread_in_errors(space: Space, coordinates: str) -> _Spread:
    """Of all dimensions together in coordinates that are whitened, or a component's, or natural; and of each alone."""
    targets, scores, shares = space.at("whitened" if coordinates == "marginal" else coordinates)
    xp = array_namespace(targets)
    traces, off = _trace(targets, scores, shares), to_numpy(xp.sum(scores * shares, axis=0))
    z, s = (part - xp.mean(xp.sum(part * shares, axis=0), axis=0) for part in (targets, scores))
    centred = _trace(z, s, shares)
    shift, around = off.mean(axis=0), off - off.mean(axis=0)
    slopes = np.linalg.lstsq(around, centred, rcond=None)[0]
    leverage = len(off) * float(shift @ np.linalg.lstsq(around.T @ around, shift, rcond=None)[0])
    unbiased = _in_errors(centred - off @ slopes) / np.sqrt(1.0 + leverage)
    alone = []
    if coordinates in ("whitened", "marginal"):
        targets, scores, shares = space.at("marginal")
        for a in range(targets.shape[2]):
            alone.append(_in_errors(_trace(targets[:, :, a : a + 1], scores[:, :, a : a + 1], shares)))
    return _Spread(_in_errors(traces), unbiased, alone)


def _in_errors(values: np.ndarray) -> float:
    return float(np.mean(values) / (np.std(values) / np.sqrt(len(values)) + 1e-300))


def _trace(targets: Array, scores: Array, shares: Array) -> np.ndarray:
    xp = array_namespace(targets)
    return np.asarray(to_numpy(xp.sum(xp.sum(targets * scores + 1.0, axis=2, keepdims=True) * shares, axis=(0, 2))))


def _size(result: ViewResult) -> float:
    """How many standard errors a single number would be off with such a p-value, beyond the B draws by a gamma law."""
    from scipy.stats import norm, pearson3, skew

    null = result.null_distribution
    sd = float(np.std(null))
    if sd == 0.0:
        return 0.0
    log_tail = pearson3.logsf((result.statistic - np.mean(null)) / sd, max(float(skew(null)), 1e-3))
    return float(-norm.ppf(np.exp(max(log_tail, -600.0)) / 2.0))
