"""Matrix products, to which everything pairwise is brought."""

from __future__ import annotations

from dataclasses import dataclass

from .._lib.arrays import Array, array_namespace, full_product

__all__ = ["Product", "augment", "centre"]


@dataclass(frozen=True, eq=False)
class Product:
    """Blocks of left @ right', the one operation to which everything pairwise is brought."""

    left: Array
    right: Array
    floats_per_pair: int = 1

    def __call__(self, rows: slice, cols: slice) -> Array:
        return full_product(self.left[rows, :], self.right[cols, :].mT)


def augment(features: Array) -> Product:
    """The product whose entries are -|x_i - x_j|^2 / 2: the norms ride along as two more columns.

    Features are centred first, since the norms cancel.
    """
    xp = array_namespace(features)
    features = centre(features)
    norms = -0.5 * xp.sum(features**2, axis=1, keepdims=True)
    ones = xp.ones_like(norms)
    return Product(xp.concat([features, norms, ones], axis=1), xp.concat([features, ones, norms], axis=1))


def centre(features: Array) -> Array:
    """Features (n, p) less a median of some rows, which no outlier drags away. Only their differences must count."""
    some = features[:: max(1, features.shape[0] // 1024), :]
    return features - array_namespace(features).sort(some, axis=0)[some.shape[0] // 2, :]
