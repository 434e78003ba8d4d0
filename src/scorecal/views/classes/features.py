"""Features of predictions p of K classes and observed classes y that are linear in the residuals e = onehot(y) - p.

Each is a table over the classes, so that classes drawn from p cost a look-up, and expected sums of squares and cubes
are known exactly. Three shapes keep the tables small, whatever their number of features q.
"""

from dataclasses import dataclass
from typing import Protocol

import numpy as np

from ..._lib.cached import cached_property
from ...pairwise import Units

_ROUNDING = 1e-14  # relative, of sums over classes
_NUMBERS_AT_ONCE = 2**22


class ClassFeatures(Protocol):
    """Features f of rows, (n, q), of mean zero under the probabilities of their own row."""

    def of_rows(self, observed: np.ndarray, rows: slice) -> np.ndarray:
        """Return the features (rows, q) of a block of rows; `observed` are the classes of all, (n,)."""
        ...

    def sums(self, drawn: np.ndarray) -> np.ndarray:
        """Return sums over rows (q, m) for m data sets of classes (m, n)."""
        ...

    def row_squares(self, rows: np.ndarray) -> np.ndarray:
        """Return expected squares of some rows, (rows, q)."""
        ...

    def fourths(self) -> np.ndarray:
        """Return expected sums over rows of fourth powers, (q,)."""
        ...

    @property
    def units(self) -> Units:
        """Expected sums over rows of squares and cubes, (q,) each."""
        ...


@dataclass(frozen=True, eq=False)
class ScoreFeatures:
    """A number for each class less its expectation, times functions of the prediction: (t_i(y_i) - E t_i) c_i."""

    probabilities: np.ndarray  # (n, K)
    score: np.ndarray  # (n, K), of mean zero under the probabilities
    curves: np.ndarray  # (n, q)

    def of_rows(self, observed: np.ndarray, rows: slice) -> np.ndarray:
        return np.asarray(np.take_along_axis(self.score[rows], observed[rows, None], axis=1) * self.curves[rows])

    def sums(self, drawn: np.ndarray) -> np.ndarray:
        return np.asarray((self.score[np.arange(drawn.shape[1]), drawn] @ self.curves).T)

    @cached_property
    def units(self) -> Units:
        weighted = self.probabilities * self.score * self.score
        squares, cubes = np.sum(weighted, axis=1), np.sum(weighted * self.score, axis=1)
        return Units(squares @ self.curves**2, cubes @ self.curves**3)

    def row_squares(self, rows: np.ndarray) -> np.ndarray:
        squares = np.sum(self.probabilities[rows] * self.score[rows] ** 2, axis=1, keepdims=True)
        return np.asarray(squares * self.curves[rows] ** 2)

    def fourths(self) -> np.ndarray:
        return np.asarray(np.sum(self.probabilities * self.score**4, axis=1) @ self.curves**4)


@dataclass(frozen=True, eq=False)
class OwnFeatures:
    """The residual of each class times a function of its own, w_ik e_ik: as many features as classes."""

    probabilities: np.ndarray
    weights: np.ndarray  # (n, K)

    def of_rows(self, observed: np.ndarray, rows: slice) -> np.ndarray:
        found = -self.probabilities[rows] * self.weights[rows]
        places = np.arange(len(found)), observed[rows]
        found[places] += self.weights[rows][places]
        return np.asarray(found)

    def sums(self, drawn: np.ndarray) -> np.ndarray:
        m, n_classes = len(drawn), self.weights.shape[1]
        places = drawn + n_classes * np.arange(m)[:, None]
        values = self.weights[np.arange(drawn.shape[1]), drawn]
        totals = np.bincount(places.ravel(), values.ravel(), m * n_classes).reshape(m, n_classes)
        return np.asarray((totals - np.sum(self.probabilities * self.weights, axis=0)).T)

    @cached_property
    def units(self) -> Units:
        variances = self.probabilities * (1.0 - self.probabilities)
        cubes = variances * (1.0 - 2.0 * self.probabilities)
        squared = self.weights * self.weights
        return Units(np.sum(variances * squared, axis=0), np.sum(cubes * squared * self.weights, axis=0))

    def row_squares(self, rows: np.ndarray) -> np.ndarray:
        p = self.probabilities[rows]
        return np.asarray(p * (1.0 - p) * self.weights[rows] ** 2)

    def fourths(self) -> np.ndarray:
        variances = self.probabilities * (1.0 - self.probabilities)
        return np.asarray(np.sum(variances * (1.0 - 3.0 * variances) * self.weights**4, axis=0))


@dataclass(frozen=True, eq=False)
class ProductFeatures:
    """All products of r functions of the prediction and m combinations of the residuals, c_ij (e_i R)_k."""

    probabilities: np.ndarray
    curves: np.ndarray  # (n, r)
    combinations: np.ndarray  # R (K, m); or (K,), the diagonal of one

    def of_rows(self, observed: np.ndarray, rows: slice) -> np.ndarray:
        residuals = -self.probabilities[rows]
        residuals[np.arange(len(residuals)), observed[rows]] += 1.0
        combined = self._combined(residuals)
        return np.asarray((self.curves[rows][:, :, None] * combined[:, None, :]).reshape(len(combined), -1))

    def sums(self, drawn: np.ndarray) -> np.ndarray:
        from scipy.sparse import csr_array

        (m, n), n_classes = drawn.shape, self.probabilities.shape[1]
        places = (drawn + n_classes * np.arange(m)[:, None]).ravel()
        rows = np.broadcast_to(np.arange(n), (m, n)).ravel()
        chosen = csr_array((np.ones(m * n), (places, rows)), shape=(m * n_classes, n))
        totals = (chosen @ self.curves).reshape(m, n_classes, -1) - self.probabilities.T @ self.curves
        return np.asarray(self._combined(np.swapaxes(totals, 1, 2)).reshape(m, -1).T)

    @cached_property
    def units(self) -> Units:
        p = self.probabilities
        if self.combinations.ndim == 1:
            squares = p * (1.0 - p) * self.combinations**2
            cubes = p * (1.0 - p) * (1.0 - 2.0 * p) * self.combinations**3
        else:
            first, second, third = (p @ self.combinations**power for power in (1, 2, 3))
            squares, cubes = second - first**2, third - 3.0 * second * first + 2.0 * first**3
        return Units((self.curves**2).T.dot(squares).ravel(), (self.curves**3).T.dot(cubes).ravel())

    def row_squares(self, rows: np.ndarray) -> np.ndarray:
        p = self.probabilities[rows]
        if self.combinations.ndim == 1:
            squares = p * (1.0 - p) * self.combinations**2
        else:
            squares = p @ self.combinations**2 - (p @ self.combinations) ** 2
        return np.asarray((self.curves[rows][:, :, None] ** 2 * squares[:, None, :]).reshape(len(p), -1))

    def fourths(self) -> np.ndarray:
        p = self.probabilities
        if self.combinations.ndim == 1:
            variances = p * (1.0 - p)
            fourths = variances * (1.0 - 3.0 * variances) * self.combinations**4
        else:
            first, second, third, fourth = (p @ self.combinations**power for power in (1, 2, 3, 4))
            fourths = fourth - 4.0 * third * first + 6.0 * second * first**2 - 3.0 * first**4
        return np.asarray((self.curves**4).T.dot(fourths).ravel())

    def _combined(self, residuals: np.ndarray) -> np.ndarray:
        """Combinations (..., m) of residuals (..., K)."""
        return np.asarray(
            residuals * self.combinations if self.combinations.ndim == 1 else residuals @ self.combinations
        )


@dataclass(frozen=True, eq=False)
class JoinedFeatures:
    """Features of several shapes, side by side."""

    parts: tuple[ClassFeatures, ...]

    def of_rows(self, observed: np.ndarray, rows: slice) -> np.ndarray:
        return np.concatenate([part.of_rows(observed, rows) for part in self.parts], axis=1)

    def sums(self, drawn: np.ndarray) -> np.ndarray:
        return np.concatenate([part.sums(drawn) for part in self.parts])

    @cached_property
    def units(self) -> Units:
        squares, cubes = zip(*(part.units for part in self.parts), strict=True)
        return Units(np.concatenate(squares), np.concatenate(cubes))

    def row_squares(self, rows: np.ndarray) -> np.ndarray:
        return np.concatenate([part.row_squares(rows) for part in self.parts], axis=1)

    def fourths(self) -> np.ndarray:
        return np.concatenate([part.fourths() for part in self.parts])


@dataclass(frozen=True, eq=False)
class KeptFeatures:
    """Some of the features; the others are zero."""

    features: ClassFeatures
    kept: np.ndarray  # (q,), of zeros and ones

    def of_rows(self, observed: np.ndarray, rows: slice) -> np.ndarray:
        return np.asarray(self.features.of_rows(observed, rows) * self.kept)

    def sums(self, drawn: np.ndarray) -> np.ndarray:
        return np.asarray(self.features.sums(drawn) * self.kept[:, None])

    @cached_property
    def units(self) -> Units:
        return Units(*(part * self.kept for part in self.features.units))

    def row_squares(self, rows: np.ndarray) -> np.ndarray:
        return np.asarray(self.features.row_squares(rows) * self.kept)

    def fourths(self) -> np.ndarray:
        return np.asarray(self.features.fourths() * self.kept)


def without_rare(features: ClassFeatures, least: float, labels: np.ndarray | None) -> KeptFeatures:
    """Return the features whose sums rest on so many rows, at least: (sum of E f^2)^2 / sum of E f^4.

    Random signs keep the size of each feature. Where predictions are nearly certain, features are small and of one sign
    in all rows but a few; where these few did not occur, signs take the rest for a bias. Rows of a cluster, by the
    `labels` (n,), share a sign: their products of squares come to the fourth powers, so that rows which are alike in
    it count as one.
    """
    squares = features.units.squares
    fourths = features.fourths() + (0.0 if labels is None else _products_in_clusters(features, labels))
    return KeptFeatures(features, (squares**2 >= least * fourths) * (squares > 0) * 1.0)


def _products_in_clusters(features: ClassFeatures, labels: np.ndarray) -> np.ndarray:
    """Return sums of E f_i^2 E f_j^2 over pairs i != j of rows of the same cluster, (q,)."""
    order = np.argsort(labels, kind="stable")
    starts = np.flatnonzero(np.diff(labels[order], prepend=-1))
    ends = np.append(starts[1:], len(labels))
    total = np.zeros(len(features.units.squares))
    step = max(1, _NUMBERS_AT_ONCE * len(starts) // (len(labels) * max(1, len(total))))  # clusters
    for first in range(0, len(starts), step):
        part = slice(first, first + step)
        found = features.row_squares(order[starts[first] : ends[part][-1]])
        sums = np.add.reduceat(found, starts[part] - starts[first], axis=0)
        total += np.sum(sums**2, axis=0) - np.sum(found**2, axis=0)
    return total


def centred(probabilities: np.ndarray, values: np.ndarray) -> np.ndarray:
    """Return numbers (n, K) for the classes less their expectations under the probabilities; rounding becomes zero."""
    found = values - np.sum(probabilities * values, axis=1, keepdims=True)
    return np.where(np.abs(found) > _ROUNDING * np.max(np.abs(values), initial=1.0), found, 0.0)
