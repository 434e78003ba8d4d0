"""Squared Hilbertian distances D(P_i, P_j), for a list of pairs or for a block of rows and columns."""

from dataclasses import dataclass
from typing import Protocol

import numpy as np

from .._lib.arrays import Array, array_namespace, device_of
from .mean_embeddings import MeanEmbeddings

_FLOATS_AT_ONCE = 4_000_000


class Distance(Protocol):
    """Squared distances between n predictions; `floats_per_pair` is the working memory that one pair needs."""

    @property
    def n(self) -> int: ...

    @property
    def floats_per_pair(self) -> int: ...

    def pairs(self, i: Array, j: Array) -> Array:
        """Squared distances of the pairs (i_k, j_k), given as two integer arrays."""
        ...

    def block(self, rows: slice, cols: slice) -> Array:
        """Squared distances between all rows and all columns."""
        ...


@dataclass(frozen=True, eq=False)
class Euclidean:
    """Squared distances between finite embeddings, the rows of `features` (n, p), in a unit.

    Differences are divided by the unit before they are squared: squares of very large or small numbers overflow or
    underflow.
    """

    features: Array
    unit: Array | float = 1.0

    @property
    def n(self) -> int:
        return int(self.features.shape[0])

    @property
    def floats_per_pair(self) -> int:
        return 3 * int(self.features.shape[1])

    def pairs(self, i: Array, j: Array) -> Array:
        xp = array_namespace(self.features)
        gaps = xp.take(self.features, i, axis=0) - xp.take(self.features, j, axis=0)
        return xp.sum((gaps / self.unit) ** 2, axis=-1)

    def block(self, rows: slice, cols: slice) -> Array:
        xp = array_namespace(self.features)
        gaps = self.features[rows, None, :] - self.features[None, cols, :]
        return xp.sum((gaps / self.unit) ** 2, axis=-1)


@dataclass(frozen=True, eq=False)
class MMDDistance:
    """Squared maximum mean discrepancy between mean embeddings, |mu_i - mu_j|^2."""

    embeddings: MeanEmbeddings
    norms: Array  # <mu_i, mu_i>, shape (n,)

    @property
    def n(self) -> int:
        return self.embeddings.n

    @property
    def floats_per_pair(self) -> int:
        return 2 + self.embeddings.floats_per_pair

    def pairs(self, i: Array, j: Array) -> Array:
        xp = array_namespace(self.norms)
        return _positive(xp.take(self.norms, i) + xp.take(self.norms, j) - 2.0 * self.embeddings.pairs(i, j))

    def block(self, rows: slice, cols: slice) -> Array:
        return _positive(self.norms[rows][:, None] + self.norms[cols][None, :] - 2.0 * self.embeddings(rows, cols))


def mmd_distance(embeddings: MeanEmbeddings, reference: Array) -> MMDDistance:
    """Return the squared maximum mean discrepancies between these mean embeddings."""
    everyone = np.arange(embeddings.n)
    return MMDDistance(embeddings, pairwise(embeddings, everyone, everyone, reference))


def pairwise(of: Distance | MeanEmbeddings, i: np.ndarray, j: np.ndarray, reference: Array) -> Array:
    """Return `of.pairs(i, j)`, computed in parts that fit in memory."""
    xp = array_namespace(reference)
    step = max(1, _FLOATS_AT_ONCE // of.floats_per_pair)

    def index(k: np.ndarray) -> Array:
        return xp.asarray(k.astype(np.int32), device=device_of(reference))

    return xp.concat([of.pairs(index(i[at : at + step]), index(j[at : at + step])) for at in range(0, len(i), step)])


def _positive(squared: Array) -> Array:
    """Replace squared distances that rounding made negative by zero."""
    return array_namespace(squared).maximum(squared, 0.0)
