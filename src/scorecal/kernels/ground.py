"""The ground kernel of KGFD and MMD, and its bandwidth."""

from typing import Any

from .._lib.arrays import Array, has_values
from ..predictions import Predictions, Samplable, held_array
from .bandwidth import median_distance
from .distances import Euclidean
from .radial import Radial
from .second_order import second_order_median


def check_ground(ground: Any, allowed: Any = Radial) -> None:
    """Raise unless `ground` is a ground kernel of an allowed type."""
    if not isinstance(ground, allowed):
        names = "`kernels.Gaussian` or `kernels.IMQ`" + ("" if allowed is Radial else ", or `kernels.Diffusion` of one")
        raise TypeError(f"`ground` must be {names}, but is {type(ground).__name__}.")


def ground_bandwidth(ground: Radial, predictions: Predictions, points: Array | None) -> float:
    """Bandwidth of a ground kernel: the given number, or a median over draws or over base points."""
    if not isinstance(ground.bandwidth, str):
        return float(ground.bandwidth)
    held = held_array(predictions)
    if held is not None and not has_values(held):
        raise TypeError('`ground` must have a number as `bandwidth`, not "median", while JAX is tracing.')
    if points is None or isinstance(predictions, Samplable):
        return second_order_median(predictions)
    return float(median_distance(Euclidean(points), points))
