"""Statistics of features, from sums over rows, or over the clusters and edges of rows that depend on each other.

Sums are over one block of rows at a time. With `horizon`, the features of rows at the edges of blocks are kept as well.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import closing
from dataclasses import replace
from functools import partial, reduce
from operator import add

import numpy as np

from .._lib.arrays import Array, accumulation_dtype, array_namespace, device_of, ignore_overflow
from .._lib.linalg import add_by_label
from ..pairwise import Features
from ..parallel.threads import in_threads
from .clusters import Clusters
from .edges import Edges, edges_of, sums_across
from .estimators import Complete, pairing_of
from .features import FeatureSums, LeftOut, feature_sums, u_statistic_of
from .laws import Law
from .options import ComputeOptions
from .signs import PlacedSigns, Signs, dtype_of_signs
from .tiles import blocks_of


def statistics_of_features(
    features: Sequence[Features],
    reference: Array,
    signs: Signs | None,
    options: ComputeOptions,
    tile: int,
    n_threads: int,
) -> list[tuple[Array, Array | None, Array, Law | None]]:
    """Statistic, null draws, contributions and law for each of several features of rows, averaged over all pairs.

    `signs` are those of the clusters, if rows are in any.
    """
    n, clusters = reference.shape[0], options.shared
    blocks, n_counted = blocks_of(n, tile), 2 * pairing_of(Complete(), n, clusters).n_pairs
    dtype = dtype_of_signs(reference, options.precision, accumulation_dtype(reference))
    precision = float(array_namespace(reference).finfo(dtype).eps)
    if len(blocks) == 1:  # features are computed once, for both sums and contributions
        features = _held(features, [each.function(blocks[0]) for each in features])
    placed = None if signs is None else signs.on(reference, dtype)
    if clusters is None:
        sums = _sums(features, placed, blocks, n_threads)
        found = zip(features, sums, strict=True)
        return [u_statistic_of(each, own, blocks, n_counted, precision) for each, own in found]
    edges = edges_of(clusters)
    totals, at_edges = _gathered(features, blocks, clusters, edges)
    sums = _sums(_held(features, totals), placed, blocks_of(clusters.n_clusters, tile), n_threads)
    left_out = [LeftOut(partial(_rows_at, total, clusters.labels)) for total in totals]
    if edges is not None:
        across, near = zip(*(sums_across(held, edges) for held in at_edges), strict=True)
        plain = [replace(each, unskewed=False) for each in _held(features, across)]
        of_edges = None if signs is None else signs.products(edges.blocks).on(reference, dtype)
        of_pairs = _sums(plain, of_edges, blocks_of(edges.blocks.shape[1], tile), n_threads)
        place = np.full(n, len(edges.rows))
        place[edges.rows] = np.arange(len(edges.rows))
        left_out = [
            replace(each, near=partial(_rows_at, own, place), pairs=pairs)
            for each, own, pairs in zip(left_out, near, of_pairs, strict=True)
        ]
    parts = zip(features, sums, left_out, strict=True)
    return [u_statistic_of(each, own, blocks, n_counted, precision, without) for each, own, without in parts]


def _sums(
    features: Sequence[Features], signs: PlacedSigns | None, blocks: list[slice], n_threads: int
) -> list[FeatureSums]:
    """Sums of each of several features over all blocks, added in their order."""
    if len(blocks) == 1:
        return _block_sums(features, signs, blocks[0])
    with closing(in_threads(partial(_block_sums, features, signs), blocks, n_threads)) as parts:
        return reduce(lambda total, part: list(map(add, total, part)), parts)


@ignore_overflow
def _block_sums(features: Sequence[Features], signs: PlacedSigns | None, rows: slice) -> list[FeatureSums]:
    flips = None if signs is None else signs(rows)
    return [feature_sums(each, rows, flips) for each in features]


def _gathered(
    features: Sequence[Features], blocks: list[slice], clusters: Clusters, edges: Edges | None
) -> tuple[list[Array], list[Array]]:
    """Sums of each of several features over the rows of each cluster, (clusters, q), and its rows at edges, (m, q)."""
    totals: list[Array] = [None for _ in features]
    at_edges: list[list[Array]] = [[] for _ in features]
    for rows in blocks:
        here = None if edges is None else edges.rows[slice(*np.searchsorted(edges.rows, (rows.start, rows.stop)))]
        for k, each in enumerate(features):
            block = each.function(rows)
            xp, dtype = array_namespace(block), accumulation_dtype(block)
            block = xp.astype(block, dtype, copy=False)
            if totals[k] is None:
                totals[k] = xp.zeros((clusters.n_clusters, block.shape[1]), dtype=dtype, device=device_of(block))
            totals[k] = add_by_label(totals[k], block, clusters.labels[rows])
            if here is not None:
                at_edges[k].append(_rows_at(block, here - rows.start, slice(None)))
    return totals, [array_namespace(*held).concat(held) for held in at_edges if held]


def _held(features: Sequence[Features], values: Sequence[Array]) -> list[Features]:
    """Features that are already computed for all rows."""
    return [replace(each, function=partial(_rows_of, array)) for each, array in zip(features, values, strict=True)]


def _rows_of(array: Array, rows: slice) -> Array:
    return array[rows, :]


def _rows_at(array: Array, places: np.ndarray, rows: slice) -> Array:
    """Rows of an array at some of the places."""
    xp = array_namespace(array)
    return xp.take(array, xp.asarray(places[rows], device=device_of(array)), axis=0)
