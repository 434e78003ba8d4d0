"""Matrix products, to which all pairwise computations are reduced."""

from dataclasses import dataclass

from .._lib.arrays import Array, full_product


@dataclass(frozen=True, eq=False)
class Product:
    """Blocks of left @ right'."""

    left: Array
    right: Array
    floats_per_pair: int = 1

    def __call__(self, rows: slice, cols: slice) -> Array:
        return full_product(self.left[rows, :], self.right[cols, :].mT)
