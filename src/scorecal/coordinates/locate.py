"""Predictions, targets and scores in the coordinates of a test, checked."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from .._lib.arrays import Array, array_namespace, check_finite
from ..predictions import Noised, Predictions, as_targets, evaluate_score, support_of
from .identity import Coordinates, identity, name_of
from .unconstrain import natural, unconstrain


class Located(NamedTuple):
    """Predictions, targets and scores at the targets in one space, and the name of its coordinates."""

    predictions: Predictions
    targets: Array
    scores: Array
    coordinates: str


def locate(
    coordinates: Coordinates | None, predictions: Predictions, y: Any, rng: np.random.Generator, n_draws: int = 0
) -> Located:
    """Return predictions and their targets `y` in the given coordinates, checked.

    None stands for the targets as they are, but without a boundary where the predictions declare a bounded support.
    Predictions of targets with noise have it added to the targets, from a stream of its own. With `n_draws`, targets
    and scores are (S, n, d), with S = `n_draws` draws of the noise, or 1 where there is none.
    """
    draws = [as_targets(y, predictions)]
    support, noise = support_of(predictions), ""
    if coordinates is None:
        coordinates = identity if support is None else unconstrain(support)
    xp = array_namespace(draws[0])
    if isinstance(predictions, Noised):
        stream, noise = noise_stream(rng), f"{predictions.noise}, "
        draws = [predictions.noised(draws[0], stream) for _ in range(max(n_draws, 1))]
    located = predictions
    if coordinates is identity and support is None:
        targets, name = draws[0] if len(draws) == 1 else xp.stack(draws), "identity"
        scores = evaluate_score(predictions, targets)
    else:
        several = [_moved(coordinates, predictions, points) for points in draws]
        (located, targets, scores), name = several[0], name_of(coordinates, predictions)
        if len(several) > 1:
            targets, scores = (xp.stack([each[k] for each in several]) for k in (1, 2))
    if n_draws and targets.ndim == 2:
        targets, scores = targets[None, ...], scores[None, ...]
    dtype = xp.result_type(targets.dtype, scores.dtype)
    targets, scores = (xp.astype(part, dtype, copy=False) for part in (targets, scores))
    return Located(located, targets, scores, noise + name)


def locate_all(
    coordinates: Coordinates | None, predictions: Predictions, draws: Sequence[Array]
) -> tuple[Array, Array]:
    """Return several sets of targets (S, n, d), with any noise added, and their scores, in the given coordinates."""
    xp = array_namespace(draws[0])
    if coordinates is None and support_of(predictions) is None and len(draws) > 1:
        targets = xp.stack(draws)
        return targets, evaluate_score(predictions, targets)
    several = [_moved(coordinates or natural(predictions), predictions, points) for points in draws]
    targets, scores = (xp.stack([each[k] for each in several]) for k in (1, 2))
    return targets, scores


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
