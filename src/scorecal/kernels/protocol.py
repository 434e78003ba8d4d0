"""Protocols of kernels, and checks of kernels given as arguments."""

from collections.abc import Mapping
from numbers import Real
from typing import Any, Protocol, runtime_checkable

import numpy as np
from array_api_compat import is_array_api_obj

from .._lib.arrays import Array, as_arrays, check_finite, like
from .._lib.checks import check_count, check_not_class
from ..predictions import Predictions
from .distances import CheckedDistance, Distance, Euclidean, MMDDistance
from .radial import Gaussian, Radial, check_bandwidth

_OUTERS = ("gaussian", "imq", "linear")


class DistributionKernel(Protocol):
    """A kernel between predictions, k(P, Q) = outer(D(P, Q) / bandwidth^2) with a squared Hilbertian distance D.

    Attributes
    ----------
    bandwidth : "median" or float
        Unit of the distance sqrt(D).
    outer : {"gaussian", "imq", "linear"}
        k = exp(-t / 2), 1 / (1 + t), or the inner product of the embeddings, which must then be finite.

    Examples
    --------
    A kernel between predictions that looks at their means only:

    >>> import scorecal as sc
    >>> class BetweenMeans:
    ...     bandwidth, outer = "median", "gaussian"
    ...
    ...     def distance(self, predictions, reference, rng):
    ...         return sc.kernels.Euclidean(predictions.moments()[0]), {}
    >>> predictions, y = sc.experiments.mgm(200, 0.5, rng=0)
    >>> sc.kccsd_test(predictions, y, distribution_kernel=BetweenMeans(), rng=0).rejects()
    True
    """

    @property
    def bandwidth(self) -> float | str: ...

    @property
    def outer(self) -> str: ...

    def distance(
        self, predictions: Predictions, reference: Array, rng: np.random.Generator
    ) -> tuple[Distance, dict[str, float]]:
        """Return squared distances between the predictions, and bandwidths to report on the result.

        Parameters
        ----------
        predictions : Predictions
            The predictions in the coordinates of the test. Those that were mapped have scores, the prior, and draws if
            they had draws before, but neither moments nor log-densities; `Gaussian` stays `Gaussian` under linear maps.
        reference : array, shape (n, d)
            Any array of the library, device and dtype in which to compute.
        rng : numpy.random.Generator
            Source of base points and draws.

        Returns
        -------
        distance : Distance
            `kernels.Euclidean(features)` for embeddings (n, p), or an object with the methods of `kernels.Distance`;
            not an array.
        bandwidths : dict
            Further bandwidths by name, such as that of a ground kernel; may be empty.
        """
        ...


@runtime_checkable
class FiniteRank(Protocol):
    """A kernel of finite rank between targets, given by the features of its test functions.

    A `separable` kernel, whose class says `separable = True`, has one test function for each dimension, which depends
    on this dimension only and points along it; only such kernels go with marginal coordinates.
    """

    def features(self, targets: Array, scores: Array) -> Array:
        """Return s.phi(y) + div phi(y), (n, q), for q test functions phi at targets y and scores s, (n, d) each."""
        ...


def as_distribution_kernel(
    kernel: DistributionKernel | None, default: DistributionKernel, name: str = "distribution_kernel"
) -> DistributionKernel:
    """Return the kernel, or the default for None; raise if it is not a kernel."""
    kernel = default if kernel is None else kernel
    check_not_class(name, kernel, "a kernel")
    missing = [attribute for attribute in ("distance", "bandwidth", "outer") if not hasattr(kernel, attribute)]
    if missing:
        raise TypeError(
            f"`{name}` must be a kernel, `kernels.GFD`, `KGFD`, `MMD` or `Wasserstein`, or one of your own with "
            f"`distance`, `bandwidth` and `outer`, but is {kernel!r}, which has no `{missing[0]}`."
        )
    check_bandwidth(kernel.bandwidth)
    return kernel


def distance_of(
    kernel: DistributionKernel, predictions: Predictions, n: int, reference: Array, rng: np.random.Generator
) -> tuple[Distance, Mapping[str, Any]]:
    """Return the squared distances that the kernel finds between the n predictions, and its bandwidths, checked."""
    found: Any = kernel.distance(predictions, reference, rng)
    name = f"{type(kernel).__name__}.distance(predictions, reference, rng)"
    distance, bandwidths = found if isinstance(found, tuple) and len(found) == 2 else (found, None)
    if not isinstance(distance, Euclidean | Distance) or not isinstance(bandwidths, Mapping):
        raise TypeError(
            f"`{name}` must return squared distances, `kernels.Euclidean(features)` or an object with the methods of "
            "`kernels.Distance`, and a dictionary of further bandwidths, which may be empty, but returned "
            f"{type(distance).__name__} and {type(bandwidths).__name__}."
        )
    for key, value in bandwidths.items():
        if not is_array_api_obj(value) and not isinstance(value, Real):
            raise TypeError(f"`{name}` must return bandwidths that are numbers, but {key!r} is {value!r}.")
    if isinstance(distance, Euclidean):
        features, _ = as_arrays(**{name: distance.features, "reference": reference})
        if features.ndim != 2 or features.shape[0] != n or not features.shape[1]:
            raise ValueError(f"`{name}` must return features ({n}, p), but they have shape {tuple(features.shape)}.")
        check_finite(name, features)
        return Euclidean(features), bandwidths
    if distance.n != n:
        raise ValueError(f"`{name}` must compare {n} predictions, but its `n` is {distance.n}.")
    check_count(f"{type(distance).__name__}.floats_per_pair", distance.floats_per_pair)
    if not isinstance(distance, MMDDistance):
        distance = CheckedDistance(distance, n, distance.floats_per_pair, like(0.0, reference))
    return distance, bandwidths


def as_radial_kernel(name: str, kernel: Radial | None, others: str = "") -> Radial:
    """Return the kernel, or a Gaussian kernel for None; raise if it is not radial."""
    kernel = Gaussian() if kernel is None else kernel
    check_not_class(name, kernel, "a kernel")
    if not isinstance(kernel, Radial):
        raise TypeError(f"`{name}` must be `kernels.Gaussian` or `kernels.IMQ`{others}, but is {kernel!r}.")
    return kernel


def as_target_kernel(kernel: Radial | FiniteRank | None) -> Radial | FiniteRank:
    """Return the kernel between targets, Gaussian for None; raise if it is neither radial nor of finite rank."""
    check_not_class("target_kernel", kernel, "a kernel")
    if isinstance(kernel, FiniteRank):
        return kernel
    others = ", or of finite rank, such as `kernels.Linear()` or an object with a method `features(targets, scores)`"
    return as_radial_kernel("target_kernel", kernel, others)


def check_outer(outer: Any, known: tuple[str, ...] = _OUTERS) -> None:
    """Raise unless `outer` is one of the known functions of distances."""
    if outer not in known:
        raise ValueError(f"`outer` must be one of {', '.join(map(repr, known))}, but is {outer!r}.")
