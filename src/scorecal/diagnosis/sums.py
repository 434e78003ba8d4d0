r"""Sizes of errors from sums over rows, for rows that come in batches.

In a first pass, sums of residuals and of their products give the sizes. In a second one, each row is left out of these
sums in turn: sums of powers of what that changes give standard errors, as if all influences were held in memory.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from .estimates import coefficient_of, direction_of, log_ratio_of, mean_of
from .residuals import Residuals, residuals_of
from .sizes import Sizes, errors_from_moments

_SEED = 0  # of the halves in which a direction is found and measured
_POWERS = (1, 2, 3, 4)


@dataclass(frozen=True, eq=False)
class HalfSums:
    """Number of rows, and sums of whitened residuals and of their products, of one half of the rows."""

    n: int
    sum: np.ndarray  # (d,)
    products: np.ndarray  # (d, d)

    @property
    def covariance(self) -> np.ndarray:
        """Covariance of the residuals."""
        n = max(self.n, 2)
        return np.asarray((self.products - self.sum[:, None] * self.sum / n) / (n - 1))

    def __add__(self, other: HalfSums) -> HalfSums:
        return HalfSums(self.n + other.n, self.sum + other.sum, self.products + other.products)


@dataclass(frozen=True, eq=False)
class ResidualSums:
    """Sums of residuals of each dimension, of their products, and of the correlations that are claimed."""

    sum: np.ndarray  # (d,)
    products: np.ndarray  # (d, d)
    claimed: np.ndarray  # (d, d)
    plain: np.ndarray  # (d,)
    seek: HalfSums  # in which the worst direction is found, and in which its ratio is measured
    measure: HalfSums
    source: str
    coordinates: str

    def __add__(self, other: ResidualSums) -> ResidualSums:
        return ResidualSums(
            self.sum + other.sum,
            self.products + other.products,
            self.claimed + other.claimed,
            self.plain + other.plain,
            self.seek + other.seek,
            self.measure + other.measure,
            self.source,
            self.coordinates,
        )

    @property
    def n(self) -> int:
        return self.seek.n + self.measure.n


def residual_sums(predictions: Any, y: Any, first: int) -> ResidualSums:
    """Return the sums of a batch whose first row has the number `first`."""
    found = residuals_of(predictions, y, np.random.default_rng(_SEED))
    e, w, seek = found.marginal, found.whitened, seeks(found, first)
    one, two = (HalfSums(len(part), np.sum(part, axis=0), part.T @ part) for part in (w[seek], w[~seek]))
    plain = np.sum(found.plain_marginal, axis=0)
    claimed = np.sum(found.expected_marginal, axis=0)
    return ResidualSums(np.sum(e, axis=0), e.T @ e, claimed, plain, one, two, found.source, found.coordinates)


def seeks(found: Residuals, first: int) -> np.ndarray:
    """Return which rows are of the half in which the worst direction is found: a random bit for each row number."""
    source = np.random.PCG64(_SEED).advance(first)
    bits = source.random_raw(int(found.rows[-1]) + 1 if len(found.rows) else 0) >> np.uint64(63)
    return np.asarray(bits[found.rows] == 1)


@dataclass(frozen=True, eq=False)
class _Terms:
    """Sizes that are functions of sums: the function, the sums over all rows (K, q), and what is expected."""

    function: Any
    total: np.ndarray
    expected: np.ndarray
    back: Any = np.asarray


@dataclass(frozen=True, eq=False)
class Family:
    """All sizes over all rows, as functions of the sums of the first pass."""

    sums: ResidualSums
    weights: np.ndarray = field(init=False)  # of the worst direction
    terms: tuple[_Terms, ...] = field(init=False)

    def __post_init__(self) -> None:
        seek = self.sums.seek
        weights = direction_of(np.eye(len(seek.sum)), seek.covariance, seek.n)
        object.__setattr__(self, "weights", weights)
        object.__setattr__(self, "terms", _terms_of(self.sums, np.nan_to_num(weights)))

    def influences(self, found: Residuals, first: int) -> np.ndarray:
        """Return what leaving out each row of a batch changes in each size, (rows, K)."""
        measured = ~seeks(found, first)
        parts = _features_of(found, np.nan_to_num(self.weights))
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            changes = [
                terms.function(terms.total - part) - terms.function(terms.total)
                for terms, part in zip(self.terms, parts, strict=True)
            ]
        changes[_ALONG] = np.where(measured[:, None], changes[_ALONG], 0.0)
        return np.concatenate([*changes, np.ones((len(measured), 1)), measured[:, None]], axis=1)


_BIASES, _RATIOS, _BIAS, _RATIO, _CORRELATIONS, _ALONG, _PLAIN = range(7)


def _terms_of(sums: ResidualSums, weights: np.ndarray) -> tuple[_Terms, ...]:
    n, d = float(sums.n), len(sums.sum)
    both, (a, b) = sums.seek + sums.measure, np.triu_indices(d, 1)
    squares = np.diag(sums.products)
    scale = np.sqrt(np.diag(sums.claimed))
    with np.errstate(divide="ignore", invalid="ignore"):
        claimed = np.arctanh(sums.claimed[a, b] / (scale[a] * scale[b]))
    m, part = float(sums.measure.n), sums.measure
    along = [m, weights @ part.products @ weights, m * weights @ weights, weights @ part.sum]
    ns, pairs = np.full(d, n), np.full(len(a), n)
    of_pairs = (pairs, sums.sum[a], sums.sum[b], squares[a], squares[b], sums.products[a, b])
    return (
        _Terms(mean_of, np.stack([ns, sums.sum], axis=1), np.zeros(d)),
        _Terms(log_ratio_of, np.stack([ns, squares, np.diag(sums.claimed), sums.sum], axis=1), np.zeros(d), np.exp),
        _Terms(mean_of, np.array([[n, np.mean(sums.sum)]]), np.zeros(1)),
        _Terms(log_ratio_of, np.array([[n, np.trace(both.products), n * d, *both.sum]]), np.zeros(1), np.exp),
        _Terms(coefficient_of, np.stack(of_pairs, axis=1), claimed, np.tanh),
        _Terms(log_ratio_of, np.array([along]), np.zeros(1), np.exp),
        _Terms(mean_of, np.stack([ns, sums.plain], axis=1), np.zeros(d)),
    )


def _features_of(found: Residuals, weights: np.ndarray) -> list[np.ndarray]:
    """Return what each row adds to the sums of each of the terms, (rows, K, q)."""
    e, w, plain = found.marginal, found.whitened, found.plain_marginal
    wanted, (a, b) = np.einsum("nkk->nk", found.expected_marginal), np.triu_indices(e.shape[1], 1)
    ones, one, mean = np.ones_like(e), np.ones((len(e), 1)), np.mean(e, axis=1, keepdims=True)
    along, pairs = (w @ weights)[:, None], np.ones((len(e), len(a)))
    trace = np.einsum("nkk->n", found.expected)[:, None]
    whole = np.concatenate([one, np.sum(w**2, axis=1, keepdims=True), trace, w], axis=1)
    return [
        np.stack([ones, e], axis=-1),
        np.stack([ones, e**2, wanted, e], axis=-1),
        np.stack([one, mean], axis=-1),
        whole[:, None, :],
        np.stack([pairs, e[:, a], e[:, b], e[:, a] ** 2, e[:, b] ** 2, e[:, a] * e[:, b]], axis=-1),
        np.stack([one, along**2, one * (weights @ weights), along], axis=-1),
        np.stack([ones, plain], axis=-1),
    ]


@dataclass(frozen=True, eq=False)
class InfluenceSums:
    """Sums of powers of what leaving out a row changes in K sizes, (4, K), and of products of two of them.

    To the sizes come a column of ones and one for the half in which a direction is measured: (K + 2, K + 2) products.
    """

    powers: np.ndarray
    products: np.ndarray

    def __add__(self, other: InfluenceSums) -> InfluenceSums:
        return InfluenceSums(self.powers + other.powers, self.products + other.products)


def influence_sums(family: Family, found: Residuals, first: int) -> InfluenceSums:
    """Return the sums over the residuals of a batch whose first row has the number `first`."""
    changes = family.influences(found, first)
    powers = np.stack([np.sum(changes[:, :-2] ** power, axis=0) for power in _POWERS])
    return InfluenceSums(powers, changes.T @ changes)


def sizes_of(family: Family, sums: InfluenceSums) -> tuple[list[Sizes], np.ndarray]:
    """Return the sizes with their standard errors, and the correlations of all of them, (K, K), NaN if untold."""
    n, counts = float(family.sums.n), _counts(family)
    means, second, third, fourth = sums.powers / counts
    central = second - means**2, third - 3 * means * second + 2 * means**3
    last = fourth - 4 * means * third + 6 * means**2 * second - 3 * means**4
    step = counts - 1.0
    below, above = errors_from_moments(counts, step**2 * central[0], -(step**3) * central[1], step**4 * last)
    found, start = [], 0
    for k, terms in enumerate(family.terms):
        stop = start + len(terms.expected)
        with np.errstate(divide="ignore", invalid="ignore"):
            values = np.asarray(terms.function(terms.total), dtype=np.float64)
        if k == _ALONG and np.any(np.isnan(family.weights)):
            values = np.full(1, np.nan)
        exact = np.isinf(values)
        low, high = (
            np.where(exact, 0.0, np.where(np.isnan(part[start:stop]), np.inf, part[start:stop]))
            for part in (below, above)
        )
        freedom = int(max(1, counts[start] - 1)) if stop > start else 1
        nothing = np.empty((0, stop - start))
        found.append(Sizes(values, terms.expected, low, high, freedom, terms.back, nothing, np.empty(0, dtype=int)))
        start = stop
    return found, _correlations(sums.products, means, counts, n)


def _counts(family: Family) -> np.ndarray:
    """Number of rows behind each size, (K,)."""
    whole, half = float(family.sums.n), float(family.sums.measure.n)
    parts = [np.full(len(terms.expected), half if k == _ALONG else whole) for k, terms in enumerate(family.terms)]
    return np.concatenate(parts)


def _correlations(products: np.ndarray, means: np.ndarray, counts: np.ndarray, n: float) -> np.ndarray:
    """Correlations of the influences, which are less their means over the rows behind each size."""
    half = counts < n
    of_ones, of_half = products[:-2, -2], products[:-2, -1]
    sums_over = np.where(half[None, :], of_half[:, None], of_ones[:, None])  # of size a over the rows of size b
    shared = np.minimum(counts[:, None], counts[None, :])
    found = products[:-2, :-2] - sums_over * means[None, :] - sums_over.T * means[:, None]
    found = found + shared * means[:, None] * means[None, :]
    scale = np.sqrt(np.diag(found))
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.asarray(found / scale[:, None] / scale)
