"""Correlation between blocks of rows that follow each other: where errors go together for longer than was said."""

import numpy as np

from ..resampling.clusters import Clusters
from .rows import Rows, normal_scores

_LEAST_BLOCKS = 20
_CLEAR = 3.7  # standard errors: one in 10,000
_NOTABLE = 0.25  # of forecasts that overlap as was said, sums over blocks have correlations below .1
_UNLIKELY, _NOTABLE_OF_ROWS, _FAR = 1e-4, 0.1, 4  # of rows one to two horizons apart, and of rows so many apart


def correlated_blocks(rows: Rows, clusters: Clusters) -> str | None:
    """Say that errors go together for longer than was said, if clusters are blocks of rows in time order."""
    if rows.residuals is None or not clusters.ordered or clusters.n_clusters < _LEAST_BLOCKS:
        return None
    return _of_sums(rows.residuals, clusters) or _of_rows(rows.residuals, clusters)


def _of_sums(residuals: np.ndarray, clusters: Clusters) -> str | None:
    """Say that the sums over blocks are correlated."""
    sums = _sums(normal_scores(residuals), clusters.labels)
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


def _of_rows(residuals: np.ndarray, clusters: Clusters) -> str | None:
    """Say that rows one to two horizons apart are correlated, if it is clear.

    Rows farther apart take away what a drift, or a bias in some part of the file, does to all of them. The sums over
    blocks are the units, of which neighbours are hardly correlated.
    """
    from scipy.special import ndtri

    n, h = len(residuals), clusters.horizon
    order = np.arange(n) if clusters.series is None else np.argsort(clusters.series, kind="stable")
    series = np.zeros(n, dtype=int) if clusters.series is None else clusters.series[order]
    values, labels = normal_scores(residuals)[order], clusters.labels[order]
    values = values[:, np.ptp(values, axis=0) > 0]
    if not values.size or n <= (_FAR + 1) * h:
        return None
    values = (values - np.mean(values, axis=0)) / np.std(values, axis=0)

    def products(lag: int) -> np.ndarray:
        same = series[lag:] == series[:-lag]
        found = np.mean(values[lag:] * values[:-lag], axis=1) * same * (n / max(int(np.sum(same)), 1))
        return np.bincount(labels[lag:], found, clusters.n_clusters)

    far = np.mean([products(lag) for lag in range(_FAR * h, (_FAR + 1) * h)], axis=0)
    gaps = np.stack([products(lag) - far for lag in range(h, 2 * h)])
    z = np.sum(gaps, axis=1) / np.sqrt(np.maximum(np.sum(gaps**2, axis=1), np.finfo(float).tiny))
    lag = int(np.argmax(z))
    correlation = float(np.sum(gaps[lag])) / n
    if z[lag] < -ndtri(_UNLIKELY / h) or correlation < _NOTABLE_OF_ROWS:
        return None
    return (
        f"Rows {h + lag} apart are correlated ({correlation:.2f}), which errors of forecasts {h} rows ahead are not: "
        "let `horizon` be about as many rows as errors go together; if the rows are several time series, such as "
        "stations, give `groups=` as well."
    )


def _sums(values: np.ndarray, labels: np.ndarray) -> np.ndarray:
    """Sums of values (n, d) over the rows of each cluster, with mean 0 and mean square 1."""
    sums = np.stack([np.bincount(labels, column) for column in values.T], axis=1)
    sums -= np.mean(sums, axis=0)
    size = np.sqrt(np.mean(sums**2, axis=0))
    return np.asarray(sums / np.where(size > 0, size, 1.0))
