"""The region of each covariate in which errors differ most from those elsewhere, with sizes there and elsewhere."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ..resampling.signs import Signs
from .estimates import Correlation, as_correlations, biases, correlations, marginal_ratios
from .regions import Partition, adjusted_pvalues, count_of_parts, features_of, statistics_of_regions
from .residuals import Residuals
from .result import Region
from .simultaneous import agreeing, tail_of
from .sizes import Estimate, Sizes, Units

Three = tuple[Sizes, Sizes, Sizes]


@dataclass(frozen=True, eq=False)
class Search:
    """Settings of the search for regions, and of the intervals of their sizes."""

    found: Residuals
    units: Units
    signs: Signs
    least_pvalue: float
    alpha: float  # for all regions together
    tail: float | None  # of each interval, if they need not hold together
    rejected: bool

    def sizes(self, rows: np.ndarray) -> Three:
        """Biases, ratios and correlations in some rows."""
        found, units = self.found, self.units
        return (
            biases(found.marginal, units, rows),
            marginal_ratios(found, units, rows),
            correlations(found, units, rows),
        )


def regions_of(search: Search, partitions: Sequence[Partition]) -> tuple[Region, ...]:
    """The region of each covariate that differs most from the rest, the clearest first."""
    if not partitions:
        return ()
    features, labels = features_of(search.found), search.units.labels
    wrong = statistics_of_regions(features, partitions, search.signs, labels)
    differs = statistics_of_regions(features, partitions, search.signs, labels, against_the_rest=True)
    pvalues, contrast_pvalues = adjusted_pvalues(wrong), adjusted_pvalues(differs)
    contrasts = [each[:, 0] for each in differs]
    chosen = [_clearest(*each, features) for each in zip(partitions, contrasts, strict=True)]
    rows = [partition.rows(k) for partition, k in zip(partitions, chosen, strict=True)]
    sizes = [(search.sizes(inside), search.sizes(~inside)) for inside in rows]
    tail, d = search.tail, search.found.marginal.shape[1]
    if tail is None:
        shown = [one for both in sizes for three in both for one in three]
        n_sizes = count_of_parts(partitions) * sum(len(one.values) for one in sizes[0][0])  # one of all could be shown
        tail = agreeing(tail_of(n_sizes, search.alpha), shown, search.rejected)
    regions = []
    for i, (partition, k) in enumerate(zip(partitions, chosen, strict=True)):
        there, rest = (_estimates(three, d, tail) for three in sizes[i])
        wrong_there, differs_there = (max(float(p[i][k]), search.least_pvalue) for p in (pvalues, contrast_pvalues))
        region = Region(
            partition.names[k], partition.covariate, int(np.sum(rows[i])), wrong_there, differs_there, *there, *rest
        )
        regions.append((-contrasts[i][k], region))
    return tuple(region for _, region in sorted(regions, key=lambda each: each[0]))


def _clearest(partition: Partition, contrasts: np.ndarray, features: np.ndarray) -> int:
    # A region and all that is outside differ from each other alike: the one that is more wrong is meant.
    alike = np.flatnonzero(contrasts >= np.max(contrasts) * (1.0 - 1e-9)).tolist()
    return int(max(alike, key=lambda j: _departure(features, partition.rows(j))))


def _departure(features: np.ndarray, rows: np.ndarray) -> float:
    """Absolute mean in a region of the feature whose means inside and outside differ most, in standard deviations."""
    inside, outside = np.mean(features[rows], axis=0), np.mean(features[~rows], axis=0)
    clearest = np.argmax(np.abs(inside - outside) / np.maximum(np.std(features, axis=0), np.finfo(float).tiny))
    return float(abs(inside[clearest]))


def _estimates(
    three: Three, d: int, tail: float
) -> tuple[tuple[Estimate, ...], tuple[Estimate, ...], tuple[Correlation, ...]]:
    off, ratio, pairs = three
    return off.estimates(tail), ratio.estimates(tail), as_correlations(pairs, d, tail)
