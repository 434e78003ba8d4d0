"""Accuracy and shares of classes by covariates: for every level, and in the region that differs most from the rest."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from .._lib.cached import cached_property
from ..resampling.signs import Signs
from .class_result import ClassLevel, ClassRegion, ClassShare
from .levels import LEAST_ROWS, rows_of_levels
from .regions import Partition, adjusted_pvalues, count_of_parts, statistics_of_regions
from .shares import least_tail, share
from .simultaneous import tail_of
from .sizes import Estimate, Units

_MOST_CLASSES = 12  # whose shares are looked at in the search for regions; of more, confidence alone
_LEAST_PROBABILITY = 1e-3  # a few huge log-scores would hide all others
_UNTOLD = Estimate(math.nan, math.nan, math.nan)


@dataclass(frozen=True, eq=False)
class Hits:
    """Claims and observations of classes: probabilities (n, K), observed classes (n,), and independent units."""

    names: tuple[str, ...]
    p: np.ndarray
    observed: np.ndarray
    units: Units

    @property
    def told(self) -> range:
        """The classes whose shares are different sizes: of two, the second says all."""
        n_classes = self.p.shape[1]
        return range(1 if n_classes == 2 else 0, n_classes)

    @property
    def n_sizes(self) -> int:
        """Number of different sizes of some rows, accuracy and shares."""
        return 1 + len(self.told)

    @cached_property
    def confidence(self) -> np.ndarray:
        return np.asarray(np.max(self.p, axis=1))

    @cached_property
    def right(self) -> np.ndarray:
        """Whether the most probable class was observed, zeros and ones."""
        return np.asarray((np.argmax(self.p, axis=1) == self.observed) * 1.0)

    def level(self, covariate: str, name: str, rows: np.ndarray, tail: float) -> ClassLevel:
        """Return accuracy and shares in some rows, with intervals of level 1 - `tail`."""
        enough = self._are_enough(rows)
        accuracy = share(self.right, rows, self.units, tail) if enough else _UNTOLD
        classes = tuple(
            ClassShare(
                each,
                float(np.mean(self.p[rows, k])),
                share((self.observed == k) * 1.0, rows, self.units, tail) if enough else _UNTOLD,
            )
            for k, each in enumerate(self.names)
        )
        return ClassLevel(covariate, name, len(rows), float(np.mean(self.confidence[rows])), accuracy, classes)

    def least_tail(self, rows: np.ndarray) -> float:
        """Return the largest tail with which all intervals in some rows contain what is claimed there."""
        if not self._are_enough(rows):
            return 1.0
        tails = [least_tail(self.right, rows, float(np.mean(self.confidence[rows])))]
        for k in range(self.p.shape[1]):
            tails.append(least_tail((self.observed == k) * 1.0, rows, float(np.mean(self.p[rows, k]))))
        return min(tails)

    def _are_enough(self, rows: np.ndarray) -> bool:
        return len(rows) >= min(LEAST_ROWS, len(self.p))

    def features(self) -> np.ndarray:
        """Return features (n, q) of mean zero if calibrated: of the top label, the temperature and, if few, classes."""
        logs = np.log(np.maximum(self.p, _LEAST_PROBABILITY))
        score = logs[np.arange(len(logs)), self.observed] - np.sum(self.p * logs, axis=1)
        found = [self.right - self.confidence, score]
        if self.p.shape[1] <= _MOST_CLASSES:
            found += [(self.observed == k) - self.p[:, k] for k in self.told]
        return np.stack(found, axis=1)


def rows_by_level(covariates: Mapping[str, np.ndarray]) -> list[tuple[str, str, np.ndarray]]:
    """Return the covariate, the name and the rows of each level."""
    return [
        (covariate, *level) for covariate, values in covariates.items() for level in rows_of_levels(covariate, values)
    ]


def class_regions(
    hits: Hits,
    partitions: Sequence[Partition],
    signs: Signs,
    *,
    least_pvalue: float,
    alpha: float,
    tail: float | None,
    rejected: bool,
) -> tuple[ClassRegion, ...]:
    """The region of each covariate that differs most from the rest, the clearest first.

    Intervals of sizes have the `tail`, or hold together at level `alpha` if it is None.
    """
    if not partitions:
        return ()
    features, labels = hits.features(), hits.units.labels
    wrong = statistics_of_regions(features, partitions, signs, labels)
    differs = statistics_of_regions(features, partitions, signs, labels, against_the_rest=True)
    pvalues, contrast_pvalues = adjusted_pvalues(wrong), adjusted_pvalues(differs)
    chosen = [_clearest(*each) for each in zip(partitions, differs, wrong, strict=True)]
    inside = [partition.rows(k) for partition, k in zip(partitions, chosen, strict=True)]
    parts = [(np.flatnonzero(rows), np.flatnonzero(~rows)) for rows in inside]
    if tail is None:
        tail = tail_of(count_of_parts(partitions) * hits.n_sizes, alpha)
        if not rejected:
            tail = min(tail, 0.999 * min(hits.least_tail(rows) for both in parts for rows in both))
    found = []
    for i, (partition, k) in enumerate(zip(partitions, chosen, strict=True)):
        names = partition.names[k], "elsewhere"
        there, elsewhere = (
            hits.level(partition.covariate, name, rows, tail) for name, rows in zip(names, parts[i], strict=True)
        )
        region = ClassRegion(
            there, elsewhere, *(max(float(p[i][k]), least_pvalue) for p in (pvalues, contrast_pvalues))
        )
        found.append((-differs[i][k, 0], region))
    return tuple(region for _, region in sorted(found, key=lambda each: each[0]))


def _clearest(partition: Partition, differs: np.ndarray, wrong: np.ndarray) -> int:
    # A region and all that is outside differ from each other alike: the one that is more wrong is meant.
    alike = np.flatnonzero(differs[:, 0] >= np.max(differs[:, 0]) * (1.0 - 1e-9)).tolist()
    return int(max(alike, key=lambda k: wrong[k, 0] / np.sqrt(np.sum(partition.rows(k)))))
