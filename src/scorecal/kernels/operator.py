"""Operator-valued kernels (appendix A), which weight and combine the dimensions of the targets."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from .._lib.arrays import Array, as_arrays, check_finite, has_values, to_numpy
from .protocol import DistributionKernel, as_distribution_kernel


@dataclass(frozen=True, eq=False)
class Operator:
    """K(P, Q) = sum_r k_r(P, Q) B_r with kernels k_r between predictions and positive semi-definite matrices B_r.

    Parameters
    ----------
    terms : sequence of (kernel, array (d, d))
        The kernels, and the matrices that weight the dimensions of the targets.

    Examples
    --------
    Look for miscalibration of the first dimension only:

    >>> import numpy as np, scorecal as sc
    >>> predictions, y = sc.experiments.mgm(300, 0.3, c="first", rng=0)
    >>> kernel = sc.kernels.Operator([(sc.kernels.GFD(), np.diag([1.0, 0, 0, 0, 0]))])
    >>> sc.kccsd_test(predictions, y, distribution_kernel=kernel, rng=0).rejects()
    True
    """

    terms: Sequence[tuple[DistributionKernel, Array]]

    def __post_init__(self) -> None:
        if len(self.terms) == 0:
            raise ValueError("`terms` must hold at least one pair (kernel, matrix), but is empty.")
        checked = []
        for r, (kernel, matrix) in enumerate(self.terms):
            checked.append(
                (as_distribution_kernel(kernel, kernel, f"terms[{r}]"), _positive_semidefinite(f"terms[{r}]", matrix))
            )
        object.__setattr__(self, "terms", tuple(checked))


@dataclass(frozen=True, eq=False)
class OperatorFunction:
    """Any kernel A((p, y), (p', y')) with values in (d, d), given as a function that JAX or torch can differentiate.

    Parameters
    ----------
    function : callable
        `function(p, y, p2, y2)` of two rows of `features` and two targets, (d,) each, returns (d, d). Row i goes with
        (p2, y2) and column j with (p, y): `function(p, y, p2, y2)` must be the transpose of `function(p2, y2, p, y)`.
    features : array, shape (n, q)
        The summary of each prediction that the function takes as `p`.
    """

    function: Callable[[Array, Array, Array, Array], Array]
    features: Array


def _positive_semidefinite(name: str, matrix: Array) -> Array:
    (matrix,) = as_arrays(**{name: matrix})
    if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1]:
        raise ValueError(f"`{name}` must hold a square matrix (d, d), but it has shape {tuple(matrix.shape)}.")
    check_finite(name, matrix)
    if not has_values(matrix):
        return 0.5 * (matrix + matrix.mT)
    values = to_numpy(matrix)
    tolerance = 10 * len(values) * np.finfo(values.dtype).eps * np.abs(values).max()
    if not np.allclose(values, values.T, rtol=0, atol=tolerance):
        raise ValueError(f"`{name}` must hold a symmetric matrix, but it differs from its transpose.")
    smallest = np.linalg.eigvalsh(values).min()
    if smallest < -tolerance:
        raise ValueError(
            f"`{name}` must hold a positive semi-definite matrix, but its smallest eigenvalue is {smallest:.4g}: the "
            "statistic would not be a squared norm."
        )
    return 0.5 * (matrix + matrix.mT)
