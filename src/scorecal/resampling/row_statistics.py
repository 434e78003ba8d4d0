"""Statistics of features, from sums over rows, or over the clusters and edges of rows that depend on each other.

All statistics are computed in one pass over blocks of rows, and the contributions of rows in another.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from functools import partial, reduce
from itertools import chain, pairwise
from operator import add
from typing import Any

import numpy as np
from array_api_compat import is_numpy_array

from .._lib.arrays import Array, accumulation_dtype, array_namespace, device_of, ignore_overflow
from .._lib.dimensions import are_many
from .._lib.linalg import add_by_label
from ..pairwise import Features
from ..parallel.threads import in_threads
from .clusters import Clusters
from .contributions import JointWeights, contributions_of, joint_weights, without_near
from .edges import Edges, edges_of, whole_edges
from .estimators import Complete, pairing_of
from .feature_sums import FeatureSums, side_by_side, sums_of_block
from .features import UStatistic, u_statistic_of
from .laws import Law
from .options import ComputeOptions
from .signs import PlacedSigns, Signs, dtype_of_signs
from .tiles import blocks_of

_MOST_SUMS = 2**22  # features of many dimensions times draws
Block = tuple[Array, tuple[int, ...]]
OfBlock = Callable[[slice], Block]
Found = tuple[Array, Array | None, Array, Law | None, float]


@dataclass(frozen=True, eq=False)
class _LeftOut:
    """Rows that rows are not paired with: those of their own cluster, and near ones across edges.

    `totals` (clusters, q) are sums of f over clusters. `pairs` (q,) and `signed_pairs` (q, B) are the sums of f_i f_j
    over pairs across `edges`, each counted once, and with signs.
    """

    clusters: Clusters | None = None
    totals: Array | None = None
    edges: Edges | None = None
    pairs: Any = 0.0
    signed_pairs: Array | float = 0.0

    def pairs_of(self, columns: slice) -> tuple[Array | float, Array | float]:
        """Return the sums of some of the features."""
        if self.edges is None:
            return 0.0, 0.0
        signed = self.signed_pairs
        return self.pairs[columns], signed if isinstance(signed, float) else signed[columns, :]

    def of_cluster(self, rows: slice) -> Array | None:
        """Return the sums of f over the cluster of each row of a block, (rows, q)."""
        if self.clusters is None or self.totals is None:
            return None
        places = array_namespace(self.totals).asarray(self.clusters.labels[rows], device=device_of(self.totals))
        return array_namespace(self.totals).take(self.totals, places, axis=0)


def statistics_of_features(
    features: Sequence[Features],
    reference: Array,
    signs: Signs | None,
    options: ComputeOptions,
    tile: int,
    n_threads: int,
) -> list[Found]:
    """Statistic, draws, contributions, law and epsilon of the draws for each of several features, over all pairs.

    `signs` are those of the clusters, if rows are in any. All are summed in one pass, but of many dimensions a few in
    each: there is a sum for each feature and draw.
    """
    found: list[Found] = []
    for some in _together(features, 0 if signs is None else signs.n_resamples, reference.shape[1]):
        found += _statistics_of(features[some], reference, signs, options, tile, n_threads)
    return found


def _together(features: Sequence[Features], n_draws: int, dim: int) -> list[slice]:
    """Return which features are summed in one pass."""
    if not are_many(dim):
        return [slice(0, len(features))]
    ends, held = [0], 0
    for k, each in enumerate(features):
        held += n_draws * each.function(slice(0, 1)).shape[1]
        if held > _MOST_SUMS or k == len(features) - 1:
            ends.append(k + 1)
            held = 0
    return [slice(*both) for both in pairwise(ends)]


def _statistics_of(
    features: Sequence[Features],
    reference: Array,
    signs: Signs | None,
    options: ComputeOptions,
    tile: int,
    n_threads: int,
) -> list[Found]:
    order = with_cubes_first(features)
    ordered = [features[k] for k in order]
    n, clusters = reference.shape[0], options.shared
    blocks, n_counted = blocks_of(n, tile), 2 * pairing_of(Complete(), n, clusters).n_pairs
    of_block: OfBlock = partial(side_by_side, ordered)
    if len(blocks) == 1:  # features are computed once, for both sums and contributions
        of_block = _held(of_block(blocks[0]))
    if clusters is None:
        of_units, units, left_out = of_block, blocks, _LeftOut()
    else:
        totals, left_out = _of_clusters(of_block, blocks, clusters, signs, reference, tile)
        of_units, units = _held(totals), blocks_of(clusters.n_clusters, tile)
    sums, precisions = _precise_sums(of_units, ordered, signs, reference, options.precision, units, n_threads)
    found = [
        u_statistic_of(each, sums.of(k), n, n_counted, precisions[k], *left_out.pairs_of(sums.columns[k]))
        for k, each in enumerate(ordered)
    ]
    shares = _contributions(of_block, blocks, found, sums, left_out, n_threads)
    by_order: list[Found] = [
        (each.observed, each.null, shares[k, :], each.law, precisions[k]) for k, each in enumerate(found)
    ]
    return [by_order[order.index(k)] for k in range(len(features))]


def with_cubes_first(features: Sequence[Features]) -> list[int]:
    """Return the places of features in the order in which they are side by side: those with cubes come first."""
    return sorted(range(len(features)), key=lambda k: not _has_cubes(features[k]))


def _has_cubes(features: Features) -> bool:
    return features.unskewed and features.units is None


def sums_of_features(
    features: Sequence[Features], signs: Signs, reference: Array, precision: str, blocks: list[slice]
) -> FeatureSums:
    """Return the sums of features, in the order of `with_cubes_first`, with signs, over rows of a batch."""
    ordered = [features[k] for k in with_cubes_first(features)]
    return _precise_sums(partial(side_by_side, ordered), ordered, signs, reference, precision, blocks, 1)[0]


def _precise_sums(
    of_block: OfBlock,
    features: Sequence[Features],
    signs: Signs | None,
    reference: Array,
    precision: str,
    blocks: list[slice],
    n_threads: int,
) -> tuple[FeatureSums, list[float]]:
    """Sums of all features, with signs in a short dtype where that is precise enough, and the epsilon of each."""
    xp, own = array_namespace(reference), accumulation_dtype(reference)
    short = dtype_of_signs(reference, precision, own)
    cubed = sum(map(_has_cubes, features))
    sums = _sums(of_block, cubed, None if signs is None else signs.on(reference, short), blocks, n_threads)
    unequal = sums.unequal
    if signs is not None and np.any(unequal):
        again = _sums(of_block, cubed, signs.on(reference, own), blocks, n_threads)
        sums = sums.where_unequal(again)
    return sums, [float(xp.finfo(own if each else short).eps) for each in unequal]


def _of_clusters(
    of_block: OfBlock, blocks: list[slice], clusters: Clusters, signs: Signs | None, reference: Array, tile: int
) -> tuple[Block, _LeftOut]:
    """Sums over the rows of each cluster, (clusters, q), and what is not paired with what."""
    edges, totals = edges_of(clusters), None
    widths: tuple[int, ...] = ()

    def passed() -> Iterator[tuple[slice, Array]]:
        nonlocal totals, widths
        for rows in blocks:
            block, widths = of_block(rows)
            if totals is None:
                xp = array_namespace(block)
                totals = xp.zeros((clusters.n_clusters, block.shape[1]), dtype=block.dtype, device=device_of(block))
            totals = add_by_label(totals, block, clusters.labels[rows])
            yield rows, block

    if edges is None:
        for _ in passed():
            pass
        return (totals, widths), _LeftOut(clusters, totals)
    across = [each.sums() for each in whole_edges(edges, passed())]
    products = _held((array_namespace(totals).concat(across), widths))
    placed = None if signs is None else signs.products(edges.blocks).on(reference, accumulation_dtype(reference))
    sums = _sums(products, 0, placed, blocks_of(edges.blocks.shape[1], tile), 1)
    signed = 0.0 if sums.signed is None else sums.signed
    return (totals, widths), _LeftOut(clusters, totals, edges, sums.plain, signed)


def _sums(of_block: OfBlock, cubed: int, signs: PlacedSigns | None, blocks: list[slice], n_threads: int) -> FeatureSums:
    """Sums over all blocks, added in their order; of the first `cubed` statistics with cubes."""
    work = partial(_block_sums, of_block, cubed, signs)
    if len(blocks) == 1:
        return work(blocks[0])
    with closing(in_threads(work, blocks, n_threads)) as parts:
        return reduce(add, parts)


@ignore_overflow
def _block_sums(of_block: OfBlock, cubed: int, signs: PlacedSigns | None, rows: slice) -> FeatureSums:
    block, widths = of_block(rows)
    return sums_of_block(block, widths, sum(widths[:cubed]), None if signs is None else signs(rows))


def _contributions(
    of_block: OfBlock,
    blocks: list[slice],
    found: Sequence[UStatistic],
    sums: FeatureSums,
    left_out: _LeftOut,
    n_threads: int,
) -> Array:
    """Contributions (V, n) of the rows."""
    weights = [each.weights for each in found]
    joint = joint_weights(weights, sums.columns, sums.cubes.shape[0])
    with closing(in_threads(partial(_of_rows, of_block, joint, left_out), blocks, n_threads)) as parts:
        shares = _joined(parts, len(found), blocks)
    if left_out.edges is None:
        return shares
    return without_near(shares, left_out.edges, ((rows, of_block(rows)[0]) for rows in blocks), weights, sums.columns)


def _joined(parts: Iterator[Array], n_statistics: int, blocks: list[slice]) -> Array:
    """Arrays (V, rows) as one, (V, n): NumPy's are copied as they come, since all of them at once take memory."""
    first = next(parts)
    if not is_numpy_array(first):
        return array_namespace(first).concat([first, *parts], axis=1)
    joined = np.empty((n_statistics, blocks[-1].stop))
    for rows, part in zip(blocks, chain([first], parts), strict=True):
        joined[:, rows] = part
    return joined


@ignore_overflow
def _of_rows(of_block: OfBlock, weights: JointWeights, left_out: _LeftOut, rows: slice) -> Array:
    return contributions_of(of_block(rows)[0], weights, left_out.of_cluster(rows))


def _held(block: Block) -> OfBlock:
    """Features that are already computed for all rows."""
    return lambda rows: (block[0][rows, :], block[1])
