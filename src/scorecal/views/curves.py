"""Smooth curves of the locations and spreads of predictions, for views of what rises and falls with these."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from .._lib.arrays import Array, array_namespace, device_of, to_numpy
from .._lib.dimensions import are_many
from .context import CURVES, few_of
from .so_far import curves_so_far

if TYPE_CHECKING:
    from .frame import ViewFrame


def curves_of_locations(frame: ViewFrame) -> Array:
    """Return curves of the locations in each dimension, (n, d, 3); (n, 0, 3) if none varies."""
    location, d = frame.whitening.location, frame.reference.shape[1]
    if frame.ordered:
        average = frame.context.average
        units = average.units
        found = curves_so_far((location - average.mean) / units, CURVES, frame.series, frame.rounding)
        varies = bool(array_namespace(found).any(found != 0))
    else:
        found, varies = frame.context.curves(location, slice(0, d)), bool(np.any(frame.context.curved[:d]))
    return found if varies else found[:, :0, :]


def all_curves(frame: ViewFrame) -> Array:
    """Return curves of the locations in all dimensions, or of a few sums of many, and of the spread, (n, t)."""
    spread, n = frame.whitening.log_spread[:, None], frame.reference.shape[0]
    xp, d = array_namespace(spread), frame.reference.shape[1]
    if are_many(d):
        few = xp.concat([few_of(frame.location), spread], axis=1)
        found = curves_so_far(few, CURVES, frame.series, frame.rounding) if frame.ordered else frame.context.of_few(few)
        columns = xp.reshape(found, (n, -1))
        varies = to_numpy(xp.any(columns != 0, axis=0)) if frame.ordered else frame.context.few_vary
        return xp.take(columns, xp.asarray(np.flatnonzero(varies), device=device_of(columns)), axis=1)
    if frame.ordered:
        of_spread = curves_so_far(spread, CURVES, frame.series, frame.rounding)
    else:
        of_spread = frame.context.curves(spread, slice(d, d + 1))
    columns = xp.concat([xp.reshape(each, (n, -1)) for each in (frame.curves_of_locations, of_spread)], axis=1)
    varies = to_numpy(xp.any(columns != 0, axis=0)) if frame.ordered else frame.context.varying
    return xp.take(columns, xp.asarray(np.flatnonzero(varies), device=device_of(columns)), axis=1)
