"""Correlation between blocks of rows that follow each other: where errors go together for longer than was said."""

import numpy as np

from ..resampling.clusters import Clusters
from .rows import Rows, normal_scores

_LEAST_BLOCKS = 20
_CLEAR = 3.7  # standard errors: one in 10,000
_NOTABLE = 0.25  # of forecasts that overlap as was said, sums over blocks have correlations below .1


def correlated_blocks(rows: Rows, clusters: Clusters) -> str | None:
    """Say that errors of one block tell those of the next, if clusters are blocks of rows in time order."""
    if rows.residuals is None or not clusters.ordered or clusters.n_clusters < _LEAST_BLOCKS:
        return None
    sums = _sums(normal_scores(rows.residuals), clusters.labels)
    sums = sums[:, np.ptp(sums, axis=0) > 0]
    if not sums.size:
        return None
    series = np.zeros_like(clusters.labels) if clusters.series is None else clusters.series
    series_of_block = series[np.unique(clusters.labels, return_index=True)[1]]
    order = np.argsort(series_of_block, kind="stable")  # blocks are numbered in time order within their series
    sums, follows = sums[order], np.diff(series_of_block[order]) == 0
    together = np.sum(np.corrcoef(sums.T) ** 2)  # d for uncorrelated dimensions, d^2 for equal ones
    products = np.sum((sums[1:] * sums[:-1])[follows])
    n_pairs, d = max(int(np.sum(follows)), 1), sums.shape[1]
    correlation = float(products / (n_pairs * d))
    if correlation < max(_NOTABLE, _CLEAR * float(np.sqrt(together / n_pairs)) / d):
        return None
    return (
        f"Blocks of rows that follow each other are correlated ({correlation:.2f}): errors go together for longer than "
        "the given `horizon`. Let it be about as many rows as they do."
    )


def _sums(values: np.ndarray, labels: np.ndarray) -> np.ndarray:
    """Sums of values (n, d) over the rows of each cluster, with mean 0 and mean square 1."""
    sums = np.stack([np.bincount(labels, column) for column in values.T], axis=1)
    sums -= np.mean(sums, axis=0)
    size = np.sqrt(np.mean(sums**2, axis=0))
    return np.asarray(sums / np.where(size > 0, size, 1.0))
