"""Numbers in long double, each with a bound on the error that the same formula has in a lower precision.

A `Ball` holds values and error bounds. Every operation adds the rounding of its result, `eps` times its size, to the
errors that its operands bring along: the running error analysis of the formula as it is written. A tolerance taken from
it is therefore tight where a formula is well-conditioned, and infinite where no digit can be known.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

Real = np.longdouble


@dataclass(frozen=True, eq=False)
class Ball:
    """Values, bounds on their errors (of the same shape), and the precision of the arithmetic."""

    value: np.ndarray
    error: np.ndarray
    eps: float
    __array_ufunc__ = None  # NumPy arrays leave operations with a ball to the ball

    @property
    def T(self) -> Ball:  # noqa: N802 (as in NumPy)
        return Ball(self.value.T, self.error.T, self.eps)

    @property
    def shape(self) -> tuple[int, ...]:
        return self.value.shape

    def __getitem__(self, index: Any) -> Ball:
        return Ball(self.value[index], self.error[index], self.eps)

    def __neg__(self) -> Ball:
        return Ball(-self.value, self.error, self.eps)

    def __add__(self, other: Any) -> Ball:
        other = exact(other, self.eps)
        return rounded(self.value + other.value, self.error + other.error, self.eps)

    def __mul__(self, other: Any) -> Ball:
        other = exact(other, self.eps)
        error = abs(self.value) * other.error + self.error * (abs(other.value) + other.error)
        return rounded(self.value * other.value, error, self.eps)

    def __truediv__(self, other: Any) -> Ball:
        other = exact(other, self.eps)
        value, least = self.value / other.value, abs(other.value) - other.error
        error = np.where(least > 0, (self.error + abs(value) * other.error) / np.where(least > 0, least, 1), np.inf)
        return rounded(value, error, self.eps)

    def __sub__(self, other: Any) -> Ball:
        return self + -exact(other, self.eps)

    def __rsub__(self, other: Any) -> Ball:
        return -self + other

    def __rtruediv__(self, other: Any) -> Ball:
        return exact(other, self.eps) / self

    __radd__, __rmul__ = __add__, __mul__

    def within(self, extra: Any) -> Ball:
        """Return the same values with larger errors."""
        return Ball(self.value, self.error + extra, self.eps)

    def at_most(self, largest: Any) -> Ball:
        """Return the same values, whose error cannot exceed `largest`: both lie in an interval of this length."""
        return Ball(self.value, np.minimum(self.error, largest), self.eps)


def exact(value: Any, eps: float) -> Ball:
    """Return a ball without error, or the ball itself."""
    if isinstance(value, Ball):
        return value
    value = np.asarray(value).astype(Real)
    return Ball(value, np.zeros_like(value), eps)


def rounded(value: np.ndarray, error: np.ndarray, eps: float) -> Ball:
    """Return the values with their errors, and one more rounding; 0 times infinity counts as unknown."""
    return Ball(value, np.where(np.isnan(error), np.inf, error + eps * abs(value)), eps)


def total(ball: Ball, axis: int | None = None) -> Ball:
    """Sum over an axis, in any order of the terms."""
    size, count = np.sum(abs(ball.value), axis=axis), ball.value.size if axis is None else ball.shape[axis]
    return rounded(np.sum(ball.value, axis=axis), np.sum(ball.error, axis=axis) + count * ball.eps * size, ball.eps)


def exponential(ball: Ball) -> Ball:
    """Return the exponential function of each value; values below the smallest normal number may become 0."""
    value = np.exp(ball.value)
    return rounded(value, value * np.expm1(np.minimum(ball.error, 11000)) + smallest(ball.eps), ball.eps)


def smallest(eps: float) -> float:
    """Return the smallest normal number of the dtype of this precision; digits are lost below it."""
    return float(np.finfo(np.float32 if eps > 1e-10 else np.float64).smallest_normal)


def power(ball: Ball, exponent: float) -> Ball:
    """Return positive values to a power."""
    value = ball.value**exponent
    nearest = np.maximum(ball.value - ball.error, 0)
    with np.errstate(divide="ignore"):
        ends = [abs((ball.value + ball.error) ** exponent - value), abs(nearest**exponent - value)]
    return rounded(value, np.maximum(*ends), ball.eps)


def median(ball: Ball) -> Ball:
    """Return the median, which cannot move further than the medians of the two ends of all intervals."""
    value = np.median(ball.value)
    ends = np.median(ball.value + ball.error), np.median(ball.value - ball.error)
    return rounded(value, np.maximum(ends[0] - value, value - ends[1]), ball.eps)
