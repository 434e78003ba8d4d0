r"""Kernels of finite rank on targets: a few test functions phi, each R^d -> R^d.

The Stein operator turns each into a feature s.phi + div phi, which has mean zero under the prediction. The kernel is
the operator-valued one of appendix A, A(y, y') = sum_k phi_k(y) phi_k(y')', so that H is an inner product of features.
"""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from .._lib.arrays import Array, array_namespace, like
from .._lib.checks import check_count, check_positive
from ..kernels.distances import Euclidean
from ..predictions import Predictions


@dataclass(frozen=True)
class Constant:
    """The constant kernel 1. Between targets it sees bias, E s = 0; between predictions it treats all alike.

    Examples
    --------
    >>> import scorecal as sc
    >>> predictions, y = sc.experiments.mgm(200, 0.3, rng=0)
    >>> one = sc.kernels.Constant()
    >>> sc.kccsd_test(predictions, y, target_kernel=one, distribution_kernel=one, rng=0).pvalue
    0.001
    """

    separable: ClassVar[bool] = True

    @property
    def bandwidth(self) -> float:
        return 1.0

    @property
    def outer(self) -> str:
        return "gaussian"

    def features(self, targets: Array, scores: Array) -> Array:
        return scores

    def distance(
        self, predictions: Predictions, reference: Array, rng: np.random.Generator
    ) -> tuple[Euclidean, dict[str, float]]:
        """Return distances of zero between all predictions."""
        return Euclidean(like(np.zeros((predictions.n, 1)), reference)), {}


@dataclass(frozen=True)
class Linear:
    """The kernel y.y': E[s_a y_b] = -1 for a = b and 0 otherwise. Sees spread and correlation."""

    def features(self, targets: Array, scores: Array) -> Array:
        xp = array_namespace(targets)
        n, d = targets.shape
        products = scores[:, :, None] * targets[:, None, :] + like(np.eye(d), targets)
        return xp.reshape(products, (n, d * d))


@dataclass(frozen=True)
class Cross:
    """The mean of the two features of `Linear` that pair dimensions a < b. Sees correlation, not spread."""

    def features(self, targets: Array, scores: Array) -> Array:
        d = targets.shape[1]
        if d < 2:
            raise ValueError("`Cross` needs targets of at least 2 dimensions, but they have 1.")
        xp = array_namespace(targets)
        rows, cols = (xp.asarray(part, device=getattr(targets, "device", None)) for part in np.triu_indices(d, 1))
        one = xp.take(scores, rows, axis=1) * xp.take(targets, cols, axis=1)
        return 0.5 * (one + xp.take(scores, cols, axis=1) * xp.take(targets, rows, axis=1))

    def normal_sums(self, numbers: np.ndarray, power: int) -> np.ndarray:
        """Sums over n rows of a power of f, (q, draws), for standard normal targets (d, n, draws): scores are -y."""
        by_draw = np.ascontiguousarray(numbers.transpose(2, 0, 1)) ** power
        products = np.matmul(by_draw, by_draw.swapaxes(1, 2))[:, *np.triu_indices(len(numbers), 1)]
        return np.asarray((-1.0) ** power * products.T)


@dataclass(frozen=True)
class Trace:
    """The test function phi(y) = y: E[s.y] = -d. Sees the overall spread."""

    def features(self, targets: Array, scores: Array) -> Array:
        return array_namespace(targets).sum(scores * targets, axis=1, keepdims=True) + float(targets.shape[1])


@dataclass(frozen=True)
class Polynomial:
    """The test functions y_a^degree along each dimension a: moments of order degree + 1, sensitive to far tails.

    Parameters
    ----------
    degree : int
        At least 1; 2 sees skewness, 3 kurtosis.
    """

    degree: int = 2
    separable: ClassVar[bool] = True

    def __post_init__(self) -> None:
        check_count("degree", self.degree)

    def features(self, targets: Array, scores: Array) -> Array:
        return (scores * targets + float(self.degree)) * targets ** (self.degree - 1)


@dataclass(frozen=True)
class BoundedRadial:
    """The test function ``exp(-|y|^2 / (2 c)) y``, with a bounded feature. Sees overall spread and tails.

    Parameters
    ----------
    c : float
        Squared distance from the origin up to which it is close to `Trace`.
    """

    c: float = 1.0

    def __post_init__(self) -> None:
        check_positive("c", self.c)

    def features(self, targets: Array, scores: Array) -> Array:
        xp = array_namespace(targets)
        squared = xp.sum(targets**2, axis=1, keepdims=True)
        trace = xp.sum(scores * targets, axis=1, keepdims=True) + float(targets.shape[1])
        return tapered(xp.exp(-0.5 / self.c * squared), trace - squared / self.c)


def tapered(weight: Array, values: Array) -> Array:
    """Return values times a weight, and 0 where the weight is: values that are multiplied by it may overflow there."""
    xp = array_namespace(values)
    none = xp.zeros_like(values)
    return xp.where(weight > 0, weight * xp.where(weight > 0, values, none), none)
