"""Regions of many dimensions, by what all have in common, and sentences on several dimensions at once."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from .._lib.arrays import ignore_overflow
from .sizes import Estimate

if TYPE_CHECKING:
    from .residuals import Residuals

_N_RUNS = 16  # of neighbouring dimensions, whose errors are added up
MOST_SHOWN = 20  # dimensions in a table, and pieces of a list of them in a sentence


@ignore_overflow
def features_of_many(residuals: Residuals) -> np.ndarray:
    """Features (n, q) of bias and spread, over runs of neighbouring dimensions and over all; of mean zero."""
    e, d = residuals.marginal, residuals.marginal.shape[1]
    squares = e**2 - residuals.expected
    starts = np.linspace(0, d, _N_RUNS, endpoint=False).astype(int)
    runs = [np.add.reduceat(part, starts, axis=1) for part in (e, squares)]
    return np.concatenate([*runs, *(np.sum(part, axis=1, keepdims=True) for part in (e, squares))], axis=1)


def means_of_many(residuals: Residuals) -> Mapping[str, np.ndarray]:
    """Return the predicted location and the claimed spread, each averaged over dimensions, by name."""
    spread = np.exp(np.mean(np.log(residuals.sd), axis=1))
    return {"mean predicted y": np.mean(residuals.location, axis=1), "mean claimed spread": spread}


def sentences_of_many(
    names: Sequence[str],
    bias: Sequence[Estimate],
    ratios: Sequence[Estimate],
    phrases: Sequence[Callable[[Estimate], str]],
) -> list[str]:
    """Return a sentence for the dimensions that are wrong in one way: which, and the clearest of them with its size."""
    found = []
    for estimates, right, kinds, phrase in (
        (bias, 0.0, ("too low", "too high"), phrases[0]),
        (ratios, 1.0, ("under-confident", "over-confident"), phrases[1]),
    ):
        for kind, above in zip(kinds, (False, True), strict=True):
            chosen = [k for k, each in enumerate(estimates) if not each.holds(right) and (each.value > right) == above]
            if chosen:
                clearest = max(chosen, key=lambda k: distance(estimates[k], right))
                count = "one dimension" if len(chosen) == 1 else f"{len(chosen)} of {len(names)} dimensions"
                where = f", {in_runs(names, chosen)}" if len(chosen) > 1 else ""
                clearest_in = "clearest in " if len(chosen) > 1 else ""
                found.append(
                    f"Predictions are {kind} in {count}{where}; {clearest_in}{names[clearest]}: "
                    f"{phrase(estimates[clearest])}."
                )
    return found


def in_runs(names: Sequence[str], chosen: Sequence[int]) -> str:
    """Return the names of chosen dimensions in words, neighbours together, the first pieces of a long list."""
    edges = np.flatnonzero(np.diff(chosen) > 1) + 1
    runs = np.split(np.asarray(chosen), edges)
    pieces = [names[run[0]] + (f" to {names[run[-1]]}" if len(run) > 1 else "") for run in runs]
    more = len(pieces) - MOST_SHOWN
    return ", ".join(pieces[:MOST_SHOWN]) + (f" and others ({more} more)" if more > 0 else "")


def clearest_dimensions(bias: Sequence[Estimate], ratios: Sequence[Estimate]) -> list[int]:
    """Return the dimensions to be shown in a table: those whose intervals are farthest from what is right, in order."""
    far = [-max(distance(off, 0.0), distance(ratio, 1.0)) for off, ratio in zip(bias, ratios, strict=True)]
    return sorted(np.argsort(far, kind="stable")[:MOST_SHOWN].tolist())


def distance(estimate: Estimate, right: float) -> float:
    """How far an estimate is from what is right, in widths of its interval; 0 where it cannot be estimated."""
    if not np.isfinite(estimate.value):
        return 0.0
    return abs(estimate.value - right) / max(estimate.high - estimate.low, float(np.finfo(float).tiny))
