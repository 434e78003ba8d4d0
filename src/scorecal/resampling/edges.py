"""Pairs of rows across the edge between two blocks that follow each other, fewer than `horizon` rows apart.

Their forecasts overlap, so they are left out, like pairs inside blocks. With f_1 to f_(h-1) the features of the last
rows before an edge and g_1 to g_(h-1) those of the first rows after it, the p-th of the former is near the first p of
the latter: the sum over the near pairs of an edge is sum_p f_p.(g_1 + ... + g_p).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np

from .._lib.arrays import Array, array_namespace, device_of
from .clusters import Clusters


@dataclass(frozen=True, eq=False)
class Edges:
    """Edges between blocks, in the order in which the last of their rows come in the table.

    `before` and `after` (edges, h - 1) are the rows on both sides, in time order, and `blocks` (2, edges) the clusters.
    """

    before: np.ndarray
    after: np.ndarray
    blocks: np.ndarray


@dataclass(frozen=True, eq=False)
class Across:
    """Features of the rows at some of the edges, `before` and `after`, each (edges, h - 1, q)."""

    edges: slice
    before: Array
    after: Array

    def of(self, columns: slice) -> Across:
        """Return the same of some of the features."""
        return Across(self.edges, self.before[..., columns], self.after[..., columns])

    def sums(self) -> Array:
        """Return the sums of f_i f_j over the near pairs of each edge, (edges, q)."""
        total = found = array_namespace(self.after).zeros_like(self.after[:, 0, :])
        for p in range(self.after.shape[1]):
            total = total + self.after[:, p, :]
            found = found + self.before[:, p, :] * total
        return found

    def contributions(self, scales: Array) -> tuple[Array, Array]:
        """Return the sums of f_i.f_j over the rows that are near to each row, with a scale for each feature."""
        xp, near = array_namespace(self.after), range(self.after.shape[1])
        total = other = xp.zeros_like(self.after[:, 0, :])
        before, after = [], []
        for p in near:
            total = total + self.after[:, p, :]
            before.append(xp.sum(self.before[:, p, :] * total * scales, axis=1))
        for p in reversed(near):
            other = other + self.before[:, p, :]
            after.append(xp.sum(self.after[:, p, :] * other * scales, axis=1))
        return xp.stack(before, axis=1), xp.stack(after[::-1], axis=1)


def edges_of(clusters: Clusters) -> Edges | None:
    """Return the edges between blocks whose rows overlap; None where there are none."""
    times, near = clusters.times, clusters.horizon - 1
    if times is None:
        return None
    order = np.argsort(times)
    at = np.flatnonzero((np.diff(clusters.labels[order]) != 0) & (np.diff(times[order]) == 1)) + 1
    if not len(at):
        return None
    before, after = order[at[:, None] + np.arange(-near, 0)], order[at[:, None] + np.arange(near)]
    last = np.argsort(np.max(after, axis=1), kind="stable")
    blocks = np.stack([clusters.labels[before[:, -1]], clusters.labels[after[:, 0]]])
    return Edges(before[last], after[last], blocks[:, last])


def whole_edges(edges: Edges, features: Iterable[tuple[slice, Array]]) -> Iterator[Across]:
    """Yield the edges with the features of their rows, which come in blocks of rows, (rows, q), and are kept till then.

    So few are kept at a time, if the rows of each series are near to each other in the table.
    """
    of_edges = np.sort(np.concatenate([edges.before, edges.after], axis=None))
    last, start = np.max(edges.after, axis=1), 0
    kept_rows, kept = of_edges[:0], None
    for rows, block in features:
        xp, place = array_namespace(block), {"device": device_of(block)}
        here = of_edges[slice(*np.searchsorted(of_edges, (rows.start, rows.stop)))]
        found = xp.take(block, xp.asarray(here - rows.start, **place), axis=0)
        kept = found if kept is None else xp.concat([kept, found])
        kept_rows = np.concatenate([kept_rows, here])
        stop = int(np.searchsorted(last, rows.stop))
        if stop > start:
            sides = edges.before[start:stop], edges.after[start:stop]
            values = []
            for side in sides:
                places = xp.asarray(np.searchsorted(kept_rows, side.ravel()), **place)
                values.append(xp.reshape(xp.take(kept, places, axis=0), (*side.shape, block.shape[1])))
            yield Across(slice(start, stop), *values)
            left = np.flatnonzero(~np.isin(kept_rows, np.concatenate(sides, axis=None)))
            kept_rows, kept, start = kept_rows[left], xp.take(kept, xp.asarray(left, **place), axis=0), stop
