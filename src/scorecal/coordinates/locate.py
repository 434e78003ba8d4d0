"""Predictions, targets and scores in the coordinates of a test, checked."""

from typing import Any, NamedTuple

import numpy as np

from .._lib.arrays import Array, array_namespace, check_finite
from ..predictions import Noised, Predictions, as_targets, evaluate_score, support_of
from .identity import Coordinates, identity, name_of
from .unconstrain import unconstrain


class Located(NamedTuple):
    """Predictions, targets and scores at the targets in one space, and the name of its coordinates."""

    predictions: Predictions
    targets: Array
    scores: Array
    coordinates: str


def locate(coordinates: Coordinates | None, predictions: Predictions, y: Any, rng: np.random.Generator) -> Located:
    """Map predictions and their targets `y` to the given coordinates, and check the result.

    None means the identity, or `unconstrain(support)` for predictions that declare a bounded support. For `Noised`
    predictions, noise from a separate random stream is first added to the targets.
    """
    support = support_of(predictions)
    if coordinates is None:
        coordinates = identity if support is None else unconstrain(support)
    targets, noise = as_targets(y, predictions), ""
    if isinstance(predictions, Noised):
        targets, noise = predictions.noised(targets, noise_stream(rng)), f"{predictions.noise}, "
    if coordinates is identity and support is None:
        moved, name = (predictions, targets, evaluate_score(predictions, targets)), "identity"
    else:
        moved, name = _moved(coordinates, predictions, targets), name_of(coordinates, predictions)
    xp = array_namespace(moved[1])
    dtype = xp.result_type(moved[1].dtype, moved[2].dtype)
    targets, scores = (xp.astype(part, dtype, copy=False) for part in moved[1:])
    return Located(moved[0], targets, scores, noise + name)


def locate_with_noise(predictions: Any, y: Any, n_draws: int, rng: np.random.Generator) -> Located:
    """Add noise to the targets `n_draws` times, for `Noised` predictions: targets and scores (n_draws, n, d)."""
    targets, stream = as_targets(y, predictions), noise_stream(rng)
    draws = array_namespace(targets).stack([predictions.noised(targets, stream) for _ in range(n_draws)])
    return Located(predictions, draws, evaluate_score(predictions, draws), predictions.noise)


def noise_stream(rng: np.random.Generator) -> np.random.Generator:
    """Spawn a separate random stream for noise, so that other draws stay the same."""
    try:
        return rng.spawn(1)[0]
    except TypeError:
        raise TypeError("`rng` cannot spawn a generator; give a seed, or `numpy.random.default_rng(seed)`.") from None


def _moved(coordinates: Any, predictions: Predictions, targets: Array) -> tuple[Predictions, Array, Array]:
    """Apply the coordinates to predictions and targets, and check the result."""
    if isinstance(coordinates, type) or not callable(coordinates):
        raise TypeError(f"`coordinates` must be a function of predictions and targets, but is {coordinates!r}.")
    moved = coordinates(predictions, targets)
    if not isinstance(moved, tuple) or len(moved) != 3:
        raise TypeError(
            "`coordinates` must return (predictions, targets, scores at the targets), but gave "
            f"{f'{len(moved)} values' if isinstance(moved, tuple) else type(moved).__name__}."
        )
    for name, array in zip(("targets", "scores"), moved[1:], strict=True):
        expected = (targets.shape[0], moved[0].dim)
        if tuple(array.shape) != expected:
            raise ValueError(
                f"`coordinates` must return {name} of shape (n, d) = {expected} to fit the predictions they return, "
                f"but gave {tuple(array.shape)}."
            )
        check_finite(f"coordinates: {name}", array)
    return moved
