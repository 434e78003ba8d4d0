"""Random signs for the wild bootstrap, kept as bits and expanded a block of rows at a time."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from .._lib.arrays import Array, array_namespace, device_of, like
from .._lib.checks import check_count
from .gpu.device import is_on_gpu

_AT_ONCE = 2**13  # rows, a multiple of 8


@dataclass(frozen=True, eq=False)
class Signs:
    """Signs e of n rows in each of `n_resamples` draws, kept as bits; `pack_signs` makes them from +1 and -1.

    If rows are in clusters, n stands for the number of these.

    Parameters
    ----------
    packed : ndarray of uint8, shape (n * n_resamples / 8,), rounded up
        ``np.packbits(bits)`` of an array `bits` (n, n_resamples) with 1 for +1 and 0 for -1: all bits in one sequence,
        row after row, so that a row need not start at a byte.
    n_resamples : int
        Number of draws.
    """

    packed: np.ndarray
    n_resamples: int

    def __post_init__(self) -> None:
        check_count("n_resamples", self.n_resamples)
        kind, shape = getattr(self.packed, "dtype", None), np.shape(self.packed)
        if not isinstance(self.packed, np.ndarray) or kind != np.uint8 or len(shape) != 1:
            raise TypeError(
                "`packed` must be one sequence of bytes, a NumPy array of dtype uint8 and one axis, but is a "
                f"{type(self.packed).__name__} of dtype {kind} and shape {shape}. `nulls.pack_signs(e)` packs signs."
            )

    def check_rows(self, n: int) -> None:
        """Raise unless these are the signs of n rows, or clusters of rows."""
        size = -(-n * self.n_resamples // 8)
        if len(self.packed) != size:
            raise ValueError(
                f"`packed` must hold the signs of {n} rows in {self.n_resamples} draws, {size} bytes, but has "
                f"{len(self.packed)}. Likely causes: signs of other rows; with `groups` or `horizon`, signs of rows "
                "in place of `pairing.n_clusters` signs; or `axis` given to `packbits`."
            )

    def of_rows(self, labels: np.ndarray) -> Signs:
        """Return the signs of rows whose clusters, of which these are the signs, have the labels (n,)."""
        n_bits = (int(labels.max()) + 1) * self.n_resamples
        bits = np.unpackbits(self.packed, count=n_bits).reshape(-1, self.n_resamples)
        parts = [np.packbits(bits[labels[start : start + _AT_ONCE]]) for start in range(0, len(labels), _AT_ONCE)]
        return Signs(np.concatenate(parts), self.n_resamples)

    def products(self, pairs: np.ndarray) -> Signs:
        """Return the products of two signs for each of several pairs of rows or clusters, (2, pairs)."""
        first, second = (self.of_rows(side) for side in pairs)
        return Signs(np.invert(first.packed ^ second.packed), self.n_resamples)

    def on(self, reference: Array, dtype: Any = None) -> PlacedSigns:
        """Place the same bits on the device of `reference`, to be expanded to a dtype."""
        xp, dtype = array_namespace(reference), dtype or reference.dtype
        place = {"device": device_of(reference)}
        if is_on_gpu(reference):
            by_byte = xp.asarray(np.arange(7, -1, -1, dtype=np.uint8), **place)
        else:
            by_byte = like(2.0 * np.unpackbits(np.arange(256, dtype=np.uint8)[:, None], axis=1) - 1.0, reference)
            by_byte = xp.astype(by_byte, dtype, copy=False)
        return PlacedSigns(xp.asarray(self.packed, **place), by_byte, self.n_resamples, dtype)


def pack_signs(signs: Any) -> Signs:
    """Return signs that are given as an array of +1 and -1, (n, n_resamples), in the form that a null hands on.

    Examples
    --------
    Signs of three rows in two draws:

    >>> import scorecal as sc
    >>> sc.nulls.pack_signs([[1, -1], [-1, -1], [1, 1]]).n_resamples
    2
    """
    array = np.asarray(signs)
    if array.ndim != 2 or not np.all((array == 1) | (array == -1)):
        raise ValueError(
            f"`signs` must be an array (n, n_resamples) of +1 and -1, but has shape {array.shape} and values such as "
            f"{array.ravel()[:3].tolist()}."
        )
    return Signs(np.packbits(array > 0), array.shape[1])


def dtype_of_signs(reference: Array, precision: str, own: Any) -> Any:
    """Return the dtype in which signs are multiplied: `own`, or float32 where that is faster and `precision` "mixed".

    Draws are ranked, and are known to a few per cent: seven digits are enough. GPUs for float64 multiply both alike.
    """
    xp = array_namespace(reference)
    short = precision == "mixed" and not (is_on_gpu(reference) and reference.dtype == xp.float64)
    return xp.float32 if short else own


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
