"""Clusters of rows that depend on each other: groups, such as patients, and blocks of overlapping forecasts.

Rows of a cluster share a random sign. Their pairs are left out of statistics and null draws, like those of rows of two
blocks that overlap. Sums over the rows of a cluster are then independent, or nearly so for blocks, which is all that
signs need.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from array_api_compat import is_array_api_obj

from .._lib.arrays import to_numpy
from .._lib.checks import check_count

BLOCK_PER_HORIZON = 4  # rows of a block for each step ahead; with 5 the level is the same
FEWEST_CLUSTERS = 10  # with fewer, signs are too few to trust
_FEW_CLUSTERS = 20  # with fewer, they may reject up to 8 % at the 5 % level
_ENOUGH_BLOCKS, _PER_MISSING_BLOCK = 30, 0.03


@dataclass(frozen=True, eq=False)
class Clusters:
    """Rows that share a sign, numbered in the order in which clusters first appear.

    `labels` (n,) are the clusters of the rows, integers from 0. `ordered` says that rows are in time order, within each
    of the `series` (n,), integers from 0, or all in one series where these are None; and `horizon` how many rows ahead
    these are forecasts. `times` (n,), where it is more than one, are their places in time: rows of different blocks
    that overlap, and none of different series, have times less than `horizon` apart.
    """

    labels: np.ndarray
    n_clusters: int
    ordered: bool
    series: np.ndarray | None = None
    horizon: int = 1
    times: np.ndarray | None = None

    def within(self, rows: np.ndarray) -> "Clusters":
        """Return the clusters of some of the rows, without their times."""
        labels = _by_appearance(self.labels[rows])
        series = None if self.series is None else _by_appearance(self.series[rows])
        return Clusters(labels, int(labels.max()) + 1, self.ordered, series, self.horizon)

    @property
    def least_pvalue(self) -> float:
        """Smallest p-value that the clusters allow.

        Signs and their opposites give the same statistic, so one in 2^(G - 1) draws is a tie with the data. With fewer
        than ten clusters p-values are held at 1 / G, since signs are then too few to trust.
        """
        return 1.0 / self.n_clusters if self.n_clusters < FEWEST_CLUSTERS else 2.0 ** (1 - self.n_clusters)

    @property
    def raised(self) -> float:
        """Factor of p-values of few blocks, of which neighbours are still correlated where they meet.

        The more predictions wander, as forecasts of a random walk, the more a few of the blocks decide: of calibrated
        ones with 12 to 29 blocks, 7 to 8 % had p-values of .05 or less.
        """
        few = FEWEST_CLUSTERS <= self.n_clusters < min(_ENOUGH_BLOCKS, len(self.labels))
        return 1.0 + _PER_MISSING_BLOCK * (_ENOUGH_BLOCKS - self.n_clusters) if few and self.ordered else 1.0

    @property
    def warnings(self) -> tuple[str, ...]:
        """Sentences for the result of a test."""
        if self.n_clusters >= (_FEW_CLUSTERS if self.n_clusters < len(self.labels) else FEWEST_CLUSTERS):
            return ()
        kind = "blocks of rows" if self.ordered else "groups"
        if self.n_clusters >= FEWEST_CLUSTERS:
            return (
                f"{self.n_clusters} independent {kind} are few for random signs, whose p-values are then only roughly "
                f"right: use {_FEW_CLUSTERS} or more.",
            )
        return (
            f"There are only {self.n_clusters} independent {kind}, fewer than {FEWEST_CLUSTERS}: random signs cannot "
            f"reject at the 5 % level, and their p-values are held at 1 / {self.n_clusters} or above. More {kind} are "
            f"needed{'' if self.ordered else '; if each is a time series, give `horizon=` as well'}.",
        )


def clusters_of(groups: Any, horizon: Any, n: int) -> Clusters | None:
    """Return the clusters of n rows, from the arguments of these names that tests have; None where both are None."""
    check_count("horizon", horizon, optional=True)
    series = None if groups is None else _numbered(groups, n)
    if horizon is None:
        return None if series is None else Clusters(series, int(series.max()) + 1, ordered=False)
    if horizon == 1:  # errors of forecasts one step ahead do not overlap
        return Clusters(np.arange(n), n, ordered=True, series=series)
    length = BLOCK_PER_HORIZON * int(horizon)
    if series is None and n < 2 * length:
        raise ValueError(
            f"`horizon` must leave at least two blocks of {BLOCK_PER_HORIZON} times its length, but {horizon} makes "
            f"blocks of {length} rows, and `y` has {n}. Likely causes: too few rows, or a horizon in other units than "
            "rows."
        )
    one = np.zeros(n, dtype=np.int64) if series is None else series
    place, sizes = _places(one), np.bincount(one)
    labels = _blocks(one, place, sizes, min(length, n))
    gap = min(int(horizon), int(sizes.max()))
    times = place + (np.cumsum(sizes + gap) - sizes)[one]
    return Clusters(labels, int(labels.max()) + 1, ordered=True, series=series, horizon=int(horizon), times=times)


def blocks_of_rows(clusters: Clusters, length: int) -> Clusters:
    """Return clusters of at least so many consecutive rows each, for rows in time order, in their series."""
    n = len(clusters.labels)
    one = np.zeros(n, dtype=np.int64) if clusters.series is None else clusters.series
    labels = _blocks(one, _places(one), np.bincount(one), length)
    return Clusters(labels, int(labels.max()) + 1, ordered=True, series=clusters.series)


def _places(series: np.ndarray) -> np.ndarray:
    """Place of each row in its series, from 0."""
    order, sizes = np.argsort(series, kind="stable"), np.bincount(series)
    place = np.empty(len(series), dtype=np.int64)
    place[order] = np.arange(len(series)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    return place


def _blocks(series: np.ndarray, place: np.ndarray, sizes: np.ndarray, length: int) -> np.ndarray:
    """Labels of blocks of consecutive rows of each series: of equal size, up to one row, and of at least `length`.

    A shorter series is one block.
    """
    counts = np.maximum(sizes // length, 1)
    return _by_appearance((np.cumsum(counts) - counts)[series] + place * counts[series] // sizes[series])


def _numbered(groups: Any, n: int) -> np.ndarray:
    """Return labels of any kind as integers from 0, in the order in which they appear; raise if one is missing."""
    if isinstance(groups, np.ma.MaskedArray):
        raise TypeError("`groups` is a masked array; drop or fill the masked rows first.")
    found = to_numpy(groups) if is_array_api_obj(groups) else groups
    if isinstance(found, list | tuple):  # NumPy would turn a list of text and NaN into text
        found = _objects(found)
    array = np.asarray(found)
    if array.shape != (n,):
        raise ValueError(f"`groups` must hold one label for each of the {n} rows of `y`, but has shape {array.shape}.")
    if array.dtype == object:
        array = _hashed(array)
    missing = array != array
    if np.any(missing):
        raise ValueError(
            f"`groups` must have a label for every row, but {np.sum(missing)} of {n} are missing, the first in row "
            f"{np.argmax(missing)}. Drop these rows, or give each a label of its own."
        )
    labels = _by_appearance(array)
    if labels.max() < 1:
        raise ValueError(
            f"`groups` must hold at least two different labels, but all {n} rows have the same: no pair of rows "
            "would be left. Leave `groups` out, or, for one time series, give `horizon` alone."
        )
    return labels


def _objects(values: Any) -> np.ndarray:
    array = np.empty(len(values), dtype=object)
    array[:] = values
    return array


def _hashed(array: np.ndarray) -> np.ndarray:
    """Numbers in place of objects that compare equal; NaN for None and for what does not equal itself, as NaN and NaT.

    Missing values of pandas are not sure whether they do.
    """
    known: dict[Any, float] = {}
    numbers = np.empty(len(array))
    for i, label in enumerate(array.tolist()):
        try:
            missing = label is None or bool(label != label)
        except (TypeError, ValueError):
            missing = True
        try:
            numbers[i] = np.nan if missing else known.setdefault(label, float(len(known)))
        except TypeError:
            raise TypeError(f"`groups` must hold labels such as text or numbers, but row {i} has {label!r}.") from None
    return numbers


def rows_before(clusters: Clusters, n: int) -> np.ndarray:
    """Return for each of n ordered rows the one that was observed last when its forecast was made, -1 for none, (n,).

    It is the row `horizon` earlier in the same series.
    """
    series = np.zeros(n, dtype=np.int64) if clusters.series is None else clusters.series
    order, step = np.argsort(series, kind="stable"), clusters.horizon
    found = np.full(n, -1)
    same = series[order[step:]] == series[order[:-step]]
    found[order[step:][same]] = order[:-step][same]
    return found


def _by_appearance(labels: np.ndarray) -> np.ndarray:
    """Integers from 0 for labels that can be sorted, in the order in which they first appear."""
    _, first, index = np.unique(labels, return_index=True, return_inverse=True)
    rank = np.empty(len(first), dtype=np.int64)
    rank[np.argsort(first)] = np.arange(len(first))
    return np.asarray(rank[index.reshape(-1)])
