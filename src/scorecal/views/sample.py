"""A random subset of rows that is the same however rows come in batches: those whose numbers have the least hashes."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

MOST_ROWS, _MOST_NUMBERS = 10**5, 10**7


@dataclass(frozen=True, eq=False)
class RowSample:
    """At most `MOST_ROWS` of the rows: their numbers among all, rising, and what is known of each."""

    rows: np.ndarray  # (k,)
    values: np.ndarray  # (k, q)

    def __add__(self, other: RowSample) -> RowSample:
        rows = np.concatenate([self.rows, other.rows])
        chosen = _chosen(rows, self.values.shape[1])
        return RowSample(rows[chosen], np.concatenate([self.values, other.values])[chosen])


def sample_of(values: np.ndarray, first: int = 0) -> RowSample:
    """Return the sample of the rows of `values`, (n, q), the first of which has the number `first`."""
    rows = np.arange(first, first + len(values))
    chosen = _chosen(rows, values.shape[1])
    return RowSample(rows[chosen], values[chosen])


def _chosen(rows: np.ndarray, n_columns: int) -> np.ndarray:
    """Return the places, in rising order of the numbers of the rows, of those that are kept."""
    most = min(MOST_ROWS, max(1, _MOST_NUMBERS // n_columns))
    if len(rows) > most:
        kept = np.argpartition(_hashes(rows), most - 1)[:most]
        return np.asarray(kept[np.argsort(rows[kept])])
    return np.argsort(rows, kind="stable")


def _hashes(rows: np.ndarray) -> np.ndarray:
    """Different numbers for different rows (splitmix64; Steele, Lea, Flood 2014)."""
    key = (rows.astype(np.uint64) + np.uint64(1)) * np.uint64(0x9E3779B97F4A7C15)
    key = (key ^ (key >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    key = (key ^ (key >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return np.asarray(key ^ (key >> np.uint64(31)))
