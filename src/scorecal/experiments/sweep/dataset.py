"""One drawn data set, and what its tests share: embeddings, bandwidths, blocks of kernels, signs."""

import hashlib
from collections.abc import Callable, Hashable
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar

import numpy as np

from ..._lib.arrays import Array
from ...coordinates.normal_scores import needs_normal_scores
from ...kernels import DistributionKernel, Radial
from ...kernels.bandwidth import target_bandwidth
from ...kernels.gram import distribution_gram
from ...kernels.radial import with_bandwidth
from ...kernels.second_order import second_order_median
from ...pairwise import Remembered
from ...predictions import MALA, Categorical, Samplable, as_targets, evaluate_score
from ...statistics import assemble, surprise_of

T = TypeVar("T")


@dataclass(frozen=True)
class Model:
    """A way to draw data: `draw(n, rng=...)` returns n predictions and their targets.

    Examples
    --------
    >>> from functools import partial
    >>> from scorecal.experiments import Model, mgm
    >>> model = Model("MGM, delta = 0.2", partial(mgm, delta=0.2))
    """

    name: str
    draw: Callable[..., tuple[Any, Array]]


@dataclass(frozen=True, eq=False)
class DataSet:
    """Predictions, targets, and random numbers that depend on seed, model, n and repetition only."""

    predictions: Any
    y: Any
    coordinates: tuple[Hashable, ...]
    _shared: dict[Hashable, Any] = field(default_factory=dict, repr=False)

    def rng(self, purpose: str) -> np.random.Generator:
        """Return the random numbers for a purpose: a stream of its own, so that no test changes those of another."""
        return _rng(*self.coordinates, purpose)

    @property
    def targets(self) -> Array:
        """Targets (n, d); as they are where predictions have no scores: classes, counts, members."""
        if isinstance(self.predictions, Categorical) or needs_normal_scores(self.predictions):
            return self.y
        return self.once("targets", lambda: as_targets(self.y, self.predictions))

    def once(self, key: Hashable, compute: Callable[[], T]) -> T:
        """Return `compute()`, computed at the first call with this key."""
        if key not in self._shared:
            self._shared[key] = compute()
        result: T = self._shared[key]
        return result

    def gram(self, kernel: DistributionKernel) -> Remembered:
        """Gram matrix k(P_i, P_j), with base points and draws of its own."""
        return self.once(
            ("gram", _identity(kernel)),
            lambda: Remembered(
                distribution_gram(self._grounded(kernel), self.predictions, self.targets, self.rng("kernel"))[0]
            ),
        )

    def stein(self, kernel: Radial) -> Remembered:
        """Stein kernel h(y_i, y_j): the KCCSD without the kernel between predictions."""
        scores: Array = self.once("scores", lambda: evaluate_score(self.predictions, self.targets))
        return self.once(
            ("stein", kernel),
            lambda: Remembered(assemble(self.targets, scores, kernel, self._bandwidth(kernel))[0]),  # type: ignore[arg-type]
        )

    def surprise(self, kernel: Radial, n_samples: int | None, sampler: MALA | None) -> Remembered:
        """The SKCE without the kernel between predictions; the arguments are those of `skce_test`."""
        return self.once(
            ("surprise", kernel, n_samples, _identity(sampler)),
            lambda: Remembered(
                surprise_of(
                    self.predictions,
                    self.targets,
                    kernel,
                    self._bandwidth(kernel),
                    n_samples,
                    sampler,
                    self.rng("expectations"),
                )[0]
            ),
        )

    def _bandwidth(self, kernel: Radial) -> Array:
        return self.once(("bandwidth", kernel.bandwidth), lambda: target_bandwidth(kernel, self.targets))

    def _grounded(self, kernel: Any) -> DistributionKernel:
        """Return the kernel with the second-order bandwidth of its ground kernel, which is slow to find, filled in."""
        ground = getattr(kernel, "ground", None)
        if ground is None or ground.bandwidth != "median" or not isinstance(self.predictions, Samplable):
            return kernel  # type: ignore[no-any-return]
        width = self.once("ground bandwidth", lambda: second_order_median(self.predictions))
        return replace(kernel, ground=with_bandwidth(ground, width))  # type: ignore[no-any-return]


def draw_data_set(model: Model, n: int, repetition: int, seed: int) -> DataSet:
    """Draw a data set that depends on the arguments only, not on the worker or the order."""
    coordinates = (seed, model.name, n, repetition)
    drawn = model.draw(n, rng=_rng(*coordinates, "data"))
    if not isinstance(drawn, tuple) or len(drawn) != 2:
        raise TypeError(
            f"`draw` of `Model` {model.name!r} must return (predictions, y), but gave a {type(drawn).__name__}."
        )
    predictions, y = drawn
    if getattr(predictions, "n", n) != n:
        raise ValueError(f"`draw` of `Model` {model.name!r} must return n = {n} predictions, but gave {predictions.n}.")
    return DataSet(predictions, y, coordinates)


def _identity(value: Any) -> Hashable:
    """Key by value, or by identity for objects that hold arrays."""
    try:
        hash(value)
    except TypeError:
        return id(value)
    return value  # type: ignore[no-any-return]


def _rng(*coordinates: Hashable) -> np.random.Generator:
    digest = hashlib.sha256(repr(coordinates).encode()).digest()
    return np.random.default_rng(int.from_bytes(digest))
