r"""Random Fourier features of H: their cost grows as n, and the mean of their products over frequencies is H.

A radial kernel is f(0) times the mean of cos(w.(x_i - x_j)) = cos(w.x_i) cos(w.x_j) + sin(w.x_i) sin(w.x_j) over
frequencies w of its own (Rahimi and Recht, 2007): normal ones for Gaussian kernels. A product of kernels of several x
is such a mean too, with the frequencies of each drawn by themselves and one phase for all. With the Stein operator on
the targets, in units of x = y / sigma, each frequency gives 2 d features; those of cosines are
s_a cos(w.x) - (w_a / sigma) sin(w.x). For any frequencies, the features have mean zero if the predictions are
calibrated: few frequencies reduce power, but the test keeps its level. So have the features of the SKCE: waves at the
targets less their means under the predictions.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import reduce
from operator import add
from typing import Any, NamedTuple

import numpy as np

from .._lib.arrays import Array, array_namespace, full_product, like
from ..kernels.gram import DistanceGram, EmbeddingGram
from ..kernels.landmarks import landmark_embedding
from ..kernels.mean_embeddings import GaussianMeasures, PointMeasures
from ..kernels.radial import IMQ, Gaussian, Radial
from ..pairwise import Features, PairFunction, Product, ProductOfPairs, Remembered, SumOfPairs
from .stein import GaussianStein, RadialStein

OfRows = Callable[[slice], Array]
_LANDMARKS_PER_FREQUENCY = 2
_OUTER: dict[str, Radial] = {"gaussian": Gaussian(), "imq": IMQ(beta=-1.0)}  # 1 / (1 + t)


_WITH_TARGETS = RadialStein | GaussianMeasures | PointMeasures


class NoLowRankError(TypeError):
    """There are no random features for some part of a statistic."""


class _Points(NamedTuple):
    """Rows between which a radial kernel is evaluated, `width` numbers each, in units of its bandwidth."""

    of_rows: OfRows
    width: int
    kernel: Radial
    reference: Array


@dataclass(frozen=True, eq=False)
class SteinRows:
    """Points and scores that make H of Gaussian kernels, for blocks of rows: in low rank no block needs any other.

    `of_rows` gives the points between which the Gaussian kernel is evaluated, in units of its bandwidths, (rows, p),
    with the targets in the last columns, and the scores (rows, d). `bandwidth` is that of the targets.
    """

    of_rows: Callable[[slice], tuple[Array, Array]]
    n_columns: int
    bandwidth: Array


def low_rank(function: PairFunction | SteinRows, n_frequencies: int, rng: np.random.Generator) -> Features:
    """Return features whose inner products are H, on average over the frequencies."""

    def features(part: Any) -> OfRows:
        if isinstance(part, SteinRows):
            return stein_waves(part, rng.standard_normal((part.n_columns, n_frequencies)))
        if isinstance(part, ProductOfPairs | GaussianStein | _WITH_TARGETS):
            return product(_factors(part))
        if isinstance(part, EmbeddingGram | DistanceGram) and part.outer != "linear":
            return product([part])
        if isinstance(part, EmbeddingGram):
            return part.features
        if isinstance(part, Product) and part.left is part.right:
            return lambda rows: part.left[rows, :]
        if isinstance(part, Remembered):
            return features(part.function)
        if isinstance(part, SumOfPairs):
            terms = [features(each) for each in part.functions]
            return lambda rows: array_namespace(first := terms[0](rows)).concat(
                [first, *(term(rows) for term in terms[1:])], axis=1
            )
        raise NoLowRankError(
            "`estimator='low-rank'` is for kernels with random features, and not for operator-valued ones: "
            f"{type(part).__name__} has none. Use another estimator."
        )

    def product(factors: list[Any]) -> OfRows:
        """Features of a product: one wave for all its radial kernels, times what else there is."""
        points = [_points(each, n_frequencies, rng) for each in factors]
        waves = [each for each in points if each is not None]
        own = next((each for each in factors if isinstance(each, _WITH_TARGETS)), None)
        others = [
            each for each, as_points in zip(factors, points, strict=True) if as_points is None and each is not own
        ]
        found = [features(each) for each in others]
        if waves or own is not None:
            found.insert(0, _waves(waves, own, n_frequencies, rng))
        return lambda rows: reduce(_row_by_row, (factor(rows) for factor in found))

    return Features(features(function))


def has_random_features(function: PairFunction) -> bool:
    """Return whether H has random features."""
    try:
        low_rank(function, 1, np.random.default_rng(0))
    except NoLowRankError:
        return False
    return True


def _factors(part: Any) -> list[Any]:
    """The factors of a product, flat, with the kernel of targets behind the one between predictions."""
    if isinstance(part, GaussianStein):
        return [part.gram, RadialStein(part.targets, part.scores, part.bandwidth, Gaussian())]
    if isinstance(part, Remembered):
        return _factors(part.function)
    if not isinstance(part, ProductOfPairs):
        return [part]
    found = reduce(add, (_factors(each) for each in part.functions))
    return sorted(found, key=lambda each: isinstance(each, _WITH_TARGETS))


def _points(part: Any, n_frequencies: int, rng: np.random.Generator) -> _Points | None:
    """Return the points of a radial kernel; None for other functions."""
    if isinstance(part, RadialStein):
        targets, width = part.targets, part.bandwidth
        return _Points(lambda rows: targets[rows, :] / width, targets.shape[1], part.kernel, targets)
    if isinstance(part, EmbeddingGram) and part.outer != "linear":
        outer = part.outer if isinstance(part.outer, Radial) else _OUTER[part.outer]
        return _Points(part.features, part.embedding.shape[1], outer, part.embedding)
    if isinstance(part, DistanceGram):
        unit = part.bandwidth
        embedding, width = landmark_embedding(part.distance, _LANDMARKS_PER_FREQUENCY * n_frequencies, unit, rng)
        return _Points(lambda rows: embedding(rows) / unit, width, _OUTER[part.outer], unit)
    return None


def _waves(points: list[_Points], own: Any, n_frequencies: int, rng: np.random.Generator) -> OfRows:
    """Features of the product of all the kernels.

    The last points are those of the Stein kernel, if this is what is `own` to each target; or it is a measure.
    """
    measure: Any = own if isinstance(own, GaussianMeasures | PointMeasures) else None
    reference = points[-1].reference if measure is None else measure.bandwidth
    drawn = [each.kernel.frequencies(each.width, n_frequencies, rng) for each in points]
    frequencies = [like(w, reference) for w in drawn]
    kernels = [each.kernel for each in points]
    if measure is not None:
        kernels.append(measure.kernel)
        of_measure = like(measure.kernel.frequencies(measure.dim, n_frequencies, rng), reference)
    size = float(np.prod([each.at_zero for each in kernels]) / n_frequencies) ** 0.5
    xp = array_namespace(reference)

    def phase(rows: slice) -> Array:
        blocks = (xp.astype(each.of_rows(rows), reference.dtype, copy=False) for each in points)
        return reduce(add, (full_product(block, w) for block, w in zip(blocks, frequencies, strict=True)))

    def features_of_measure(rows: slice) -> Array:
        """The product of exp(i phase) with the mean of exp(i w.X), real and imaginary part."""
        cosine, sine = measure.waves(rows, of_measure)
        if points:
            angle = phase(rows)
            c, s = xp.cos(angle), xp.sin(angle)
            cosine, sine = c * cosine - s * sine, c * sine + s * cosine
        return xp.concat([cosine, sine], axis=1) * size

    if measure is not None:
        return features_of_measure
    if own is None:
        return lambda rows: _both(phase(rows)) * size
    scores, slopes = own.scores, frequencies[-1] / own.bandwidth

    def features(rows: slice) -> Array:
        return _waves_of(phase(rows), scores[rows, :], slopes, size)

    return features


def stein_waves(stein: SteinRows, frequencies: np.ndarray) -> OfRows:
    """Return the features by these frequencies, (p, R)."""

    def features(rows: slice) -> Array:
        points, scores = stein.of_rows(rows)
        w = like(frequencies, points)
        slopes = w[-scores.shape[1] :, :] / stein.bandwidth  # the targets are the last columns of the points
        return _waves_of(full_product(points, w), scores, slopes, frequencies.shape[1] ** -0.5)

    return features


def _waves_of(angle: Array, scores: Array, slopes: Array, size: float) -> Array:
    """The Stein operator on waves of these phases (rows, R), (rows, d 2R)."""
    xp = array_namespace(angle)
    cosine, sine, score = xp.cos(angle)[:, None, :] * size, xp.sin(angle)[:, None, :] * size, scores[:, :, None]
    both = xp.concat([score * cosine - slopes * sine, score * sine + slopes * cosine], axis=2)
    return xp.reshape(both, (angle.shape[0], -1))


def _both(phase: Array) -> Array:
    xp = array_namespace(phase)
    return xp.concat([xp.cos(phase), xp.sin(phase)], axis=1)


def _row_by_row(left: Array, right: Array) -> Array:
    """Products of each feature of `left` with each feature of `right`, in the same row."""
    xp = array_namespace(left)
    return xp.reshape(left[:, :, None] * right[:, None, :], (left.shape[0], -1))
