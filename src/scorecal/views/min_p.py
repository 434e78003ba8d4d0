"""One p-value from several statistics that share their bootstrap signs."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

__all__ = ["Combined", "combine"]

_ROUNDING = 1e-10  # relative to the largest draw: statistics closer than this are taken for equal
_TIE = 1e-9  # less than any two different smallest p-values are apart


@dataclass(frozen=True, eq=False)
class Combined:
    """`statistic` and `null` are minus the log10 of the smallest p-value, in units of its weight."""

    statistic: float
    null: np.ndarray  # (B,)
    pvalue: float
    own: np.ndarray  # (V,): p-value of each view alone
    adjusted: np.ndarray  # (V,): and for having looked at all of them


def combine(statistics: np.ndarray, null: np.ndarray, weights: np.ndarray, precision: float = 0.0) -> Combined:
    """Min-p over views: statistics (V,), their null draws (V, B), weights (V,).

    The observed statistics are one of B + 1 replicates, alike if the null hypothesis holds, each of which gets rank
    p-values among all of them, view by view. Replicates are put in order by their smallest p-value, over its weight;
    those with the same, by how far beyond the other replicates the statistic lies in that view. A rule that treats all
    replicates alike is valid whatever it is; if ties counted against the observed one, p could not fall below
    V / (B + 1), as each view has a replicate of its own that comes first.
    """
    replicates = np.concatenate([statistics[:, None], null], axis=1)
    grain = max(_ROUNDING, 64 * precision) * np.max(np.abs(replicates), axis=1, keepdims=True)
    rounded = np.round(replicates / np.where(grain > 0, grain, 1.0))
    ranks = np.stack([_share_at_least(row) for row in rounded])
    weighted = ranks / weights[:, None]
    smallest = np.min(weighted, axis=0)
    middle, high = np.quantile(rounded, [0.5, 0.9], axis=1, keepdims=True)
    beyond = (rounded - middle) / np.where(high > middle, high - middle, 1.0)
    beyond = np.max(np.where(weighted == smallest, beyond, -np.inf), axis=0)
    up_to = _share_at_least(-_places(smallest, -beyond))
    statistic = -np.log10(smallest) + _TIE * (1.0 - up_to)
    adjusted = np.array([np.mean(smallest <= own) for own in weighted[:, 0]])
    return Combined(float(statistic[0]), statistic[1:], float(up_to[0]), ranks[:, 0], adjusted)


def _places(first: np.ndarray, second: np.ndarray) -> np.ndarray:
    """Places in the order of `first`, ties by `second`; equal places where both are equal."""
    return np.unique(np.stack([first, second], axis=1), axis=0, return_inverse=True)[1].reshape(-1)


def _share_at_least(values: np.ndarray) -> np.ndarray:
    """For each value, the share of values at least as large."""
    return (len(values) - np.searchsorted(np.sort(values), values, side="left")) / len(values)
