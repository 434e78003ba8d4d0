"""Finite embeddings of predictions by their distances to some of them: Nystroem's method for squared distances.

With D the squared distances between m landmarks and J = I - 11'/m, -J D J / 2 = U L U' holds the inner products of
their centred embeddings. A prediction at squared distances b from them has its orthogonal projection onto their span at
phi = -L^(-1/2) U' J (b - mean of D over columns) / 2: among landmarks, distances between phi are exact, and no distance
becomes larger. (de Silva and Tenenbaum, Sparse multidimensional scaling using landmark points, 2004.)

Landmarks are predictions, some of the rows, drawn without a look at targets. Given all predictions, phi is a function
of each of them, like a median bandwidth; so a test is as valid with it as with the kernel that it stands for, and the
rows of landmarks need nothing of their own.
"""

from collections.abc import Callable

import numpy as np

from .._lib.arrays import Array, array_namespace, full_product, like, to_numpy
from .distances import Distance, pairwise


def landmark_embedding(
    distance: Distance, n_landmarks: int, reference: Array, rng: np.random.Generator
) -> tuple[Callable[[slice], Array], int]:
    """Return embeddings (rows, r) of a block of rows, computed when asked for, and r.

    `reference` is any array of the library, device and dtype in use.
    """
    chosen = rng.choice(distance.n, min(n_landmarks, distance.n), replace=False)
    m = len(chosen)

    def to_landmarks(rows: np.ndarray) -> Array:
        squared = pairwise(distance, np.repeat(rows, m), np.tile(chosen, len(rows)), reference)
        return array_namespace(squared).reshape(squared, (len(rows), m))

    between = to_numpy(to_landmarks(chosen)).astype(np.float64)
    centring = np.eye(m) - 1.0 / m
    values, vectors = np.linalg.eigh(-0.5 * centring @ (0.5 * (between + between.T)) @ centring)
    # What rounding makes of zero, the square root would make large.
    precision = float(array_namespace(reference).finfo(reference.dtype).eps) ** 0.5
    kept = values > precision * max(values[-1], 0.0)
    if not np.any(kept):  # all landmarks are alike
        return lambda rows: 0.0 * to_landmarks(np.arange(rows.start, rows.stop))[:, :1], 1
    factor = like(-0.5 * centring @ (vectors[:, kept] / np.sqrt(values[kept])), reference)
    mean = like(between.mean(axis=0), reference)
    return lambda rows: full_product(to_landmarks(np.arange(rows.start, rows.stop)) - mean, factor), int(np.sum(kept))
