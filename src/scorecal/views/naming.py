"""Words for what the views found."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..predictions import Gaussian, Noised
from ..results import ViewResult
from .combine import Draws
from .frame import ViewFrame
from .second_moments import Spread, spread_in
from .view import View

_LEVEL = 0.05
_SHARE = 0.7  # of a departure's size, in standard errors, that second moments must show for it to be one of spread
_NOTABLE, _CLEAR = 3.0, 4.0  # standard errors; the latter of the largest of many
_LIKELY = 2.0  # standard errors of a single number
_FAR = 2.0

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

_SHORT = {
    "correlation": "wrong correlation",
    "dependence": "dependence on the prediction",
    "shape": "wrong shape",
    "modes": "wrong weights of modes",
}


def seen_by(results: Sequence[ViewResult], views: Sequence[View], frame: ViewFrame) -> tuple[str, ...]:
    """Kinds of miscalibration with evidence at the 5 % level, the clearest first."""
    clear = [(r, view) for r, view in zip(results, views, strict=True) if r.adjusted_pvalue <= _LEVEL]
    if not clear:
        return ()
    spread = {where: spread_in(frame, where) for where in {view.coordinates for _, view in clear}}
    sizes: dict[str, float] = {}
    for result, view in clear:
        size = _size(result)
        kind = _kind(view.sees, size, spread[view.coordinates])
        sizes[kind] = max(size, sizes.get(kind, 0.0))
    if len(sizes) > 1:
        sizes.pop("any", None)
    if {"over-confidence", "under-confidence"} <= sizes.keys():
        del sizes[min(("over-confidence", "under-confidence"), key=sizes.__getitem__)]
    alone = [size for where in spread for size in spread[where].alone]
    dim = max((len(one.alone) for one in spread.values()), default=1)
    # Spreads that are right in every dimension, and wrong in all together: that is what a wrong correlation looks like.
    largest = max(map(abs, alone), default=0.0)
    if largest < _NOTABLE:
        of_spread = {kind: size for kind, size in sizes.items() if kind.endswith("confidence")}
        if of_spread and largest < _by_chance(dim) and any(_is_joint(one) for one in spread.values()):
            sizes["correlation"] = max(sizes.get("correlation", 0.0), *of_spread.values())
        if "correlation" in sizes:
            sizes = _without_spread(sizes)
    # Noise does not hide a bias or a wrong spread: where these show as well without it, modes are not at fault.
    if sizes.get("modes", np.inf) < max(sizes.values()):
        del sizes["modes"]
    if sizes.get("bias", 0.0) > _SHARE * max(sizes.values()):
        sizes = _beside_bias(sizes, list(spread.values()))
    return tuple(sorted(sizes, key=lambda kind: -sizes[kind]))


def _beside_bias(sizes: dict[str, float], spread: list[Spread]) -> dict[str, float]:
    """Sizes of other flaws beside a bias, which moves targets away from their centres and so looks like them."""
    found = {kind: size for kind, size in _without_spread(sizes).items() if kind not in ("correlation", "shape")}
    unbiased = max((one.unbiased for one in spread), key=abs)
    if abs(unbiased) > _NOTABLE:
        found["over-confidence" if unbiased < 0 else "under-confidence"] = abs(unbiased)
    crossed = max(one.crossed for one in spread)
    if "correlation" in sizes and crossed > _CLEAR:
        found["correlation"] = crossed
    return found


def message_of(pvalue: float, n: int, seen: tuple[str, ...]) -> str:
    """The outcome of the test in one or two sentences."""
    if not seen:
        return f"Calibration is not rejected (p = {pvalue:.3g}, n = {n})."
    also = f" Also seen: {', '.join(_SHORT.get(kind, kind) for kind in seen[1:])}." if len(seen) > 1 else ""
    return f"Calibration is rejected (p = {pvalue:.3g}, n = {n}): {_WORDS[seen[0]]}.{also}"


def _kind(sees: str, size: float, spread: Spread) -> str:
    """Kind of miscalibration that a view names; second moments, which see spread alone, tell spread from shape."""
    if sees not in ("confidence", "shape"):
        return sees
    clearest = max([spread.overall, *spread.alone], key=abs)
    too_far = spread.ratio > _FAR and clearest < -_NOTABLE  # then second moments are loud, and their errors as well
    if abs(clearest) < _SHARE * size and not too_far:
        return "shape"
    return "over-confidence" if clearest < 0 else "under-confidence"


def _by_chance(n: int) -> float:
    """How large the largest of n numbers in standard errors may be, at the 5 % level."""
    from scipy.special import ndtri

    return float(-ndtri(0.5 * _LEVEL / max(n, 1)))


def _is_joint(spread: Spread) -> bool:
    """Whether most of the departure is gone when each dimension is looked at in units of its own."""
    return abs(spread.joint) > _LIKELY and abs(1.0 - spread.marginal_ratio) < 0.5 * abs(1.0 - spread.ratio)


def _without_spread(sizes: dict[str, float]) -> dict[str, float]:
    return {kind: size for kind, size in sizes.items() if not kind.endswith("confidence")}


def _size(result: ViewResult) -> float:
    """Number of standard errors that correspond to the p-value; beyond the B draws, by a gamma distribution."""
    from scipy.stats import norm, pearson3, skew

    null = result.null_distribution
    sd = float(np.std(null))
    if not sd > 1e-100:  # the test functions do not reach the targets
        return 0.0
    log_tail = pearson3.logsf((result.statistic - np.mean(null)) / sd, max(float(skew(null)), 1e-3))
    return float(-norm.ppf(np.exp(max(log_tail, -600.0)) / 2.0))


def blind_spots(predictions: Any, used: Sequence[View], frame: ViewFrame, draws: Draws, null: str) -> tuple[str, ...]:
    """Sentences on what this test could not see with these predictions and views."""
    n, spots = int(frame.reference.shape[0]), []
    least, by_signs = 1.0 / (draws.n_resamples + 1.0), min(1.0, draws.raised * 2.0 ** (1 - n))
    if least > 0.05:
        spots.append(
            f"anything at the 5 % level: with n_resamples = {draws.n_resamples}, no p-value can be below {least:.2g}."
        )
    elif null == "signs" and by_signs > 0.05:  # signs and their opposites give the same statistic
        raised = f", raised by the factor {draws.raised:.3g}" if draws.raised > 1.0 else ""
        spots.append(
            f"anything at the 5 % level, other than by chance: {n} rows have only {2 ** (n - 1)} different patterns of "
            f"signs, so that even the clearest miscalibration has p-values near {by_signs:.2g}{raised}."
        )
    n_left_out = int(np.sum(frame.whitening.unfitted)) if any(v.coordinates != "natural" for v in used) else 0
    if n_left_out:
        spots.append(f"{n_left_out} of {n} predictions, to whose scores no spread could be fitted.")
    noisy = isinstance(predictions, Noised) or any(view.noise for view in used)
    if not isinstance(predictions, Gaussian) and not noisy:
        spots.append("the weights of modes that are far apart, should predictions have several.")
    if not any(view.sees == "dependence" for view in used):
        spots.append(
            "miscalibration that depends on the prediction: predictions do not differ, or no view looks for it."
        )
    return tuple(spots)
