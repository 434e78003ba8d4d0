"""The row that is farthest from its own prediction."""

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from .._lib.arrays import Array, array_namespace, like, to_numpy
from ..pairwise import Extreme
from ..predictions import Gaussian
from ..resampling.laws import Law, at_least_one, log_tail
from ..results import CalibrationResult
from .frame import ViewFrame

PartOf = Callable[[slice], tuple[ViewFrame, slice]]
_LOG_10 = math.log(10.0)


@dataclass(frozen=True)
class Largest:
    """The largest squared length of a whitened target; for `target_kernel`.

    For Gaussian predictions the statistic is minus the log10 of its p-value, from a formula: too large, by outliers, or
    too small, by targets that were cut off. For others it is the logarithm of the length.

    Parameters
    ----------
    nearest : bool
        Of a `GaussianMixture`, take the length from the nearest component, in units of its own. It is at most that from
        the component whose draw a target is, so that the formula for Gaussians gives a p-value that is no smaller than
        the right one.
    """

    nearest: bool = False

    def extreme(self, frame: ViewFrame, part_of: PartOf | None = None) -> Extreme:
        """Return the statistic of the targets of the frame; `part_of` gives one of some rows, and their places."""
        parts: PartOf = part_of or (lambda rows: (frame, rows))
        evidence = evidence_in(frame)
        if self.nearest:
            evidence = replace(evidence, gaussian=True, independent=False)
        known = self.nearest or type(frame.predictions) is Gaussian
        return Extreme(
            partial(_nearest if self.nearest else _squared, parts),
            partial(_on_device, evidence),
            EvidenceLaw() if known else None,
        )

    def of_stack(self, frame: ViewFrame) -> Array:
        """Return the statistics (size,) of drawn targets (size, n, d)."""
        targets = frame.whitened[0]
        xp = array_namespace(targets)
        kept = 1.0 if frame.kept is None else frame.kept[:, 0]
        largest = xp.max(xp.sum(targets**2, axis=2) * kept, axis=1)
        return _on_device(evidence_in(frame), largest)


@dataclass(frozen=True)
class EvidenceLaw:
    """The law of minus the log10 of a p-value."""

    def log_pvalues(self, values: np.ndarray) -> np.ndarray:
        return np.asarray(-_LOG_10 * values)

    def draws(self, n: int, rng: np.random.Generator) -> np.ndarray:
        """Return n draws of the statistic."""
        return np.asarray(rng.exponential(1.0 / _LOG_10, n))


@dataclass(frozen=True)
class Evidence:
    """The statistic as a function of the largest of n squared lengths in d dimensions."""

    n: int
    d: int
    gaussian: bool
    independent: bool  # rows; otherwise the largest may be small by chance

    def __call__(self, largest: np.ndarray) -> np.ndarray:
        from scipy.special import gammainc

        if not self.gaussian:
            return np.asarray(np.log(np.maximum(largest, np.finfo(np.float64).smallest_normal)))
        above = at_least_one(log_tail(largest, self.d), self.n)
        if not self.independent:
            return np.asarray(-above / _LOG_10)
        share = gammainc(0.5 * self.d, 0.5 * largest)  # of lengths that are smaller, also if it is next to nothing
        below = self.n * np.log(np.maximum(share, np.finfo(np.float64).smallest_normal))
        return np.asarray(-np.minimum(0.0, math.log(2.0) + np.minimum(above, below)) / _LOG_10)


def by_law(
    result: CalibrationResult, law: Law | None, rng: np.random.Generator
) -> tuple[CalibrationResult, Law | None]:
    """Return the result with draws from its law in place of signs, which do not change the largest of anything."""
    if not isinstance(law, EvidenceLaw):
        return result, law
    return replace(result, null_distribution=law.draws(len(result.null_distribution), rng)), law


def evidence_in(frame: ViewFrame) -> Evidence:
    """Return the statistic for the predictions of a frame."""
    n, d = frame.reference.shape
    independent = frame.clusters is None or frame.clusters.n_clusters == n
    return Evidence(n, d, type(frame.predictions) is Gaussian, independent)


def _squared(part_of: PartOf, some: slice) -> Array:
    frame, rows = part_of(some)
    targets = frame.whitened[0][0, rows, :]
    kept = 1.0 if frame.kept is None else frame.kept[rows, 0]
    return array_namespace(targets).sum(targets**2, axis=1) * kept


def _nearest(part_of: PartOf, some: slice) -> Array:
    frame, rows = part_of(some)
    mixture: Any = frame.predictions
    xp = array_namespace(frame.targets)
    z = (frame.targets[0, rows, None, :] - mixture.means[rows, ...]) / mixture.scales[rows, ...]
    squared = xp.where(mixture.weights[rows, :] > 0, xp.sum(z**2, axis=2), xp.inf)
    return xp.min(squared, axis=1)


def _on_device(evidence: Any, largest: Array) -> Array:
    return like(evidence(to_numpy(largest)), largest)
