"""The pair function H of operator-valued kernels (eq. A.1): H = (s_j + grad_j)' A_ij (s_i + grad_i)."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from .._lib.arrays import Array, array_namespace, as_arrays, check_finite, full_product, has_values, like, to_numpy
from .._lib.autodiff import transforms
from .._lib.linalg import centre, norms_cancel, symmetric_root, times
from ..kernels.operator import OperatorFunction
from ..kernels.radial import Radial
from ..pairwise import PairFunction, Product, half_distances, sum_of_differences


@dataclass(frozen=True, eq=False)
class MatrixStein:
    """H for A = k l B with a radial kernel l = f(t), t = |y - y'|^2 / sigma^2, and D = y_i - y_j:

    h = f s_i'B s_j + (2 f' / sigma^2) ((s_j - s_i)'B D - tr B) - (4 f'' / sigma^4) D'B D.
    """

    gram: PairFunction
    kernel: Radial
    scores: Product
    gradient: PairFunction
    distance: PairFunction
    weighted_distance: PairFunction
    precision: Array

    @property
    def floats_per_pair(self) -> int:
        return 9 + self.gram.floats_per_pair + self.gradient.floats_per_pair + 2 * self.distance.floats_per_pair

    def __call__(self, rows: slice, cols: slice) -> Array:
        xp = array_namespace(self.scores.left)
        t = -2.0 * xp.minimum(self.distance(rows, cols), 0.0)
        weighted = -2.0 * xp.minimum(self.weighted_distance(rows, cols), 0.0)
        f, slope, curve = self.kernel.derivatives(t)
        h_over_f = (
            self.scores(rows, cols) + slope * self.gradient(rows, cols) - curve * (4.0 * self.precision) * weighted
        )
        return self.gram(rows, cols) * f * h_over_f


def matrix_stein(
    targets: Array, scores: Array, kernel: Radial, bandwidth: Array, gram: PairFunction, matrix: Array
) -> MatrixStein:
    """Return H for one term k(P, Q) B of an operator-valued kernel."""
    xp = array_namespace(targets)
    y = centre(targets)
    precision = 1.0 / bandwidth**2
    weighted = full_product(scores, matrix)
    far, constant = norms_cancel(y / bandwidth), -2.0 * precision * xp.linalg.trace(matrix)
    return MatrixStein(
        gram,
        kernel,
        Product(weighted, scores),
        sum_of_differences(weighted, -2.0 * precision * y, constant, far),
        half_distances(y / bandwidth),
        half_distances(full_product(y, symmetric_root(matrix)) / bandwidth),
        precision,
    )


@dataclass(frozen=True, eq=False)
class FunctionStein:
    """H for any differentiable A, by automatic differentiation."""

    function: Callable[[Array, Array, Array, Array], Array]
    features: Array
    targets: Array
    scores: Array

    @property
    def floats_per_pair(self) -> int:
        return 4 * int(self.targets.shape[1]) ** 4 + 16

    def __call__(self, rows: slice, cols: slice) -> Array:
        jacfwd, vmap = transforms("function", self.targets)
        xp = array_namespace(self.targets)

        def h(p: Array, y: Array, s: Array, p2: Array, y2: Array, s2: Array) -> Array:
            """H of one pair: row i of A goes with (p2, y2), column j with (p, y); derivatives follow the index."""

            def a(y: Array, y2: Array) -> Array:
                return xp.astype(self.function(p, y, p2, y2), s.dtype, copy=False)

            def div_columns(y: Array, y2: Array) -> Array:
                """sum_j d A_ij / d y_j, shape (d,)."""
                jacobian = jacfwd(a, 0)(y, y2)
                return xp.sum(xp.linalg.diagonal(jacobian), axis=-1)

            def div_rows(y: Array, y2: Array) -> Array:
                """sum_i d A_ij / d y2_i, shape (d,)."""
                jacobian = xp.permute_dims(jacfwd(a, 1)(y, y2), (1, 0, 2))
                return xp.sum(xp.linalg.diagonal(jacobian), axis=-1)

            both = xp.linalg.trace(jacfwd(div_columns, 1)(y, y2))
            return (
                xp.sum(s2 * (times(a(y, y2), s))) + xp.sum(s2 * div_columns(y, y2)) + xp.sum(s * div_rows(y, y2)) + both
            )

        one_row = vmap(h, (None, None, None, 0, 0, 0))
        left = [part[rows, :] for part in (self.features, self.targets, self.scores)]
        right = [part[cols, :] for part in (self.features, self.targets, self.scores)]
        return vmap(one_row, (0, 0, 0, None, None, None))(*left, *right)


def function_stein(operator: OperatorFunction, targets: Array, scores: Array) -> FunctionStein:
    """Return H of an operator-valued kernel given as a function; raise if the function is not a kernel."""
    features, _ = as_arrays(features=operator.features, y=targets)
    n, d = targets.shape
    if features.ndim != 2 or features.shape[0] != n:
        raise ValueError(
            f"`features` of `OperatorFunction` must have shape (n, q) = ({n}, q), but has shape {features.shape}."
        )
    check_finite("features", features)
    if not callable(operator.function):
        raise TypeError(f"`function` of `OperatorFunction` must be callable, but is {operator.function!r}.")
    transforms("function", targets)
    function = FunctionStein(operator.function, like(features, targets), targets, scores)
    (p, p2), (z, z2) = function.features[:2, :], targets[:2, :]
    value, swapped, own = (operator.function(*pair) for pair in ((p, z, p2, z2), (p2, z2, p, z), (p, z, p, z)))
    _check_kernel(value, swapped, own, d)
    return function


def _check_kernel(value: Array, swapped: Array, own: Array, d: int) -> None:
    """Raise unless A is symmetric on one pair and semi-definite on one row: only half of the pairs are computed."""
    if tuple(getattr(value, "shape", ())) != (d, d):
        raise ValueError(
            f"`function` of `OperatorFunction` must return shape (d, d) = ({d}, {d}), but gave "
            f"{tuple(getattr(value, 'shape', ()))}."
        )
    if not has_values(value, swapped, own):
        return
    check_finite("function", value)
    host = to_numpy(value)
    size = max(np.abs(host).max(), np.abs(to_numpy(own)).max())
    if not np.allclose(host, to_numpy(swapped).T, rtol=0.0, atol=1e-5 * size):
        raise ValueError("`function(p, y, p2, y2)` must be the transpose of `function(p2, y2, p, y)`, but is not.")
    if np.linalg.eigvalsh(to_numpy(own)).min() < -1e-5 * size:
        raise ValueError("`function(p, y, p, y)` must be positive semi-definite, but has a negative eigenvalue.")
