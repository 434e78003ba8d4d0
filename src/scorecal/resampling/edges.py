"""Pairs of rows across the edge between two blocks that follow each other, fewer than `horizon` rows apart.

Their forecasts overlap, so they are left out, like pairs inside blocks. With f_1 to f_(h-1) the features of the last
rows before an edge and g_1 to g_(h-1) those of the first rows after it, the p-th of the former is near the first p of
the latter: the sum over the near pairs of an edge is sum_p f_p.(g_1 + ... + g_p).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .._lib.arrays import Array, array_namespace, device_of
from .._lib.linalg import add_by_label
from .clusters import Clusters


@dataclass(frozen=True, eq=False)
class Edges:
    """Edges between blocks, and the rows next to them.

    `rows` (m,) are these rows, in the order of the table; `before` and `after` (edges, h - 1) are places among them,
    in time order, and m where a row is missing. `blocks` (2, edges) are the clusters on both sides of each edge.
    """

    rows: np.ndarray
    before: np.ndarray
    after: np.ndarray
    blocks: np.ndarray


def edges_of(clusters: Clusters) -> Edges | None:
    """Return the edges between blocks whose rows overlap; None where there are none."""
    times, near = clusters.times, clusters.horizon - 1
    if times is None:
        return None
    start = np.full(clusters.n_clusters, np.iinfo(np.int64).max)
    end = np.full(clusters.n_clusters, -1)
    np.minimum.at(start, clusters.labels, times)
    np.maximum.at(end, clusters.labels, times)
    order = np.argsort(start)
    meet = start[order[1:]] - end[order[:-1]] <= near
    blocks = np.stack([order[:-1][meet], order[1:][meet]])
    if not blocks.shape[1]:
        return None
    rows: list[np.ndarray] = []
    for side, first in ((0, start[blocks[1]] - near), (1, start[blocks[1]])):
        edge_of = np.full(clusters.n_clusters, -1)
        edge_of[blocks[side]] = np.arange(blocks.shape[1])
        edge = edge_of[clusters.labels]
        place = times - first[edge]
        here = np.flatnonzero((edge >= 0) & (place >= 0) & (place < near))
        found = np.full((blocks.shape[1], near), -1)
        found[edge[here], place[here]] = here
        rows.append(found)
    present = np.unique(np.concatenate(rows))
    present = present[present >= 0]
    before, after = (np.where(side < 0, len(present), np.searchsorted(present, side)) for side in rows)
    return Edges(present, before, after, blocks)


def sums_across(held: Array, edges: Edges) -> tuple[Array, Array]:
    """Sums over the near pairs of each edge, (edges, q), and over the near rows of each row at an edge, (m + 1, q).

    `held` (m, q) are the features of `edges.rows`. The last row of the second is zero, for rows that are at no edge.
    """
    xp, place = array_namespace(held), {"device": device_of(held)}
    none = xp.zeros((1, held.shape[1]), dtype=held.dtype, **place)
    padded = xp.concat([held, none])

    def at(side: np.ndarray) -> Array:
        rows = xp.take(padded, xp.asarray(side.ravel(), **place), axis=0)
        return xp.reshape(rows, (*side.shape, held.shape[1]))

    before, after = at(edges.before), at(edges.after)
    of_before = xp.cumulative_sum(after, axis=1)
    of_after = xp.flip(xp.cumulative_sum(xp.flip(before, axis=1), axis=1), axis=1)
    near = xp.zeros_like(padded)
    for side, sums in ((edges.before, of_before), (edges.after, of_after)):
        near = add_by_label(near, xp.reshape(sums, (-1, held.shape[1])), side.ravel())
    return xp.sum(before * of_before, axis=1), xp.concat([near[:-1, :], none])
