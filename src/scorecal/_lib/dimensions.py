"""From how many dimensions on nothing is made for every two of them, and which pairs are looked at then.

With more dimensions, a matrix for each row costs more than all else, and the more sizes there are to tell, the less is
told of each. `benchmarks/high_dimension.py` has what both kinds cost.
"""

from functools import cache

import numpy as np

MOST_IN_FULL = 32
N_MIXTURES = 4  # sums of locations that stand for all of many dimensions
_SEED = 0  # of the pairs: a part of the statistic, the same for every data set


def are_many(dim: int) -> bool:
    """Return whether there are too many dimensions for something of every two of them."""
    return dim > MOST_IN_FULL


@cache
def pairs_of(dim: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the pairs of dimensions that are looked at, the first of each and the second.

    All of few dimensions. Of many, each with the next one, which in images and series is like it, and, along a circle
    of all dimensions in random order, each with two others.
    """
    if not are_many(dim):
        first, second = np.triu_indices(dim, 1)
        return first, second
    order = np.random.default_rng(_SEED).permutation(dim)
    circle = np.sort(np.stack([order, np.roll(order, 1)], axis=1), axis=1)
    line = np.stack([np.arange(dim - 1), np.arange(1, dim)], axis=1)
    first, second = np.unique(np.concatenate([line, circle]), axis=0).T
    return first, second


@cache
def mixtures_of(dim: int, count: int) -> np.ndarray:
    """Return sums over many dimensions that stand for all of them, (dim, count): their mean, then some at random.

    Each has length 1, and no two dimensions have the same share in all of them, but by chance.
    """
    signs = np.random.default_rng(_SEED).integers(0, 2, (dim, count)) * 2.0 - 1.0
    signs[:, 0] = 1.0
    return np.asarray(signs / dim**0.5)
