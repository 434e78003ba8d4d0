"""Numerical derivatives of log-densities, NaN where they are not precise."""

from collections.abc import Callable

import numpy as np

from ..._lib.arrays import Array

_STEPS = (0.5, 0.375)  # first steps in units of the width, a power of two: y + step * width is exact
_TOLERANCE = 1e-7  # of each derivative; those from the two first steps must agree to ten times this


def slopes(log_density: Callable[[Array], Array], points: Array, width: Array) -> Array:
    """Derivatives at `points` in units of `width`, at most the distance to an end; NaN where not precise."""
    found = _slopes(log_density, points, width, 0)
    if not np.isfinite(found).all():  # near a kink, as of a Laplace, only one side is smooth
        left, right = (_slopes(log_density, points, width, side) for side in (-1, 1))
        one_sided = np.where(np.isnan(left), right, np.where(np.isnan(right), left, _agreed(left, right)))
        found = np.where(np.isnan(found), one_sided, found)
    return found


def _slopes(log_density: Callable[[Array], Array], points: Array, width: Array, side: int) -> Array:
    """Differentiate with steps at most half-way to an end, on one side only unless `side` is 0.

    Derivatives from two first steps must agree: a single one may seem to converge on rounding noise of the density.
    """
    from scipy.differentiate import derivative

    def along(u: Array) -> Array:  # u has the shape of `points`, or one more axis
        moved = np.moveaxis(u, -1, 0) if u.ndim > points.ndim else u
        values = log_density(points + width * moved)
        return np.moveaxis(values, 0, -1) if u.ndim > points.ndim else values

    found = []
    for step in _STEPS:
        with np.errstate(all="ignore"):  # a density that underflows gives -inf, and then NaN
            result = derivative(
                along,
                np.zeros(points.shape),
                tolerances={"rtol": _TOLERANCE, "atol": _TOLERANCE},
                initial_step=step,
                step_direction=side,
                step_factor=4.0 if side else 2.0,  # scipy uses its square root for one side
                maxiter=3 if side else 6,  # smaller steps would measure mostly rounding
                preserve_shape=True,
            )
        found.append(np.where(result.success, result.df, np.nan))
    return _agreed(*found)


def _agreed(first: Array, second: Array) -> Array:
    return np.where(np.abs(first - second) <= 10 * _TOLERANCE * (1.0 + np.abs(first)), first, np.nan)
