"""Bounded supports, each with a bijection y = forward(z) from all of R^k and the change of scores under it.

With J the Jacobian of `forward`, the score of the density of z is J' s(y) + grad log |det J|: `carry` computes it.
"""

from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from .._lib.arrays import Array, array_namespace, like, to_numpy


class Support(Protocol):
    """Support of the targets, with a bijection from z in R^k."""

    def check(self, n: int, dim: int) -> int:
        """Return the dimension of z for n targets of dimension `dim`; raise where they do not fit."""
        ...

    def contains(self, y: Array) -> Array:
        """Return whether rows of `y` lie inside, the boundary excluded."""
        ...

    def inverse(self, y: Array) -> Array: ...

    def forward(self, z: Array) -> Array: ...

    def carry(self, z: Array, scores: Array) -> Array:
        """Scores of z, from `scores` at y = forward(z)."""
        ...


@dataclass(frozen=True, eq=False)
class Box:
    """Box low < y < high in every dimension, mapped by a logit, or by a logarithm where one end is infinite.

    Parameters
    ----------
    low, high : float or array_like, shape (d,) or (n, d)
        Ends, which may be infinite, and may differ between predictions.

    Examples
    --------
    >>> import numpy as np, scorecal as sc
    >>> box = sc.coordinates.Box(0.0, [1.0, np.inf])
    >>> box.inverse(np.asarray([[0.5, 1.0]]))
    array([[0., 0.]])
    """

    low: Any = -np.inf
    high: Any = np.inf

    def __post_init__(self) -> None:
        low, high = np.broadcast_arrays(np.asarray(self.low, np.float64), np.asarray(self.high, np.float64))
        if low.ndim > 2 or not np.all(low < high):
            raise ValueError(
                f"`low` must be below `high`, numbers or of shape (d,) or (n, d), but they are {low} and {high}."
            )
        if low.ndim == 2 and np.all((low == low[:1]) & (high == high[:1])):
            low, high = low[0], high[0]
        object.__setattr__(self, "low", low)
        object.__setattr__(self, "high", high)

    def __repr__(self) -> str:
        if self.low.ndim == 2:
            return f"Box({self.low.shape[0]} rows of ends)"
        low, high = (np.array2string(end, separator=", ", threshold=6, edgeitems=2) for end in (self.low, self.high))
        return f"Box({low}, {high})"

    def check(self, n: int, dim: int) -> int:
        if self.low.ndim and self.low.shape[-1] not in (1, dim):
            raise ValueError(f"`low` and `high` have dimension {self.low.shape[-1]}, but the targets have {dim}.")
        if self.low.ndim == 2 and self.low.shape[0] != n:
            raise ValueError(f"`low` and `high` have {self.low.shape[0]} rows, but there are {n} predictions.")
        return dim

    def contains(self, y: Array) -> Array:
        xp = array_namespace(y)
        return xp.all((y > like(self.low, y)) & (y < like(self.high, y)), axis=-1)

    def moved_inside(self, y: Array) -> Array:
        """Return points with those on an end of their interval, or beyond, at the nearest number inside of it."""
        xp = array_namespace(y)
        eps, least_step = (float(getattr(xp.finfo(y.dtype), name)) for name in ("eps", "smallest_normal"))
        steps = [np.maximum(eps * np.abs(_or_zero(end)), least_step) for end in (self.low, self.high)]
        least, most = (like(end, y) + xp.zeros_like(y) for end in (self.low + steps[0], self.high - steps[1]))
        return xp.where(y < least, least, xp.where(y > most, most, y))

    def inverse(self, y: Array) -> Array:
        xp = array_namespace(y)
        low, high, from_low, from_high = self._ends(y)
        one = xp.ones_like(y)
        above, below = xp.log(xp.where(from_low, y - low, one)), xp.log(xp.where(from_high, high - y, one))
        return xp.where(from_low | from_high, xp.where(from_low, above, below) - _if(from_low & from_high, below), y)

    def forward(self, z: Array) -> Array:
        xp = array_namespace(z)
        low, high, from_low, from_high = self._ends(z)
        share, distance = self._share(z), self._distance(z)
        one_sided = xp.where(from_low, low + distance, xp.where(from_high, high - distance, z))
        return self.moved_inside(xp.where(from_low & from_high, low + (high - low) * share, one_sided))

    def carry(self, z: Array, scores: Array) -> Array:
        xp = array_namespace(z)
        low, high, from_low, from_high = self._ends(z)
        share, distance = self._share(z), self._distance(z)
        one, both = xp.ones_like(share), from_low & from_high
        slope = xp.where(from_low, distance, xp.where(from_high, -distance, one))
        slope = xp.where(both, (high - low) * share * (1.0 - share), slope)
        log_slope = xp.where(both, 1.0 - 2.0 * share, _if(from_low | from_high, one))
        return scores * slope + log_slope

    def _ends(self, reference: Array) -> tuple[Array, Array, Array, Array]:
        """Ends, with 0 for infinite ones, and masks of dimensions with a finite lower and upper end."""
        ends = (self.low, self.high)
        low, high = (like(np.where(np.isfinite(end), end, 0.0), reference) for end in ends)
        from_low, from_high = (like(np.isfinite(end).astype(np.float64), reference) > 0 for end in ends)
        return low, high, from_low, from_high

    def _share(self, z: Array) -> Array:
        """Logistic function 1 / (1 + exp(-z)), without overflow."""
        xp = array_namespace(z)
        small = xp.exp(-xp.abs(z))
        return xp.where(z > 0, 1.0 / (1.0 + small), small / (1.0 + small))

    def _distance(self, z: Array) -> Array:
        """Distance exp(z) from the only finite end; 1 in other dimensions."""
        _, _, from_low, from_high = self._ends(z)
        return array_namespace(z).exp(_if(from_low ^ from_high, z))


def _or_zero(ends: np.ndarray) -> np.ndarray:
    return np.where(np.isfinite(ends), ends, 0.0)


def _if(condition: Array, value: Array) -> Array:
    xp = array_namespace(value)
    return xp.where(condition, value, xp.zeros_like(value))


@dataclass(frozen=True, eq=False)
class Simplex:
    """Simplex of positive parts y_1 + ... + y_K = 1, mapped to the K - 1 log-ratios log(y_k / y_K).

    Examples
    --------
    >>> import numpy as np, scorecal as sc
    >>> sc.coordinates.Simplex().inverse(np.asarray([[0.25, 0.25, 0.5]])).round(3)
    array([[-0.693, -0.693]])
    """

    def check(self, n: int, dim: int) -> int:
        if dim < 2:
            raise ValueError(f"`y` must have at least 2 parts to lie on a simplex, but has {dim}.")
        return dim - 1

    def contains(self, y: Array) -> Array:
        xp = array_namespace(y)
        total = xp.sum(y, axis=-1)
        return xp.all(y > 0, axis=-1) & (xp.abs(total - 1.0) < 1e-3)

    def inverse(self, y: Array) -> Array:
        xp = array_namespace(y)
        return xp.log(y[..., :-1]) - xp.log(y[..., -1:])

    def forward(self, z: Array) -> Array:
        xp = array_namespace(z)
        padded = xp.concat([z, xp.zeros_like(z[..., :1])], axis=-1)
        parts = xp.exp(padded - xp.max(padded, axis=-1, keepdims=True))
        return parts / xp.sum(parts, axis=-1, keepdims=True)

    def carry(self, z: Array, scores: Array) -> Array:
        """Scores of z: J' s has entries y_k (s_k - sum_i y_i s_i), and ``|det J| = y_1 ... y_K``."""
        xp = array_namespace(z)
        y = self.forward(z)
        centred = scores[..., :-1] - xp.sum(y * scores, axis=-1, keepdims=True)
        return y[..., :-1] * centred + 1.0 - y.shape[-1] * y[..., :-1]


def bounded_support(support: Any) -> Support | None:
    """Return a `Box` or `Simplex` with a boundary; None for None and for all of R^d."""
    found = None if support is None else as_support(support)
    if isinstance(found, Box) and not np.any(np.isfinite(found.low) | np.isfinite(found.high)):
        return None
    return found


def same_support(one: Support, other: Support) -> bool:
    """Return whether two supports are equal."""
    if isinstance(one, Box) and isinstance(other, Box):
        return bool(np.all(one.low == other.low) and np.all(one.high == other.high))
    return type(one) is type(other)


def as_support(support: Any) -> Support:
    """Return a `Box` or `Simplex`, converted from a constraint of torch or numpyro if need be."""
    if isinstance(support, Box | Simplex):
        return support
    inner = support
    while hasattr(inner, "base_constraint"):
        inner = inner.base_constraint
    if getattr(inner, "is_discrete", False):
        raise TypeError(f"`support` is discrete ({support}), where there are no scores.")
    if hasattr(inner, "cseq"):
        return _side_by_side(inner)
    name = type(inner).__name__.lower()
    if "simplex" in name:
        return Simplex()
    low, high = getattr(inner, "lower_bound", None), getattr(inner, "upper_bound", None)
    if low is not None or high is not None:
        return Box(*(to_numpy(end) for end in (-np.inf if low is None else low, np.inf if high is None else high)))
    if name in ("_real", "_realvector"):
        return Box()
    raise TypeError(
        f"`support` must be `coordinates.Box`, `coordinates.Simplex`, or an interval, half-line or simplex of torch or "
        f"numpyro, but is {support!r}."
    )


def _side_by_side(parts: Any) -> Box:
    """Convert torch's `constraints.cat`, with different ends for different dimensions."""
    ends: list[tuple[Any, Any]] = []
    for part, length in zip(parts.cseq, parts.lengths, strict=True):
        box = as_support(part)
        if not isinstance(box, Box):
            raise TypeError(f"`support` combines a {box!r} with other dimensions, which cannot be mapped.")
        ends.append((np.broadcast_to(box.low, (length,)), np.broadcast_to(box.high, (length,))))
    return Box(*(np.concatenate(side) for side in zip(*ends, strict=True)))
