"""Random signs for the wild bootstrap, kept as bits and expanded a block of rows at a time."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from .._lib.arrays import Array, array_namespace, device_of, like
from .gpu.device import is_on_gpu


@dataclass(frozen=True, eq=False)
class Signs:
    """Signs e of n rows in each of `n_resamples` draws, kept as bits.

    Parameters
    ----------
    packed : ndarray of uint8, shape (n * n_resamples / 8,), rounded up
        ``np.packbits(bits)`` of an array `bits` (n, n_resamples) with 1 for +1 and 0 for -1: all bits in one sequence,
        row after row, so that a row need not start at a byte. Do not give `axis` to `packbits`, which would pad rows.
    n_resamples : int
        Number of draws.

    Examples
    --------
    Signs of three rows in two draws:

    >>> import numpy as np, scorecal as sc
    >>> e = np.array([[1, -1], [-1, -1], [1, 1]])
    >>> signs = sc.nulls.Signs(np.packbits(e > 0), n_resamples=2)
    """

    packed: np.ndarray
    n_resamples: int

    def on(self, reference: Array, dtype: Any = None) -> PlacedSigns:
        """Place the same bits on the device of `reference`, to be expanded to a dtype."""
        xp = array_namespace(reference)
        place = {"device": device_of(reference)}
        if is_on_gpu(reference):
            by_byte = xp.asarray(np.arange(7, -1, -1, dtype=np.uint8), **place)
        else:
            by_byte = like(2.0 * np.unpackbits(np.arange(256, dtype=np.uint8)[:, None], axis=1) - 1.0, reference)
        return PlacedSigns(xp.asarray(self.packed, **place), by_byte, self.n_resamples, dtype or reference.dtype)


@dataclass(frozen=True, eq=False)
class PlacedSigns:
    """Signs on a device, expanded to numbers a block of rows at a time."""

    packed: Array
    by_byte: Array  # the eight signs of every byte, (256, 8); where lookups are slow, the shifts of the bits, (8,)
    n_resamples: int
    dtype: Any

    def __call__(self, rows: slice) -> Array:
        """Signs of the rows, (rows, n_resamples); `rows` must start at a multiple of 8, where a byte starts."""
        xp = array_namespace(self.packed)
        n_rows = rows.stop - rows.start
        packed = self.packed[rows.start * self.n_resamples // 8 : -(-rows.stop * self.n_resamples // 8)]
        if self.by_byte.ndim == 2:
            signs = xp.take(self.by_byte, xp.astype(packed, xp.int32), axis=0)
        else:
            signs = 2.0 * xp.astype((packed[:, None] >> self.by_byte) & 1, self.dtype) - 1.0
        flat = xp.reshape(xp.astype(signs, self.dtype, copy=False), (-1,))
        return xp.reshape(flat[: n_rows * self.n_resamples], (n_rows, self.n_resamples))
