"""The contribution of each row to statistics of features: the sum over the rows that it is paired with."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from .._lib.arrays import Array, array_namespace, full_product
from .._lib.linalg import add_by_label
from .edges import Edges, whole_edges
from .features import Weights


class JointWeights(NamedTuple):
    """Weights of the features of V statistics side by side, (V, q) with zeros for those of others; constants (V, 1)."""

    sums: Array
    cubes: Array  # of the first features alone
    scales: Array
    constants: Array


def joint_weights(weights: Sequence[Weights], columns: Sequence[slice], n_cubes: int) -> JointWeights:
    """Return the weights of statistics whose features are in these columns; the first `n_cubes` have some of cubes."""
    xp = array_namespace(weights[0].sums)
    n_columns = columns[-1].stop

    def spread(part: Array, own: slice) -> Array:
        zeros = xp.zeros_like(part[:1])
        before, after = (xp.broadcast_to(zeros, (number,)) for number in (own.start, n_columns - own.stop))
        return xp.concat([before, part, after])

    rows = (
        xp.stack([spread(part, own) for part, own in zip(parts, columns, strict=True)])
        for parts in list(zip(*weights, strict=True))[:3]
    )
    sums, cubes, scales = rows
    return JointWeights(sums, cubes[:, :n_cubes], scales, xp.stack([each.constant for each in weights])[:, None])


def contributions_of(block: Array, weights: JointWeights, totals: Array | None = None) -> Array:
    """Return the sums over the pairs of each row of a block, (V, rows), of features (rows, q).

    `totals` are the sums of features over the cluster of each row, if rows are in clusters.
    """
    own = block if totals is None else totals
    products, n_cubes = block * own, weights.cubes.shape[1]
    found = full_product(weights.sums, block.mT) - full_product(weights.scales, products.mT) - weights.constants
    if not n_cubes:
        return found
    return found + full_product(weights.cubes, (products[:, :n_cubes] * own[:, :n_cubes]).mT)


def without_near(
    contributions: Array,
    edges: Edges,
    passed: Iterable[tuple[slice, Array]],
    weights: Sequence[Weights],
    columns: Sequence[slice],
) -> Array:
    """Return the contributions (V, n) less those of near rows across edges, from features (rows, q) of blocks."""
    xp, total = array_namespace(contributions), contributions.mT
    for across in whole_edges(edges, passed):
        near = [across.of(own).contributions(each.scales) for each, own in zip(weights, columns, strict=True)]
        for side, rows in enumerate((edges.before[across.edges], edges.after[across.edges])):
            values = xp.stack([xp.reshape(each[side], (-1,)) for each in near], axis=1)
            total = add_by_label(total, -values, rows.ravel())
    return total.mT
