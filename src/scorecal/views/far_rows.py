"""Rows that lie farther from their predictions than these allow, and what the others look like."""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from .._lib.arrays import to_numpy
from ..resampling.laws import log_tail
from ..statistics.hermite import Hermite, RadialTails
from .frame import ViewFrame

_EXPECTED = 0.01  # number of rows of all, by chance, that are far
_SHARE = 0.05  # of all rows: if more are far, they are no exception
_BEYOND_DOUBT = 1e-4  # likewise, of rows that no spread explains which differs between rows, unless it shows in others
_OUT_OF_SIGHT = 1e-12  # likewise, of rows that no heavy tails explain, unless these show in the others very clearly
_GAP = 5.0  # ratio of the distances of rows that are outliers and of all others, whatever their shape
_CLEAR, _VERY_CLEAR = 2.0, 3.0  # standard errors


@dataclass(frozen=True, eq=False)
class FarRows:
    """Which rows are far, and how wrong the shape of the others is, in standard errors."""

    far: np.ndarray  # (n,), bool
    shape_of_others: float
    log_chance: float  # of a row as far as the farthest among all

    @property
    def count(self) -> int:
        return int(np.sum(self.far))

    @property
    def out_of_sight(self) -> bool:
        return self.log_chance < math.log(_OUT_OF_SIGHT)

    @property
    def beyond_doubt(self) -> bool:
        return self.are_outliers and self.log_chance < math.log(_BEYOND_DOUBT)

    @property
    def are_outliers(self) -> bool:
        """Whether few rows are far, and the others have the shape that they should have."""
        return self.count > 0 and self.shape_of_others < (_VERY_CLEAR if self.out_of_sight else _CLEAR)


def far_rows_in(frame: ViewFrame) -> FarRows:
    """Find the rows that are far, by the squared lengths of whitened targets."""
    return far_rows_of(np.mean(to_numpy(frame.whitened[0]).astype(np.float64), axis=0))


def far_rows_of(z: np.ndarray) -> FarRows:
    """Find the rows (n, d) that are far, as if all were Gaussian."""
    from scipy.special import chdtri, gammaincinv

    z = z - np.median(z, axis=0)  # a bias is no reason to take targets for outliers
    n, d = z.shape
    # Nor is a wrong spread of all of them.
    typical = np.median(np.sum(z**2, axis=1)) / (2.0 * float(gammaincinv(0.5 * d, 0.5)))
    z = z / max(1.0, np.sqrt(typical))
    squared = np.sum(z**2, axis=1)
    log_chance = float(log_tail(np.max(squared), d)) + np.log(n)
    apart = _apart(squared)
    if apart is not None:
        return FarRows(apart, 0.0, log_chance)
    far = squared > float(chdtri(d, _EXPECTED / n))
    if np.mean(far) > _SHARE:
        far = np.zeros(n, dtype=bool)
    near = z[~far]
    near = near / max(np.sqrt(np.mean(near**2)), np.finfo(float).tiny)  # whatever their spread
    tails = -_in_errors(RadialTails(), near)  # positive where they are heavy
    shape = max(tails, abs(_in_errors(Hermite(3, common=True, taper=6.0), near)))
    return FarRows(far, shape, log_chance)


def rows_apart(z: np.ndarray) -> np.ndarray:
    """Return which rows (n, d) are far beyond all others, (n,)."""
    found = _apart(np.sum((z - np.median(z, axis=0)) ** 2, axis=1))
    return np.zeros(len(z), dtype=bool) if found is None else found


def _apart(squared: np.ndarray) -> np.ndarray | None:
    """Which rows are far beyond all others, whatever the shape of these; None if there is no such gap."""
    largest = np.sort(squared)[::-1][: int(_SHARE * len(squared)) + 2]
    with np.errstate(over="ignore"):
        steps = largest[:-1] / np.maximum(largest[1:], np.finfo(float).tiny)
    if len(steps) < 1 or np.max(steps) < _GAP**2:
        return None
    return np.asarray(squared >= largest[int(np.argmax(steps))])


def _in_errors(kernel: Any, z: np.ndarray) -> float:
    """Sum of the features of Gaussian targets, in standard errors."""
    f = kernel.features(z, -z)
    return float(np.sum(f) / max(np.sqrt(np.sum(f**2)), np.finfo(float).tiny))
