"""The context of the views: sums over all predictions that add up over batches, and what follows from them.

Given this, all that views of rows in no order need of a row follows from that row alone.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import reduce
from operator import add
from typing import Any

import numpy as np
from array_api_compat import is_numpy_array

from .._lib.arrays import Array, array_namespace, as_float, device_of, full_product, like, to_numpy
from .._lib.cached import cached_property
from .._lib.cores import cpu_count
from .._lib.dimensions import N_MIXTURES, are_many, mixtures_of
from .._lib.linalg import log_spreads, times
from ..coordinates.average import MomentSums, average_frame, moment_sums
from ..coordinates.location_spread import location_and_spread
from ..coordinates.mapped import Affine
from ..coordinates.whiten import Whitening
from ..parallel.threads import in_threads
from ..predictions import GaussianMixture, part_of
from ..resampling.tiles import blocks_of
from .ranks import legendre_curves, ranks_among
from .sample import RowSample, sample_of

Located = tuple[Array, Array, np.ndarray]
_ROWS_AT_ONCE = 2**16
_ROUNDING = 1e-6  # curves with a mean square of less do not vary
CURVES = (2, 3, 4)  # their orders; linear functions are among the traits


@dataclass(frozen=True, eq=False)
class FrameSums:
    """Sums over predictions; columns are their locations in each dimension and the logarithm of their spread."""

    moments: MomentSums
    log_mean: float  # of the logarithms of the spreads, and their scatter about it
    log_scatter: float
    low: np.ndarray  # (d + 1,), least and largest number of each column
    high: np.ndarray
    sample: RowSample  # of the columns, and of the covariances, (d (d + 1) / 2) numbers each, or variances
    n_fitted: int
    shares: Array | None = None  # of mixtures: variances (K,) of the numbers of targets in each component

    def __add__(self, other: FrameSums) -> FrameSums:
        moments, gap = self.moments + other.moments, other.log_mean - self.log_mean
        share = other.moments.n / moments.n
        return FrameSums(
            moments,
            self.log_mean + share * gap,
            self.log_scatter + other.log_scatter + self.moments.n * share * gap**2,
            np.minimum(self.low, other.low),
            np.maximum(self.high, other.high),
            self.sample + other.sample,
            self.n_fitted + other.n_fitted,
            None if self.shares is None else self.shares + other.shares,
        )


def context_sums(predictions: Any, reference: Array, located: Located | None = None, first: int = 0) -> FrameSums:
    """Return the sums over predictions, of which the first is that of row number `first`.

    `located` is what `location_and_spread` gives of them, if it is known already; otherwise it is found for a block of
    rows at a time.
    """
    if located is not None:
        return _sums(predictions, located, first)

    def of_block(rows: slice) -> FrameSums:
        some: Any = part_of(predictions, rows)
        return _sums(some, location_and_spread(some, reference[rows, :]), first + rows.start)

    blocks = blocks_of(reference.shape[0], _ROWS_AT_ONCE)
    return reduce(add, in_threads(of_block, blocks, cpu_count() if is_numpy_array(reference) else 1))


def _sums(predictions: Any, located: Located, first: int) -> FrameSums:
    location, covariance, unfitted = located
    weights = predictions.weights if isinstance(predictions, GaussianMixture) else None
    xp, spread = array_namespace(location), log_spreads(covariance)
    mean = as_float(xp.mean(spread))
    columns = to_numpy(xp.concat([location, spread[:, None]], axis=1)).astype(np.float64)
    numbers = _numbers(to_numpy(covariance).astype(np.float64), columns.shape[1] - 1)
    return FrameSums(
        moment_sums(location, covariance),
        mean,
        as_float(xp.sum((spread - mean) ** 2)),
        np.min(columns, axis=0),
        np.max(columns, axis=0),
        sample_of(np.concatenate([columns, numbers], axis=1), first),
        int(np.sum(~unfitted)),
        None if weights is None else xp.sum(weights * (1.0 - weights), axis=0),
    )


def _numbers(covariances: np.ndarray, d: int) -> np.ndarray:
    """The numbers that differ of covariances (n, d, d); of diagonal ones, (n, d) or (n, 1), the diagonal."""
    if covariances.ndim == 2:
        return np.broadcast_to(covariances, (len(covariances), d))
    return np.asarray(covariances[:, *np.tril_indices(d)])


def few_of(location: Array) -> Array:
    """Return locations (n, d), or of many dimensions a few sums of these, (n, N_MIXTURES)."""
    d = location.shape[1]
    return full_product(location, like(mixtures_of(d, N_MIXTURES), location)) if are_many(d) else location


@dataclass(frozen=True, eq=False)
class FrameContext:
    """What follows from the sums: of an average prediction, and of ranks among all."""

    sums: FrameSums
    rounding: float  # what varies by less, in units of the frame, does not vary

    @property
    def n(self) -> int:
        return self.sums.moments.n

    @cached_property
    def average(self) -> Affine:
        """Frame of an average prediction."""
        return average_frame(self.sums.moments)

    @cached_property
    def sd(self) -> Array:
        """Standard deviations (d,) of a draw from a random prediction."""
        total = self.sums.moments.total
        xp = array_namespace(total)
        return xp.sqrt(total if total.ndim == 1 else xp.linalg.diagonal(total))

    @cached_property
    def location_size(self) -> float:
        """Root mean square of locations in the frame."""
        inverse, moments = self.average.inverse_root, self.sums.moments
        xp = array_namespace(inverse)
        if inverse.ndim == 1:
            return float(as_float(xp.mean(inverse**2 * moments.scatter / self.n)) ** 0.5)
        scatter = full_product(inverse, moments.scatter / self.n, inverse.mT)
        return float(max(as_float(xp.mean(xp.linalg.diagonal(scatter))), 0.0) ** 0.5)

    @cached_property
    def sampled(self) -> tuple[Array, Array]:
        """Locations (k, d) and covariances (k, d, d), or variances (k, d), of some of the predictions, in the frame."""
        mean, values = self.sums.moments.mean, self.sums.sample.values
        d, inverse = mean.shape[0], self.average.inverse_root
        if inverse.ndim == 1:
            location, variances = (like(part, mean) for part in (values[:, :d], values[:, d + 1 :]))
            return self.average.inverse(location), variances * inverse**2
        covariances = np.zeros((len(values), d, d))
        rows, columns = np.tril_indices(d)
        covariances[:, rows, columns] = covariances[:, columns, rows] = values[:, d + 1 :]
        return self.average.inverse(like(values[:, :d], mean)), full_product(
            inverse, like(covariances, mean), inverse.mT
        )

    @property
    def log_size(self) -> float:
        """Root mean square of the logarithms of spreads, less their mean."""
        return float((self.sums.log_scatter / self.n) ** 0.5)

    @property
    def alike(self) -> bool:
        """Whether all predictions are in the same place."""
        return self.location_size <= self.rounding

    @cached_property
    def _curves(self) -> tuple[Array, Array, Array]:
        """Sorted columns of the sample as rows, and means and sizes of their curves, (d + 1, 3); 0 for flat ones."""
        mean = self.sums.moments.mean
        columns = self.sums.sample.values[:, : mean.shape[0] + 1]
        units = np.append(to_numpy(self.average.units), 1.0)
        return _knots(columns, (self.sums.high - self.sums.low) / units > self.rounding, mean)

    @cached_property
    def _few(self) -> Array:
        """The few sums of locations in the frame, of the sample, and the logarithms of its spreads."""
        spread = like(self.sums.sample.values[:, self.sums.moments.mean.shape[0], None], self.sums.moments.mean)
        return array_namespace(spread).concat([few_of(self.sampled[0]), spread], axis=1)

    @cached_property
    def _few_curves(self) -> tuple[Array, Array, Array]:
        few = to_numpy(self._few)
        return _knots(few, np.ptp(few, axis=0) > self.rounding, self._few)

    @property
    def few_vary(self) -> np.ndarray:
        """Which curves of the few sums and of the spread vary, in a row."""
        return np.asarray(to_numpy(self._few_curves[2]) > 0).ravel()

    def of_few(self, few: Array) -> Array:
        """Return curves of the few sums of locations and of the spread (n, q), (n, q, 3)."""
        return _curves_among(self._few_curves, few)

    @cached_property
    def curved(self) -> np.ndarray:
        """Which curves vary, (d + 1, 3)."""
        return np.asarray(to_numpy(self._curves[2]) > 0)

    @property
    def varying(self) -> np.ndarray:
        """The same of all in a row, without those of locations where none varies."""
        of_locations = self.curved[:-1].ravel()
        return np.concatenate([of_locations if np.any(of_locations) else of_locations[:0], self.curved[-1]])

    def curves(self, columns: Array, some: slice) -> Array:
        """Return Legendre polynomials of order 2, 3 and 4 of the ranks of some columns, (n, q, 3).

        Each has mean 0 and mean square 1 over the sample; it is zero where the column does not vary.
        """
        return _curves_among(tuple(part[some, :] for part in self._curves), columns)

    def traits(self, location: Array, log_spread: Array) -> Array:
        """Return locations in the frame and centred log spreads, each over its root mean square, where it varies.

        Of many dimensions, locations are the few sums of these.
        """
        many = are_many(self.sums.moments.mean.shape[0])
        size = as_float(array_namespace(location).mean(self._few[:, :-1] ** 2)) ** 0.5 if many else self.location_size
        parts = ((location, size), (log_spread[:, None] - self.sums.log_mean, self.log_size))
        kept = [part / size for part, size in parts if size > self.rounding]
        return array_namespace(location).concat(kept, axis=1) if kept else location[:, :0]

    def directions(self, whitening: Whitening) -> dict[str, Array]:
        """Return locations less their mean, (n, d), where a step along them is a step of the location itself."""
        gap = whitening.location - self.average.mean
        return {
            "whitened": times(whitening.inverse_root, self.average.inverse(whitening.location)),
            "marginal": gap / self.sd,
        }


def _knots(columns: np.ndarray, varies: np.ndarray, reference: Array) -> tuple[Array, Array, Array]:
    """Sorted columns (k, q) as rows, and means and sizes of their curves, (q, 3); 0 for those that do not vary."""
    knots = like(np.sort(np.ascontiguousarray(columns.T)), reference)
    xp = array_namespace(knots)
    curves = legendre_curves(ranks_among(knots, knots.T), CURVES)
    means = xp.mean(curves, axis=0)  # with ties, ranks are not uniform
    sizes = xp.sqrt(xp.mean((curves - means) ** 2, axis=0))
    kept = xp.asarray(varies[:, None], device=device_of(sizes)) & (sizes > _ROUNDING)
    return knots, means, xp.where(kept, sizes, xp.zeros_like(sizes))


def _curves_among(known: tuple[Array, ...], columns: Array) -> Array:
    knots, means, sizes = known
    xp = array_namespace(columns)
    found = legendre_curves(ranks_among(knots, columns), CURVES) - means
    return xp.where(sizes > 0, found / xp.where(sizes > 0, sizes, xp.ones_like(sizes)), xp.zeros_like(found))
