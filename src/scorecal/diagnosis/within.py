"""Whether sizes are inside the limits of what is good enough."""

import math
from numbers import Real
from typing import Any

from .sizes import Estimate, Sizes

_OFF = 0.5  # standard deviations: locations that are fitted to skewed scores are not the means


def check_limits(bias: Any, spread: Any) -> None:
    """Raise unless limits are given that some size can keep."""
    if bias is None and spread is None:
        raise ValueError("`within` needs `bias`, `spread` or both, such as within(bias=0.1, spread=1.1).")
    if bias is not None and not is_above(bias, 0.0):
        raise ValueError(
            "`bias` must be the largest bias that is good enough, a positive number of predicted standard deviations, "
            f"but is {bias!r}."
        )
    if spread is not None and not is_above(spread, 1.0):
        raise ValueError(
            "`spread` must be the largest ratio of true over claimed spread that is good enough, a number above 1 "
            f"(its inverse is the smallest), but is {spread!r}."
        )


def is_within(
    biases: Sizes, ratios: Sizes, bias: float | None, spread: float | None, alpha: float, tail: float
) -> bool | None:
    """Whether all sizes are inside their limits, by one-sided bounds at level alpha; False by intervals of a tail."""
    one_sided, together = min(1.0, 2.0 * alpha), min(1.0, tail)
    limits: list[tuple[Sizes, float, float]] = []
    if bias is not None:
        limits.append((biases, -bias, bias))
    if spread is not None:
        limits.append((ratios, 1.0 / spread, spread))
    outside = any(each.high < low or each.low > high for sizes, low, high in limits for each in _told(sizes, together))
    if outside:
        return False
    inside = all(
        math.isfinite(each.value) and each.low > low and each.high < high
        for sizes, low, high in limits
        for each in sizes.estimates(one_sided)
    )
    return True if inside else None


def is_near(plain_biases: Sizes, bias: float, alpha: float) -> bool:
    """Whether targets are where they should be, as far as fitted locations can say.

    Scores of heavy tails are nearly zero far out: their mean says nothing of a bias of many standard deviations.
    """
    most = bias + _OFF
    return all(each.low > -most and each.high < most for each in plain_biases.estimates(min(1.0, 2.0 * alpha)))


def _told(sizes: Sizes, tail: float) -> list[Estimate]:
    return [each for each in sizes.estimates(tail) if math.isfinite(each.value)]


def is_above(value: Any, least: float) -> bool:
    """Whether a value is a finite number above the least."""
    return isinstance(value, Real) and not isinstance(value, bool) and least < float(value) < math.inf
