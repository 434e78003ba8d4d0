"""Protocols of kernels, and checks of kernels given as arguments."""

from typing import Any, Protocol, runtime_checkable

import numpy as np

from .._lib.arrays import Array
from ..predictions import Predictions
from .distances import Distance
from .radial import Gaussian, Radial

_OUTERS = ("gaussian", "imq", "linear")


class DistributionKernel(Protocol):
    """A kernel between predictions, k(P, Q) = outer(D(P, Q) / bandwidth^2) with a squared Hilbertian distance D.

    `outer` is "gaussian", exp(-t / 2), "imq", 1 / (1 + t), or "linear", the inner product of finite embeddings.
    """

    @property
    def bandwidth(self) -> float | str: ...

    @property
    def outer(self) -> str: ...

    def distance(
        self, predictions: Predictions, reference: Array, rng: np.random.Generator
    ) -> tuple[Distance, dict[str, float]]:
        """Return squared distances between the predictions, and the ground bandwidth if there is one."""
        ...


@runtime_checkable
class FiniteRank(Protocol):
    """A kernel of finite rank between targets, given by the features of its test functions.

    `features(targets, scores)` takes targets and scores (n, d) and returns (n, q). A `separable` kernel has one test
    function for each dimension, which depends on this dimension only and points along it.
    """

    def features(self, targets: Array, scores: Array) -> Array: ...


def as_distribution_kernel(
    kernel: DistributionKernel | None, default: DistributionKernel, name: str = "distribution_kernel"
) -> DistributionKernel:
    """Return the kernel, or the default for None; raise if it is not a kernel."""
    kernel = default if kernel is None else kernel
    if isinstance(kernel, type):
        raise TypeError(f"`{name}` must be a kernel, not its class {kernel.__name__}: write `{kernel.__name__}()`.")
    missing = [attribute for attribute in ("distance", "bandwidth", "outer") if not hasattr(kernel, attribute)]
    if missing:
        raise TypeError(
            f"`{name}` must be a kernel, `kernels.GFD`, `KGFD`, `MMD` or `Wasserstein`, or one of your own with "
            f"`distance`, `bandwidth` and `outer`, but is {kernel!r}, which has no `{missing[0]}`."
        )
    return kernel


def as_radial_kernel(name: str, kernel: Radial | None) -> Radial:
    """Return the kernel, or a Gaussian kernel for None; raise if it is not radial."""
    kernel = Gaussian() if kernel is None else kernel
    if not isinstance(kernel, Radial):
        raise TypeError(f"`{name}` must be `kernels.Gaussian` or `kernels.IMQ`, but is {kernel!r}.")
    return kernel


def as_target_kernel(kernel: Radial | FiniteRank | None) -> Radial | FiniteRank:
    """Return the kernel between targets, Gaussian for None; raise if it is neither radial nor of finite rank."""
    if isinstance(kernel, type):
        raise TypeError(f"`target_kernel` must be a kernel, not its class {kernel.__name__}: `{kernel.__name__}()`.")
    return kernel if isinstance(kernel, FiniteRank) else as_radial_kernel("target_kernel", kernel)


def check_outer(outer: Any, known: tuple[str, ...] = _OUTERS) -> None:
    """Raise unless `outer` is one of the known functions of distances."""
    if outer not in known:
        raise ValueError(f"`outer` must be one of {', '.join(map(repr, known))}, but is {outer!r}.")
