"""One level for the intervals of many sizes, such that all of them hold at once with a given probability.

Gaussian multipliers of the influences of independent units give sizes, in units of their standard errors, that are
normal with the correlations of these influences. The largest of them is drawn from that, with no need of the
multipliers themselves.
"""

from collections.abc import Sequence

import numpy as np

from .sizes import Sizes

_N_DRAWS, _DRAWS_AT_ONCE, _UNITS_AT_ONCE = 10_000, 1000, 8192
_MOST_SIZES = 1000  # of more, correlations take too long


def simultaneous_tail(family: Sequence[Sizes], n_units: int, alpha: float) -> float:
    """Return the tail of each interval (1 - its level) for all of the family to hold with probability 1 - `alpha`."""
    n_sizes = sum(len(sizes.usable) for sizes in family)
    few = 0 < n_sizes <= _MOST_SIZES
    return tail_by(correlation_of(family, n_units), alpha) if few else tail_of(n_sizes, alpha)


def tail_by(correlation: np.ndarray, alpha: float) -> float:
    """Return that tail for sizes with these correlations, (K, K)."""
    from scipy.special import ndtr

    if not len(correlation):
        return tail_of(0, alpha)
    largest = np.quantile(_largest(correlation), 1.0 - alpha)
    return float(min(alpha, max(tail_of(len(correlation), alpha), 2.0 * ndtr(-largest))))


def tail_of(n_sizes: int, alpha: float) -> float:
    """Return the tail of each interval for so many to hold at once with probability 1 - `alpha`, by Sidak's inequality.

    That is enough whatever the correlations of sizes that are nearly normal.
    """
    return float(-np.expm1(np.log1p(-alpha) / max(1, n_sizes)))


def agreeing(tail: float, family: Sequence[Sizes], rejected: bool) -> float:
    """Return the tail or, if calibration is not rejected, the largest with which all intervals contain it.

    Sizes without a standard error, as of a perfect correlation, have no interval that could.
    """
    if rejected:
        return tail
    found = np.concatenate([sizes.tails()[np.isfinite(sizes.values)] for sizes in family])
    return float(min([tail, *found[~np.isnan(found)]]))


def correlation_of(family: Sequence[Sizes], n_units: int) -> np.ndarray:
    """Correlations of the sizes that have a standard error, (K, K), from the influences of their units."""
    chosen = [sizes.usable for sizes in family]
    n_sizes = sum(map(len, chosen))
    products = np.zeros((n_sizes, n_sizes))
    for start in range(0, n_units, _UNITS_AT_ONCE):
        stop = min(start + _UNITS_AT_ONCE, n_units)
        block, column = np.zeros((stop - start, n_sizes)), 0
        for sizes, usable in zip(family, chosen, strict=True):
            first, last = np.searchsorted(sizes.units, (start, stop))
            share = sizes.influence[first:last][:, usable] / len(sizes.units)
            block[sizes.units[first:last] - start, column : column + len(usable)] = share
            column += len(usable)
        products += block.T @ block
    scale = np.sqrt(np.diag(products))
    return np.asarray(products / scale[:, None] / scale)


def _largest(correlation: np.ndarray) -> np.ndarray:
    """Largest absolute value of each of many draws of normal numbers with these correlations."""
    values, vectors = np.linalg.eigh(correlation)
    root = vectors * np.sqrt(np.maximum(values, 0.0))
    rng = np.random.default_rng(0)
    parts = [rng.normal(size=(_DRAWS_AT_ONCE, len(root))) @ root.T for _ in range(_N_DRAWS // _DRAWS_AT_ONCE)]
    return np.concatenate([np.max(np.abs(part), axis=1) for part in parts])
