"""Statistics of features, from sums over rows, or over the clusters and edges of rows that depend on each other.

Sums are over one block of rows at a time.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import replace
from functools import partial, reduce
from itertools import pairwise
from operator import add

import numpy as np

from .._lib.arrays import Array, accumulation_dtype, array_namespace, device_of, ignore_overflow
from .._lib.dimensions import are_many
from .._lib.linalg import add_by_label
from ..pairwise import Features
from ..parallel.threads import in_threads
from .clusters import Clusters
from .contributions import LeftOut
from .edges import edges_of, whole_edges
from .estimators import Complete, pairing_of
from .features import FeatureSums, feature_sums, u_statistic_of
from .laws import Law
from .options import ComputeOptions
from .signs import PlacedSigns, Signs, dtype_of_signs
from .tiles import blocks_of

_MOST_SUMS = 2**22  # features of many dimensions times draws


def statistics_of_features(
    features: Sequence[Features],
    reference: Array,
    signs: Signs | None,
    options: ComputeOptions,
    tile: int,
    n_threads: int,
) -> list[tuple[Array, Array | None, Array, Law | None, float]]:
    """Statistic, draws, contributions, law and epsilon of the draws for each of several features, over all pairs.

    `signs` are those of the clusters, if rows are in any.
    """
    n, clusters = reference.shape[0], options.shared
    blocks, n_counted = blocks_of(n, tile), 2 * pairing_of(Complete(), n, clusters).n_pairs
    if len(blocks) == 1:  # features are computed once, for both sums and contributions
        features = _held(features, [each.function(blocks[0]) for each in features])
    rows, of_rows = features, blocks
    left_out: list[LeftOut | None] = [None for _ in features]
    if clusters is not None:
        found = [_of_clusters(each, blocks, clusters, signs, reference, tile) for each in features]
        left_out = [each for _, each in found]
        rows, of_rows = _held(features, [totals for totals, _ in found]), blocks_of(clusters.n_clusters, tile)
    statistics = []
    for some in _together(rows, 0 if signs is None else signs.n_resamples, reference.shape[1]):
        sums, precisions = _precise_sums(rows[some], signs, reference, options.precision, of_rows, n_threads)
        parts = zip(features[some], sums, precisions, left_out[some], strict=True)
        statistics += [
            (*u_statistic_of(each, own, blocks, n_counted, precision, without), precision)
            for each, own, precision, without in parts
        ]
    return statistics


def _together(features: Sequence[Features], n_draws: int, dim: int) -> list[slice]:
    """Return which features are summed in one pass: of many dimensions a few, since there is a sum for each draw."""
    if not are_many(dim):
        return [slice(0, len(features))]
    ends, held = [0], 0
    for k, each in enumerate(features):
        held += n_draws * each.function(slice(0, 1)).shape[1]
        if held > _MOST_SUMS or k == len(features) - 1:
            ends.append(k + 1)
            held = 0
    return [slice(*both) for both in pairwise(ends)]


def _precise_sums(
    features: Sequence[Features],
    signs: Signs | None,
    reference: Array,
    precision: str,
    blocks: list[slice],
    n_threads: int,
) -> tuple[list[FeatureSums], list[float]]:
    """Sums of each of several features, with signs in a short dtype where that is precise enough, and its epsilon."""
    xp, own = array_namespace(reference), accumulation_dtype(reference)
    short = dtype_of_signs(reference, precision, own)
    sums = _sums(features, None if signs is None else signs.on(reference, short), blocks, n_threads)
    unequal = [k for k, each in enumerate(sums) if each.unequal]
    if signs is not None and unequal:
        again = _sums([features[k] for k in unequal], signs.on(reference, own), blocks, n_threads)
        for k, found in zip(unequal, again, strict=True):
            sums[k] = found
    return sums, [float(xp.finfo(own if k in unequal else short).eps) for k in range(len(sums))]


def _of_clusters(
    features: Features, blocks: list[slice], clusters: Clusters, signs: Signs | None, reference: Array, tile: int
) -> tuple[Array, LeftOut]:
    """Sums over the rows of each cluster, (clusters, q), and what is not paired with what."""
    edges, totals = edges_of(clusters), None

    def passed() -> Iterator[tuple[slice, Array]]:
        nonlocal totals
        for rows in blocks:
            block = features.function(rows)
            xp, dtype = array_namespace(block), accumulation_dtype(block)
            block = xp.astype(block, dtype, copy=False)
            if totals is None:
                totals = xp.zeros((clusters.n_clusters, block.shape[1]), dtype=dtype, device=device_of(block))
            totals = add_by_label(totals, block, clusters.labels[rows])
            yield rows, block

    if edges is None:
        for _ in passed():
            pass
        return totals, LeftOut(partial(_rows_at, totals, clusters.labels))
    across = [each.sums() for each in whole_edges(edges, passed())]
    (products,) = _held([replace(features, unskewed=False)], [array_namespace(totals).concat(across)])
    placed = None if signs is None else signs.products(edges.blocks).on(reference, accumulation_dtype(reference))
    (sums,) = _sums([products], placed, blocks_of(edges.blocks.shape[1], tile), 1)
    signed = 0.0 if sums.signed is None else sums.signed
    return totals, LeftOut(partial(_rows_at, totals, clusters.labels), edges, sums.plain, signed)


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


def _held(features: Sequence[Features], values: Sequence[Array]) -> list[Features]:
    """Features that are already computed for all rows."""
    return [replace(each, function=partial(_rows_of, array)) for each, array in zip(features, values, strict=True)]


def _rows_of(array: Array, rows: slice) -> Array:
    return array[rows, :]


def _rows_at(array: Array, places: np.ndarray, rows: slice) -> Array:
    """Rows of an array at some of the places."""
    xp = array_namespace(array)
    return xp.take(array, xp.asarray(places[rows], device=device_of(array)), axis=0)
