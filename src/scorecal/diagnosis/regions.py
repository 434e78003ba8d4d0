"""Where predictions are wrong: regions of the predictions or of given covariates, with simultaneous p-values.

Candidates are fixed before looking at targets: of each number or time the rows above and below each of its quantiles
in steps of a twentieth; of each label its rows. In each region features of mean zero for calibrated predictions are
added up, in units of their root mean square and corrected for skewness, and the largest counts. The same random signs
for all of them tell how large the largest of all regions would be by chance (Westfall and Young).
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from .._lib.warn import warn_user
from ..resampling.clusters import Clusters
from ..resampling.features import hall_correction
from ..resampling.signs import Signs
from ..views.covariates import never_falls
from .cuts import cuts_of
from .many_dimensions import features_of_many
from .region_sums import BinSums, bin_sums
from .residuals import Residuals

_MOST_LABELS, _LEAST_SHARE, _LEAST_ROWS = 12, 0.1, 100
_MOST_DIMENSIONS_FOR_PAIRS = 5
_ROWS_AT_ONCE = 8192  # a multiple of 8, where the signs of a row start on a byte
_ROUNDING = 1e-6  # of statistics, in standard errors


@dataclass(frozen=True, eq=False)
class Partition:
    """Bins of rows by one covariate, and the regions made of them: their names, and their bins (regions, bins)."""

    covariate: str
    bins: np.ndarray  # (n,), the number of each row's bin
    names: list[str]
    regions: np.ndarray

    def rows(self, region: int) -> np.ndarray:
        """Which rows lie in the region, (n,)."""
        return np.asarray(self.regions[region, self.bins])


def partitions_of(
    covariates: Mapping[str, np.ndarray], n: int, *, warn: bool = True, clusters: Clusters | None = None
) -> list[Partition]:
    """Divide the rows by each covariate into regions large enough for a test; warn of covariates left out.

    Of ordered rows only labels and clocks divide: what is a high number for its time is known from later rows only.
    """
    found = []
    least = max(_LEAST_ROWS, _LEAST_SHARE * n)  # inside and outside, for sums to be near enough to normal
    for name, values in covariates.items():
        labels, bins = np.unique(values, return_inverse=True)
        if len(labels) > (1 if values.dtype.kind == "M" else 2) and values.dtype.kind in "fiuM":
            if clusters is not None and clusters.ordered and not never_falls(values, clusters.series):
                continue
            cuts, sides = cuts_of(values)
            bins = np.searchsorted(cuts, values, side="left")
            below = np.arange(len(cuts) + 1)[None, :] <= np.arange(len(cuts))[:, None]
            names = [f"{name} {side}" for side in sides]
            regions = np.concatenate([below, ~below])
        elif len(labels) == 1:
            if warn:
                warn_user(f"`covariates`: {name!r} has the same value in every row, and is left out.")
            continue
        elif len(labels) <= _MOST_LABELS:
            names, regions = [f"{name} = {label}" for label in labels], np.eye(len(labels), dtype=bool)
        else:
            warn_user(
                f"`covariates`: {name!r} has {len(labels)} different labels, such as {str(labels[-1])!r}, too many "
                f"to look for the region that differs most (at most {_MOST_LABELS}); each has its own sizes. If it "
                "should hold numbers or dates (as 2024-01-31), some are not."
            )
            continue
        sizes = regions @ np.bincount(bins, minlength=regions.shape[1])
        enough = np.flatnonzero((sizes >= least) & (sizes <= n - least))
        if len(enough):
            found.append(Partition(name, bins, [names[k] for k in enough], regions[enough]))
        elif warn and not (clusters is not None and clusters.ordered):  # whose times were not given as covariates
            warn_user(
                f"`covariates`: no region of {name!r} has {math.ceil(least)} or more of the {n} rows inside, and as "
                "many outside: the region that differs most is not looked for there."
            )
    return found


def features_of(residuals: Residuals) -> np.ndarray:
    """Features (n, q) of bias, spread and, in few dimensions, correlation; of mean zero if calibrated."""
    e, d = residuals.marginal, residuals.marginal.shape[1]
    if residuals.expected.ndim == 2:
        return features_of_many(residuals)
    squares = e[:, :, None] * e[:, None, :] - residuals.expected_marginal
    k, m = np.triu_indices(d, 1 if d <= _MOST_DIMENSIONS_FOR_PAIRS else d)
    trace = np.sum(residuals.whitened**2, axis=1) - np.einsum("nkk->n", residuals.expected)
    return np.concatenate([e, np.einsum("nkk->nk", squares), squares[:, k, m], trace[:, None]], axis=1)


def statistics_of_regions(
    features: np.ndarray,
    partitions: Sequence[Partition],
    signs: Signs,
    labels: np.ndarray | None = None,
    *,
    against_the_rest: bool = False,
) -> list[np.ndarray]:
    """Statistics (regions, 1 + B) of the regions of each partition: the observed one, then those with random signs.

    The null hypothesis is that predictions are calibrated in the region; or, against the rest, that they are wrong
    there as they are on average over all rows. With the `labels` (n,) of clusters there is one sign for each of these.
    """
    if against_the_rest:
        features = features - np.mean(features, axis=0)
    weights = []
    for partition in partitions:
        own = partition.regions.astype(float)
        if against_the_rest:
            own = own - own @ np.bincount(partition.bins, minlength=own.shape[1])[:, None] / len(features)
        weights.append(own)
    if labels is not None:
        parts = zip(partitions, weights, strict=True)
        return [_of_clusters(features, own[:, partition.bins], labels, signs) for partition, own in parts]
    sums = bin_sums(features, [partition.bins for partition in partitions], signs) if partitions else []
    return [_of_bins(each, own[:, : len(each.squares)]) for each, own in zip(sums, weights, strict=True)]


def adjusted_pvalues(statistics: Sequence[np.ndarray]) -> list[np.ndarray]:
    """P-values of the regions of each partition, adjusted for all regions of all partitions."""
    largest = np.max([np.max(each, axis=0) for each in statistics], axis=0)
    return [np.mean(largest >= each[:, :1] - _ROUNDING, axis=1) for each in statistics]


def count_of_parts(partitions: Sequence[Partition]) -> int:
    """Number of different sets of rows that are a region, or all that is outside one."""
    both = (np.concatenate([each.regions, ~each.regions]) for each in partitions)
    return sum(len(np.unique(parts, axis=0)) for parts in both)


def _of_bins(sums: BinSums, weights: np.ndarray) -> np.ndarray:
    """Statistics of features weighted by bins (regions, bins): observed, and with random signs, (regions, 1 + B)."""
    found = []
    for weight in weights:
        total, cube = np.tensordot(weight, sums.plain, 1), np.tensordot(weight**3, sums.cubes, 1)
        found.append(_largest(total, cube, weight**2 @ sums.squares))
    return np.stack(found)


def _of_clusters(features: np.ndarray, weights: np.ndarray, labels: np.ndarray, signs: Signs) -> np.ndarray:
    """Statistics as of bins, with the sums over the rows of each cluster as rows; weights are (regions, n)."""
    n_clusters = int(labels.max()) + 1
    placed, found = signs.on(features), []
    for weight in weights:
        sums = np.stack([np.bincount(labels, weight * column, n_clusters) for column in features.T], axis=1)
        total, cube = (np.zeros((sums.shape[1], 1 + signs.n_resamples)) for _ in range(2))
        for start in range(0, n_clusters, _ROWS_AT_ONCE):
            block = slice(start, min(start + _ROWS_AT_ONCE, n_clusters))
            flips = np.concatenate([np.ones((block.stop - start, 1)), placed(block)], axis=1)
            total += sums[block].T @ flips
            cube += (sums[block] ** 3).T @ flips
        found.append(_largest(total, cube, np.sum(sums**2, axis=0)))
    return np.stack(found)


def _largest(total: np.ndarray, cube: np.ndarray, square: np.ndarray) -> np.ndarray:
    """Largest of the sums (q, 1 + B) of several features, in units of their root mean squares, less their skewness."""
    square = np.maximum(square, np.finfo(float).tiny)[:, None]
    return np.asarray(np.max(np.abs(total + hall_correction(total, cube, square) * cube) / np.sqrt(square), axis=0))
