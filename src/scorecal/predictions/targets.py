"""Conversion and checks of targets."""

from collections.abc import Iterator
from typing import Any

import numpy as np

from .._lib.arrays import Array, array_namespace, as_arrays, check_finite, has_values, to_numpy
from .._lib.warn import warn_user
from .capabilities import Noised, Samplable, support_of
from .categorical import Categorical
from .protocol import Predictions, check_predictions, draw_samples, held_array, without_draws
from .supports import Box, Support

_FLOATS_AT_ONCE = 2**22


def as_rows(y: Any, predictions: Predictions) -> Array:
    """Return `y` as an array of the backend, device and dtype of the predictions; (n,) becomes (n, 1) for dim = 1."""
    check_predictions("predictions", predictions)
    held = held_array(predictions)
    rows = as_arrays(y=y)[0] if held is None else as_arrays(y=y, predictions=held)[0]
    return rows[:, None] if rows.ndim == 1 and predictions.dim == 1 else rows


def as_targets(y: Any, predictions: Predictions) -> Array:
    """Return `y` as an array (n, dim), one finite target for each prediction; raise where it does not fit them."""
    targets, n = as_rows(y, predictions), predictions.n
    if tuple(targets.shape) != (n, predictions.dim):
        raise ValueError(
            f"`y` must have shape (n, d) = ({n}, {predictions.dim}) to fit `predictions`, "
            f"but has {tuple(targets.shape)}."
        )
    if n < 2:
        raise ValueError(f"`y` must hold at least 2 targets, but has {n}.")
    check_finite("y", targets, "Drop rows without a finite target before the test.")
    support = support_of(predictions)
    if support is not None:
        support.check(n, predictions.dim)
        check_inside(targets, support)
    xp = array_namespace(targets)
    if has_values(targets) and bool(xp.all(targets == targets[:1, :])):
        warn_user("`y` is constant: all targets are equal. Likely cause: the wrong column was given.")
    return targets


def check_can_be_drawn(predictions: Any) -> None:
    """Raise, by name, unless targets can be drawn from the predictions."""
    if not isinstance(predictions, Samplable) or isinstance(predictions, Noised):
        missing = "`sample(n_samples, rng)` is missing from" if not isinstance(predictions, Samplable) else "these are"
        raise TypeError(
            f'`null="simulate"` draws targets from the predictions, but {missing} {without_draws(predictions)}. '
            '`null="signs"` needs scores only.'
        )


def drawn_targets(predictions: Any, n: int, n_draws: int, rng: np.random.Generator) -> Iterator[Array]:
    """Yield `n_draws` sets of n targets, each a draw from its own prediction, or all from the only one."""
    check_can_be_drawn(predictions)
    at_once = max(1, min(n_draws, _FLOATS_AT_ONCE // (n * getattr(predictions, "dim", 1))))
    for start in range(0, n_draws, at_once):
        size = min(at_once, n_draws - start)
        if isinstance(predictions, Categorical):
            yield from predictions.sample(size, rng)
        elif predictions.n < n:
            draws = draw_samples(predictions, size * n, rng)
            yield from array_namespace(draws).reshape(draws, (size, n, -1))
        else:
            draws = draw_samples(predictions, size, rng)
            support = support_of(predictions)  # draws may be rounded to an end of it
            each = (draws[:, k, ...] for k in range(size))
            yield from (support.moved_inside(part) for part in each) if isinstance(support, Box) else each


def check_inside(y: Array, support: Support) -> None:
    """Raise where a target lies outside the support, or on its boundary."""
    inside = support.contains(y)
    if has_values(y) and not bool(array_namespace(y).all(inside)):
        row = int(np.argmin(to_numpy(inside)))
        raise ValueError(
            f"`y` must lie inside the support, its boundary excluded, but row {row} is {to_numpy(y)[row]}. Likely "
            "causes: the support of another quantity, or targets that were rounded or clipped to its ends."
        )
