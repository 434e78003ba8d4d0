"""The contribution of each row to a statistic of features: the sum over the rows that it is paired with."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from .._lib.arrays import Array, array_namespace, full_product
from .._lib.linalg import add_by_label
from .edges import Edges, whole_edges


@dataclass(frozen=True, eq=False)
class LeftOut:
    """Rows that rows are not paired with: those of their own cluster, and near ones across edges.

    `of_cluster` gives the sums of f over the cluster of each row of a block, (rows, q). `pairs` and `signed_pairs` are
    the sums of f_i f_j over pairs across `edges`, (q,), and with signs, (q, B), each pair counted once.
    """

    of_cluster: Callable[[slice], Array]
    edges: Edges | None = None
    pairs: Array | float = 0.0
    signed_pairs: Array | float = 0.0


@dataclass(frozen=True, eq=False)
class Weights:
    """Factors of features in a statistic: f + `bent` f^3 is multiplied by `sums`, and f^2 by `scales`, each (q,)."""

    sums: Array
    bent: Array
    scales: Array


def contributions_of(
    function: Callable[[slice], Array],
    blocks: list[slice],
    weights: Weights,
    of_cluster: Callable[[slice], Array] | None,
    edges: Edges | None,
) -> Array:
    """Return the sums over the pairs of each row, (n,), of features (rows, q) of the blocks."""
    shares: list[Array] = []

    def passed() -> Iterator[tuple[slice, Array]]:
        for rows in blocks:
            block = function(rows)
            own = block if of_cluster is None else of_cluster(rows)
            parts = full_product(block + weights.bent * block * own**2, weights.sums)
            shares.append(parts - full_product(block * own, weights.scales))
            yield rows, block

    if edges is None:
        for _ in passed():
            pass
        return array_namespace(weights.sums).concat(shares)
    near = [(across.edges, across.contributions(weights.scales)) for across in whole_edges(edges, passed())]
    total = array_namespace(weights.sums).concat(shares)[:, None]
    for some, sides in near:
        for rows, values in zip((edges.before[some], edges.after[some]), sides, strict=True):
            total = add_by_label(total, -array_namespace(values).reshape(values, (-1, 1)), rows.ravel())
    return total[:, 0]
