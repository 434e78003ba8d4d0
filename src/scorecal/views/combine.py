"""One p-value from several statistics that share their null draws."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ..resampling.laws import Law
from ..results import ViewResult

USUAL_LEVEL = 0.05
_ROUNDING = 1e-10  # relative to typical draws: statistics closer than this are taken for equal
_TAIL = 0.1
_LEAST_LOG = -1e5  # log p-values below are all alike
_MOST_BEYOND = ((0.1, 1.15), (0.01, 1.2))  # p-values, and by which factor a law may be wrong there, in the logarithm
_ENOUGH_FOR_HUNDREDTH = 400  # replicates
_N_PARTS = 10  # of the draws, whose p-values tell the Monte Carlo error


@dataclass(frozen=True)
class Draws:
    """Null draws, `parts` (B + 1) - 1 of them, and the B that a result keeps: every so many in order.

    A p-value that is a rank among all draws is `raised` by this factor, at most `parts`, and rounded up to a multiple
    of 1 / (B + 1); a statistic then has that p-value among the draws that are kept, which are the larger ones.
    """

    n_resamples: int  # B
    parts: int = 1
    raised: float = 1.0

    @property
    def n(self) -> int:
        """Number of draws that are made."""
        return self.parts * (self.n_resamples + 1) - 1

    @property
    def least_pvalue(self) -> float:
        """Smallest rank among the draws that are kept."""
        return 1.0 / (self.n_resamples + 1.0)

    def kept(self, draws: np.ndarray) -> np.ndarray:
        """Return B of the draws."""
        if self.parts == 1:
            return draws
        places = np.floor(np.arange(1, self.n_resamples + 1) * (self.parts / self.raised) + 1e-6).astype(int)
        return np.asarray(np.sort(draws)[::-1][places - 1])

    def pvalue(self, among_all: Any) -> Any:
        """Return p-values among the draws that are kept, from those among all."""
        n_values = self.n_resamples + 1
        return np.minimum(1.0, np.ceil(self.raised * np.asarray(among_all) * n_values - 1e-6) / n_values)


@dataclass(frozen=True, eq=False)
class Combined:
    """`statistic` and `null` are minus the log10 of the smallest p-value, over the weight of its view."""

    statistic: float
    null: np.ndarray  # (B,)
    pvalue: float
    own: np.ndarray  # (V,): p-value of each view alone, not raised
    adjusted: np.ndarray  # (V,): and for having looked at all of them
    sizes: np.ndarray  # (V,): number of standard errors that have the p-value of the view, also beyond the draws
    pvalue_error: float  # over other draws, for the same data


def verdict(pvalue: float, n: int, level: float) -> str:
    """Return whether calibration is rejected, with the p-value, and the level if it is not the usual one."""
    at = "" if level == USUAL_LEVEL else f" at level {level:g}"
    return f"Calibration is {'' if pvalue <= level else 'not '}rejected{at} (p = {pvalue:.3g}, n = {n})"


def combine(
    statistics: np.ndarray,
    null: np.ndarray,
    laws: Sequence[Law | None],
    weights: np.ndarray,
    draws: Draws,
    precision: float = 0.0,
    least_pvalue: float = 0.0,
    by_formula: np.ndarray | None = None,
) -> Combined:
    """Combine views by their smallest p-value: statistics (V,), their null draws (V, B), laws and weights (V,).

    The observed statistics are one of B + 1 replicates, alike if the null hypothesis holds, which get p-values view by
    view, by its law or, without one, by rank; and are put in order by their smallest one, over its weight. A rule that
    treats all replicates alike is valid whatever it is, even if a law is wrong. By ranks alone, V views would have V
    replicates that come first, and p could not fall below about V / (B + 1), nor tell a view that is far beyond all
    draws from one that is just beyond. P-values are held at `least_pvalue` or above, which too few clusters allow their
    signs, but not those of views `by_formula` (V,), which need no signs.
    """
    from scipy.special import ndtri_exp

    replicates = np.concatenate([statistics[:, None], null], axis=1)
    # By a quantile, which treats all alike and which one far beyond the others, as data may be, does not move.
    typical = np.quantile(np.abs(replicates), 1.0 - _TAIL, axis=1, keepdims=True)
    grain = max(_ROUNDING, 64 * precision) * typical
    grain = np.where(grain > 0, grain, 1.0)
    rounded = np.round(replicates / grain)
    known = np.array([law is not None for law in laws])
    pairs = zip(rounded * grain, laws, strict=True)
    by_law = np.stack([row if law is None else -law.log_pvalues(row) for row, law in pairs])
    values = np.where(known[:, None], by_law, rounded)
    smallest, adjusted, observed = _ranked(values, known, weights)
    pvalue, evidence = float(np.min(adjusted)), -smallest / math.log(10.0)
    some = range(1, _N_PARTS + 1) if null.shape[1] >= 10 * _N_PARTS else []
    parts = [np.concatenate([[0], np.arange(k, rounded.shape[1], _N_PARTS)]) for k in some]
    apart = [np.min(_ranked(values[:, part], known, weights)[1]) for part in parts]
    error = float(np.std(apart, ddof=1)) / _N_PARTS**0.5 if apart else 0.0
    # Parts that agree by chance, as where all p-values are the smallest, must not hide the error of counting.
    error = max(error, math.sqrt(pvalue * (1.0 - pvalue) / (1.0 + null.shape[1])))
    own = np.mean(rounded >= rounded[:, :1], axis=1)
    found = replace(draws, raised=1.0).pvalue(own), draws.pvalue(adjusted)
    held = np.full(len(weights), least_pvalue) if by_formula is None else np.where(by_formula, 0.0, least_pvalue)
    own, adjusted = (np.maximum(p, held) for p in found)
    kept = draws.kept(evidence[1:])
    sizes = -ndtri_exp(np.maximum(observed, _LEAST_LOG) - math.log(2.0))
    return Combined(float(evidence[0]), kept, float(np.min(adjusted)), own, adjusted, sizes, draws.raised * error)


def _fitted(evidence: np.ndarray) -> np.ndarray:
    """Log p-values (V, replicates) from minus those by laws, larger where more of a view's are small than should be.

    What a tenth, and a hundredth, of the replicates exceed is brought down to little more than its value for p-values
    of .1 and .01, and what lies between and beyond by straight lines. It is the same for all replicates, so that it
    changes nothing in the validity of the test, and a law that is wrong does not hide what others see.
    """
    most_beyond = _MOST_BEYOND if evidence.shape[1] >= _ENOUGH_FOR_HUNDREDTH else _MOST_BEYOND[:1]
    ends = np.quantile(evidence, [1.0 - share for share, _ in most_beyond], axis=1)[..., None]
    log_p, found, wanted = np.zeros_like(evidence), np.zeros_like(ends[0]), np.zeros_like(ends[0])
    slope = np.ones_like(found)
    for end, (share, most) in zip(ends, most_beyond, strict=True):
        goal = np.maximum(wanted, np.minimum(end, -most * math.log(share)))
        rise, run = goal - wanted, end - found
        slope = np.divide(rise, run, out=np.zeros_like(run), where=run > 0)
        log_p = np.where(evidence > found, -(wanted + slope * (np.minimum(evidence, end) - found)), log_p)
        found, wanted = end, goal
    return np.where(evidence > found, -(wanted + np.where(slope > 0, slope, 1.0) * (evidence - found)), log_p)


def _ranked(values: np.ndarray, known: np.ndarray, weights: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the smallest weighted log p-values of the replicates; adjusted and log p-values of the views.

    `values` (V, replicates) are minus the log p-values of views whose laws are `known`, and statistics of the others.
    """
    every = np.empty_like(values)
    if np.any(known):
        every[known] = _fitted(values[known])
    for k in np.flatnonzero(~known):
        every[k] = _log_pvalues(values[k])
    weighted = every - np.log(weights)[:, None]
    smallest = np.min(weighted, axis=0)
    return smallest, np.mean(smallest <= weighted[:, :1], axis=1), every[:, 0]


def _log_pvalues(values: np.ndarray) -> np.ndarray:
    """Log p-value of each value among all: by rank, with an exponential tail for the largest tenth.

    The rate of the tail is that of the median excess, but a third of that of larger ones at most: where values are
    nearly equal in groups, as with counts of a rare component, the median excess may be next to nothing.
    """
    n_larger = len(values) - np.searchsorted(np.sort(values), values, side="left")
    by_rank = np.log(n_larger / len(values))
    edge = np.quantile(values, 1.0 - _TAIL)
    beyond = values > edge
    excess = values[beyond] - edge if np.any(beyond) else np.zeros(1)
    unit = max(np.median(excess) / math.log(2.0), np.quantile(excess, 0.9) / (3.0 * math.log(10.0)))
    if unit <= 0:
        return np.asarray(by_rank)
    return np.where(beyond, math.log(_TAIL) - (values - edge) / unit, by_rank)


def shares_of(views: Sequence[ViewResult], statistic: float) -> np.ndarray:
    """Contributions to the view with the smallest adjusted p-value, in units that add up to the statistic."""
    contributions = min(views, key=lambda view: view.adjusted_pvalue).contributions
    total = float(np.sum(contributions))
    if total > 0:
        return np.asarray(contributions * (statistic / total))
    return np.full(len(contributions), statistic / len(contributions))
