r"""Random Fourier features of H: their cost grows as n, and the mean of their products over frequencies is H.

A Gaussian kernel is the mean of cos(w.(x_i - x_j)) = cos(w.x_i) cos(w.x_j) + sin(w.x_i) sin(w.x_j) over w ~ N(0, I)
(Rahimi and Recht, 2007). With the Stein operator on the targets, in units of x = y / sigma, each frequency gives 2 d
features; those of cosines are s_a cos(w.x) - (w_a / sigma) sin(w.x). For any frequencies, the features have mean zero
if the predictions are calibrated: few frequencies reduce power, but the test keeps its level.
"""

from collections.abc import Callable
from functools import reduce
from typing import Any

import numpy as np

from .._lib.arrays import Array, array_namespace, full_product, like
from ..kernels.gram import EmbeddingGram
from ..pairwise import Features, PairFunction, Product, ProductOfPairs, Remembered, SumOfPairs
from .stein import GaussianStein

_OfRows = Callable[[slice], Array]


def low_rank(function: PairFunction, n_frequencies: int, rng: np.random.Generator) -> Features:
    """Return features whose inner products are H, on average over the frequencies."""

    def features(part: Any) -> _OfRows:
        if isinstance(part, GaussianStein):
            return _stein(part, rng.standard_normal((part.features.shape[1], n_frequencies)))
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


def _waves(points: Array, frequencies: np.ndarray) -> _OfRows:
    xp, w, root = array_namespace(points), like(frequencies, points), frequencies.shape[1] ** 0.5

    def features(rows: slice) -> Array:
        phase = full_product(points[rows, :], w)
        return xp.concat([xp.cos(phase), xp.sin(phase)], axis=1) / root

    return features


def _stein(stein: GaussianStein, frequencies: np.ndarray) -> _OfRows:
    points, scores = stein.features, stein.scores
    xp, d, root = array_namespace(points), scores.shape[1], frequencies.shape[1] ** 0.5
    w = like(frequencies, points)
    slopes = w[-d:, :] / stein.bandwidth  # the targets are the last columns of the points

    def features(rows: slice) -> Array:
        phase = full_product(points[rows, :], w)
        cosine, sine, score = xp.cos(phase)[:, None, :], xp.sin(phase)[:, None, :], scores[rows, :, None]
        both = xp.concat([score * cosine - slopes * sine, score * sine + slopes * cosine], axis=2)
        return xp.reshape(both, (rows.stop - rows.start, -1)) / root

    return features


def _row_by_row(left: Array, right: Array) -> Array:
    """Products of each feature of `left` with each feature of `right`, in the same row."""
    xp = array_namespace(left)
    return xp.reshape(left[:, :, None] * right[:, None, :], (left.shape[0], -1))
