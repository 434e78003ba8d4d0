"""Squared Hilbertian distances D(P_i, P_j), for a list of pairs or for a block of rows and columns."""

from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable

import numpy as np
from array_api_compat import is_array_api_obj

from .._lib.arrays import Array, array_namespace, as_float, check_real, device_of, has_values, like
from .mean_embeddings import MeanEmbeddings

_FLOATS_AT_ONCE = 4_000_000


@runtime_checkable
class Distance(Protocol):
    """Squared distances between n predictions; `floats_per_pair` is the number of floats that one pair needs in memory.

    `Euclidean` has all that is asked for here. A distance without finite embeddings needs these methods itself. They
    must return zero or more: what rounding made negative is set to zero.
    """

    @property
    def n(self) -> int: ...

    @property
    def floats_per_pair(self) -> int: ...

    def pairs(self, i: Array, j: Array) -> Array:
        """Squared distances of the pairs (i_k, j_k), given as two integer arrays."""
        ...

    def block(self, rows: slice, cols: slice) -> Array:
        """Squared distances between all rows and all columns of two slices, (rows, cols)."""
        ...


@dataclass(frozen=True, eq=False)
class Euclidean:
    """Squared distances between finite embeddings, the rows of `features` (n, p)."""

    features: Array

    @property
    def n(self) -> int:
        return int(self.features.shape[0])

    @property
    def floats_per_pair(self) -> int:
        return 3 * int(self.features.shape[1])

    def pairs(self, i: Array, j: Array) -> Array:
        xp = array_namespace(self.features)
        return xp.sum((xp.take(self.features, i, axis=0) - xp.take(self.features, j, axis=0)) ** 2, axis=-1)

    def block(self, rows: slice, cols: slice) -> Array:
        xp = array_namespace(self.features)
        return xp.sum((self.features[rows, None, :] - self.features[None, cols, :]) ** 2, axis=-1)


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


@dataclass(frozen=True, eq=False)
class CheckedDistance:
    """A distance of a user's own, whose values are converted to the library in use and checked."""

    distance: Distance
    n: int
    floats_per_pair: int
    zero: Array  # of the library, device and dtype in use

    def pairs(self, i: Array, j: Array) -> Array:
        return self._checked("pairs(i, j)", self.distance.pairs(i, j), (i.shape[0],))

    def block(self, rows: slice, cols: slice) -> Array:
        shape = (rows.stop - rows.start, cols.stop - cols.start)
        return self._checked("block(rows, cols)", self.distance.block(rows, cols), shape)

    def _checked(self, call: str, values: Array, shape: tuple[int, ...]) -> Array:
        if is_array_api_obj(values):
            check_real(f"{type(self.distance).__name__}.{call}", values)
        values = like(values, self.zero)
        found: Any = tuple(values.shape)
        if found == shape:
            found = as_float(array_namespace(values).min(values)) if has_values(values) else 0.0
        if not (isinstance(found, float) and found >= 0):
            raise ValueError(
                f"`{type(self.distance).__name__}.{call}` must return squared distances of shape {shape}, zero or more "
                f"(set to zero what rounding made negative), but gave {found}."
            )
        return values


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
