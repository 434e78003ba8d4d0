"""From views to what the engine averages: features of rows, or a function of pairs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from .._lib.arrays import Array, array_namespace, check_finite
from ..kernels import Radial
from ..kernels.bandwidth import resolve_bandwidth
from ..kernels.distances import Euclidean
from ..kernels.gram import distribution_gram
from ..pairwise.products import Product
from ..resampling import Features, PairFunction
from ..statistics import ProductOfPairs, cast_gram, stein_pairs, sufficient_dtype
from .frame import Space
from .view import Gain, Shares, Traits, View

__all__ = ["function_of"]


def function_of(
    view: View, space: Space, reference: Array, rng: np.random.Generator
) -> tuple[PairFunction | Features, dict[str, Any]] | None:
    """The function and its bandwidths; None where predictions are too much alike for the view."""
    if not view.finite_rank:
        return _pairs(view, space, reference, rng)
    kernel = view.distribution_kernel
    if isinstance(kernel, Traits) and space.traits.shape[1] == 0:
        return None
    if isinstance(kernel, Gain) and space.alike:
        return None
    return Features(_features(view, space), view.largest, unskewed=True), {}


def _features(view: View, space: Space) -> Callable[[slice], Array]:
    """Averaged over draws of noise or over components, times what the kernel between predictions makes of each row."""
    traits = space.traits if isinstance(view.distribution_kernel, Traits) else None
    directions = space.directions[view.coordinates] if isinstance(view.distribution_kernel, Gain) else None
    surplus = space.surplus if isinstance(view.target_kernel, Shares) else None
    targets, scores, shares = space.at(view.coordinates)
    xp = array_namespace(targets)

    def features(rows: slice) -> Array:
        n_rows = rows.stop - rows.start
        parts = [surplus[rows, :]] if surplus is not None else _parts(view, targets, scores, shares, rows)
        mean: Array = sum(parts)
        check_finite(f"features of view {view.name!r}", mean, f"Rows are counted from {rows.start}.")
        if traits is not None:
            return xp.reshape(traits[rows, :, None] * mean[:, None, :], (n_rows, -1))
        return mean if directions is None else xp.sum(mean * directions[rows, :], axis=1, keepdims=True)

    return features


def _parts(view: View, targets: Array, scores: Array, shares: Array, rows: slice) -> list[Array]:
    """The view's own features of a block of rows, of each draw or component, by its share."""
    test_functions: Any = view.target_kernel
    parts = []
    for k in range(targets.shape[0]):
        part = test_functions.features(targets[k, rows, :], scores[k, rows, :])
        shape = tuple(getattr(part, "shape", ()))
        if len(shape) != 2 or shape[0] != rows.stop - rows.start:
            raise ValueError(
                f"`features(targets, scores)` of view {view.name!r} must return an array (n, q), a row for each row of "
                f"targets and scores (which come a block of rows at a time), but for {rows.stop - rows.start} rows "
                f"returned {f'shape {shape}' if hasattr(part, 'shape') else type(part).__name__}."
            )
        parts.append(part * shares[k, rows, :])
    return parts


def _pairs(view: View, space: Space, reference: Array, rng: np.random.Generator) -> tuple[PairFunction, dict[str, Any]]:
    """H = k(P_i, P_j) h(y_i, y_j), with predictions compared in the frame."""
    xp = array_namespace(reference)
    targets, scores = (part[0, ...] for part in space.at(view.coordinates)[:2])
    predictions = space.predictions if view.coordinates == "natural" else space.framed
    between: Any = view.distribution_kernel
    gram, bandwidths = distribution_gram(between, predictions, scores, rng)
    kernel: Any = view.target_kernel
    kept = None if view.coordinates == "natural" else space.kept
    if isinstance(kernel, Radial):
        width = resolve_bandwidth(kernel.bandwidth, Euclidean(targets), targets)
        narrow = xp.astype(targets, reference.dtype, copy=False)
        dtype = sufficient_dtype(narrow, xp.astype(width, reference.dtype), [cast_gram(gram, reference.dtype)])
        targets, scores, width = (xp.astype(part, dtype, copy=False) for part in (targets, scores, width))
        bandwidths = {"target": width, **bandwidths}
        pairs: PairFunction = stein_pairs(targets, scores, kernel, width, cast_gram(gram, dtype))
        if kept is not None:
            kept = xp.astype(kept, dtype, copy=False)
            pairs = ProductOfPairs((pairs, Product(kept, kept)))
        return pairs, bandwidths
    features = kernel.features(targets, scores)
    if kept is not None:
        features = features * kept
    return ProductOfPairs((Product(features, features), gram)), bandwidths
