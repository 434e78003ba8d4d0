"""Pair functions and features from targets, scores, a kernel between targets and Gram matrices."""

from collections.abc import Mapping, Sequence
from typing import Any

from .._lib.arrays import Array, array_namespace, like
from .._lib.checks import checked_features
from ..coordinates.locate import Located
from ..kernels import FiniteRank, Radial
from ..kernels.gram import constant_gram
from ..pairwise import Features, PairFunction, Product, ProductOfPairs, Statistic, SumOfPairs
from .operator import matrix_stein
from .precision import cast_gram, sufficient_dtype
from .stein import stein_pairs


def assemble(
    targets: Array,
    scores: Array,
    kernel: Radial | FiniteRank,
    bandwidth: Array | None,
    grams: Sequence[PairFunction] = (),
    matrices: Sequence[Array] | None = None,
    *,
    dtype: Any = None,
    owner: str = "`target_kernel`",
) -> tuple[PairFunction | Features, Array]:
    """Return H, or f where no pairs are needed, and the targets in the dtype of the computation.

    H is the sum over r of k_r(P_i, P_j) times the Stein kernel of the targets, weighted by the matrix B_r where there
    are matrices. Without a Gram matrix, k is 1. `dtype` is used if it has enough digits; it defaults to that of the
    targets. Errors name the `owner` of the kernel between targets.
    """
    xp = array_namespace(targets)
    dtype = dtype or targets.dtype
    if bandwidth is None or not isinstance(kernel, Radial):
        return _finite_rank(stein_features(kernel, targets, scores, owner), targets, grams)
    grams = grams or [constant_gram(targets)]
    narrow, width = xp.astype(targets, dtype, copy=False), like(bandwidth, targets, dtype)
    dtype = sufficient_dtype(narrow, width, [cast_gram(gram, dtype) for gram in grams])
    targets, scores, width = (xp.astype(part, dtype, copy=False) for part in (targets, scores, bandwidth))
    grams = [cast_gram(gram, dtype) for gram in grams]
    if matrices is None:
        return stein_pairs(targets, scores, kernel, width, grams[0]), targets
    terms = zip(grams, (like(matrix, targets) for matrix in matrices), strict=True)
    return SumOfPairs(tuple(matrix_stein(targets, scores, kernel, width, *term) for term in terms)), targets


def stein_statistic(
    located: Located,
    bandwidth: Array | None,
    *,
    kernel: Radial | FiniteRank,
    grams: Sequence[PairFunction],
    bandwidths: Mapping[str, Any],
    matrices: Sequence[Array] | None = None,
) -> Statistic:
    """Return the statistic of `assemble` for targets and scores, with the bandwidth of the targets and other ones."""
    function, reference = assemble(located.targets, located.scores, kernel, bandwidth, grams, matrices)
    used = bandwidths if bandwidth is None else {"target": bandwidth, **bandwidths}
    return Statistic(function, reference, used, located.coordinates, located.scores)


def _finite_rank(
    features: Array, targets: Array, grams: Sequence[PairFunction]
) -> tuple[PairFunction | Features, Array]:
    """Return H = k(P_i, P_j) f_i.f_j, or f where k is constant and no pairs are needed; and the targets."""
    if not grams:
        return Features(lambda rows: features[rows, :]), targets
    dtype = sufficient_dtype(0.0 * targets, like(1.0, targets), [cast_gram(gram, targets.dtype) for gram in grams])
    features = array_namespace(features).astype(features, dtype, copy=False)
    return ProductOfPairs((Product(features, features), cast_gram(grams[0], dtype))), targets


def stein_features(kernel: Any, targets: Array, scores: Array, owner: str) -> Array:
    """Features (n, q) of a kernel of finite rank between targets, checked."""
    return checked_features("features(targets, scores)", kernel.features(targets, scores), targets, owner)
