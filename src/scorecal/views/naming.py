"""Words for what the views found."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..predictions import Gaussian, Noised
from ..statistics.test_functions import Constant
from .combine import Draws, verdict
from .extremes import Largest
from .frame import ViewFrame
from .judge import Judged
from .many_dimensions import unseen_in_many_dimensions
from .row_kernels import Covariate
from .view import Shares, View

_ALSO = 0.7  # of the clearest evidence: what is hardly less clear is named too

_WORDS = {
    "bias": "the predictions are biased: targets lie off their centres",
    "over-confidence": "the predictions are over-confident: targets spread more than they claim",
    "under-confidence": "the predictions are under-confident: targets spread less than they claim",
    "correlation": "the predictions have the wrong correlation between dimensions",
    "dependence": "the predictions have {dependence} the prediction, on its location or its spread",
    "shape": "the predictions have the wrong shape: skewness or tails",
    "outliers": "a few targets are outliers: they lie farther off than the predictions allow",
    "modes": "the predictions give their modes the wrong weights",
    "covariates": "miscalibration depends on {covariates}",
    "serial": "{serial}",
    "any": "none of the views names the kind",
}

_SHORT = {
    "correlation": "wrong correlation",
    "dependence": "{dependence} the prediction",
    "shape": "wrong shape",
    "modes": "wrong weights of modes",
    "covariates": "dependence on {covariates}",
    "serial": "{serial}",
}


def message_of(judged: Judged, n: int, seen: tuple[str, ...], level: float) -> str:
    """The outcome of the test in one or two sentences."""
    outcome = verdict(judged.combined.pvalue, n, level)
    if not seen:
        return f"{outcome}."
    names = {
        "covariates": _covariates_in(judged, level),
        "dependence": _dependence_in(judged, level),
        "serial": _serial_in(judged, level),
    }
    also = ", ".join(_SHORT.get(kind, kind).format(**names) for kind in seen[1:])
    first = _WORDS[seen[0]].format(**names)
    return f"{outcome}: {first}.{f' Also seen: {also}.' if also else ''}"


def _covariates_in(judged: Judged, level: float) -> str:
    """Names of the covariates of the views with evidence, the clearest first."""
    both = sorted(zip(judged.views, judged.used, strict=True), key=lambda each: each[0].adjusted_pvalue)
    kernels = [view.distribution_kernel for found, view in both if found.adjusted_pvalue <= level]
    names = dict.fromkeys(kernel.name for kernel in kernels if isinstance(kernel, Covariate))
    return " and ".join(names) or "a covariate"  # by a kernel of one's own


def _dependence_in(judged: Judged, level: float) -> str:
    """A bias that depends on the prediction, a wrong spread, or both if one is hardly less clear, in words."""
    named = _of_location_and_spread(judged, "dependence", level, ("a bias", "a wrong spread"))
    return f"{' and '.join(named)} that {'depend' if len(named) > 1 else 'depends'} on"


def _serial_in(judged: Judged, level: float) -> str:
    """How errors follow those of the rows before, in words."""
    ways = _of_location_and_spread(judged, "serial", level, ("in their sign", "in their size"))
    return f"errors follow those of the rows before {' and '.join(ways)}"


def _of_location_and_spread(judged: Judged, sees: str, level: float, words: tuple[str, str]) -> list[str]:
    """The words for what clear views of a kind see: in the location, in the spread, or both if hardly less clear."""
    sizes = dict.fromkeys(words, 0.0)
    for view, found, size in zip(judged.used, judged.views, judged.combined.sizes, strict=True):
        if view.sees == sees and found.adjusted_pvalue <= level:
            word = words[0] if isinstance(view.target_kernel, Constant) else words[1]
            sizes[word] = max(sizes[word], float(size))
    return [word for word, size in sizes.items() if size >= _ALSO * max(sizes.values())]


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
        but = " but outliers" if any(isinstance(view.target_kernel, Largest) for view in used) else ""
        spots.append(
            f"anything{but} at the 5 % level, other than by chance: {n} rows have only {2 ** (n - 1)} different "
            f"patterns of signs, so that even the clearest miscalibration has p-values near {by_signs:.2g}{raised}."
        )
    n_left_out = int(np.sum(frame.whitening.unfitted)) if any(v.coordinates != "natural" for v in used) else 0
    if n_left_out:
        spots.append(f"{n_left_out} of {n} predictions, to whose scores no spread could be fitted.")
    if not any(isinstance(view.target_kernel, Largest) for view in used):
        spots.append("a few outliers among many rows: no view looks at the largest error.")
    noisy = isinstance(predictions, Noised) or any(view.noise for view in used)
    spots += unseen_in_many_dimensions(used, frame)
    noisy |= any(isinstance(view.target_kernel, Shares) for view in used)
    if not isinstance(predictions, Gaussian) and not noisy:
        spots.append("the weights of modes that are far apart, should predictions have several.")
    if not any(view.sees == "dependence" for view in used):
        spots.append(
            "miscalibration that depends on the prediction: predictions do not differ, or no view looks for it."
        )
    spots += [
        f"what depends on {name!r}: it is the same in all rows, or each of its labels is that of few rows."
        for name, functions in frame.covariates.items()
        if not functions.shape[1]
    ]
    return tuple(spots)
