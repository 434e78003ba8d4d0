"""From what the views saw to words."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from .._arrays import Array, to_numpy
from ..kernels import Trace
from ..results import ViewResult
from .space import Space

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


def seen_by(views: Sequence[ViewResult], space: Space) -> tuple[str, ...]:
    """Kinds of miscalibration with evidence at the 5 % level, the clearest first."""
    overall, *alone = _spread_in_errors(space)
    sizes: dict[str, float] = {}
    for view in views:
        if view.adjusted_pvalue <= _LEVEL:
            size = _size(view)
            kind = _kind(view.sees, size, overall, alone)
            sizes[kind] = max(size, sizes.get(kind, 0.0))
    if len(sizes) > 1:
        sizes.pop("any", None)
    # Spreads that are right in every dimension, and wrong in all together: that is what a wrong correlation looks like.
    if "correlation" in sizes and max(map(abs, alone)) < _NOTABLE:
        sizes = {kind: size for kind, size in sizes.items() if not kind.endswith("confidence")}
    # Noise does not hide a bias or a wrong spread: where these show as well without it, modes are not at fault.
    if sizes.get("modes", np.inf) < max(sizes.values()):
        del sizes["modes"]
    return tuple(sorted(sizes, key=lambda kind: -sizes[kind]))


def message_of(pvalue: float, n: int, seen: tuple[str, ...]) -> str:
    """One or two sentences."""
    if not seen:
        return f"Calibration is not rejected (p = {pvalue:.3g}, n = {n})."
    also = f" Also seen: {', '.join(seen[1:])}." if len(seen) > 1 else ""
    return f"Calibration is rejected (p = {pvalue:.3g}, n = {n}): {_WORDS[seen[0]]}.{also}"


def _kind(sees: str, size: float, overall: float, alone: list[float]) -> str:
    """What the view is for; but spread and shape are told apart by second moments, which see spread alone."""
    if sees not in ("confidence", "shape"):
        return sees
    clearest = max([overall, *alone], key=abs)
    if abs(clearest) < _SHARE * size:
        return "shape"
    return "over-confidence" if clearest < 0 else "under-confidence"


def _spread_in_errors(space: Space) -> list[float]:
    """E[s.z] + d, and then of every dimension alone, in standard errors; below 0, targets spread too much."""
    found = [_mean_over_draws(*space.whitened, slice(None))]
    found += [_mean_over_draws(*space.marginal, slice(a, a + 1)) for a in range(space.targets.shape[2])]
    return [float(np.mean(f) / (np.std(f) / np.sqrt(len(f)) + 1e-300)) for f in found]


def _mean_over_draws(targets: Array, scores: Array, part: slice) -> np.ndarray:
    drawn = [Trace().features(targets[k, :, part], scores[k, :, part]) for k in range(targets.shape[0])]
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
