r"""Random Fourier features of H: their cost grows as n, and the mean of their products over frequencies is H.

A Gaussian kernel is the mean of cos(w.(x_i - x_j)) = cos(w.x_i) cos(w.x_j) + sin(w.x_i) sin(w.x_j) over w ~ N(0, I)
(Rahimi and Recht, 2007). With the Stein operator on the targets, in units of x = y / sigma, each frequency gives 2 d
features; those of cosines are s_a cos(w.x) - (w_a / sigma) sin(w.x). For any frequencies, the features have mean zero
if the predictions are calibrated: few frequencies reduce power, but the test keeps its level.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import reduce
from typing import Any

import numpy as np

from .._lib.arrays import Array, array_namespace, full_product, like
from ..kernels.gram import EmbeddingGram
from ..pairwise import Features, PairFunction, Product, ProductOfPairs, Remembered, SumOfPairs
from .stein import GaussianStein

OfRows = Callable[[slice], Array]


@dataclass(frozen=True, eq=False)
class SteinRows:
    """What H of Gaussian kernels is made of, for blocks of rows: in low rank no block needs any other.

    `of_rows` gives the points between which the Gaussian kernel is evaluated, in units of its bandwidths, (rows, p),
    with the targets in the last columns, and the scores (rows, d). `bandwidth` is that of the targets.
    """

    of_rows: Callable[[slice], tuple[Array, Array]]
    n_columns: int
    bandwidth: Array


def low_rank(function: PairFunction | SteinRows, n_frequencies: int, rng: np.random.Generator) -> Features:
    """Return features whose inner products are H, on average over the frequencies."""

    def features(part: Any) -> OfRows:
        if isinstance(part, GaussianStein):
            points, scores = part.features, part.scores
            part = SteinRows(lambda rows: (points[rows, :], scores[rows, :]), points.shape[1], part.bandwidth)
        if isinstance(part, SteinRows):
            return stein_waves(part, rng.standard_normal((part.n_columns, n_frequencies)))
        if isinstance(part, EmbeddingGram) and part.outer == "gaussian":
            return _waves(part.features, rng.standard_normal((part.features.shape[1], n_frequencies)))
        if isinstance(part, EmbeddingGram) and part.outer == "linear":
            return lambda rows: part.features[rows, :]
        if isinstance(part, Product) and part.left is part.right:
            return lambda rows: part.left[rows, :]
        if isinstance(part, Remembered):
            return features(part.function)
        if isinstance(part, ProductOfPairs):
            factors = [features(each) for each in part.functions]
            return lambda rows: reduce(_row_by_row, (factor(rows) for factor in factors))
        if isinstance(part, SumOfPairs):
            terms = [features(each) for each in part.functions]
            return lambda rows: array_namespace(first := terms[0](rows)).concat(
                [first, *(term(rows) for term in terms[1:])], axis=1
            )
        raise TypeError(
            "`estimator='low-rank'` is for `kccsd_test`, `kcsd_test`, `ksd_test` and `calibration_test` with Gaussian "
            "kernels: `kernels.Gaussian` between targets and, between predictions, `GFD`, `KGFD`, `Wasserstein` or a "
            "kernel of your own whose distance is `kernels.Euclidean`, with `outer='gaussian'`. Use another estimator, "
            "or these kernels."
        )

    return Features(features(function))


def _waves(points: Array, frequencies: np.ndarray) -> OfRows:
    xp, w, root = array_namespace(points), like(frequencies, points), frequencies.shape[1] ** 0.5

    def features(rows: slice) -> Array:
        phase = full_product(points[rows, :], w)
        return xp.concat([xp.cos(phase), xp.sin(phase)], axis=1) / root

    return features


def stein_waves(stein: SteinRows, frequencies: np.ndarray) -> OfRows:
    """Return the features by these frequencies, (p, R)."""
    root = frequencies.shape[1] ** 0.5

    def features(rows: slice) -> Array:
        points, scores = stein.of_rows(rows)
        xp, w, d = array_namespace(points), like(frequencies, points), scores.shape[1]
        slopes = w[-d:, :] / stein.bandwidth  # the targets are the last columns of the points
        phase = full_product(points, w)
        cosine, sine, score = xp.cos(phase)[:, None, :] / root, xp.sin(phase)[:, None, :] / root, scores[:, :, None]
        both = xp.concat([score * cosine - slopes * sine, score * sine + slopes * cosine], axis=2)
        return xp.reshape(both, (points.shape[0], -1))

    return features


def _row_by_row(left: Array, right: Array) -> Array:
    """Products of each feature of `left` with each feature of `right`, in the same row."""
    xp = array_namespace(left)
    return xp.reshape(left[:, :, None] * right[:, None, :], (left.shape[0], -1))
