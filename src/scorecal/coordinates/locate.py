"""Predictions, targets and scores in the coordinates of a test, checked."""

from collections.abc import Sequence
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


def locate(
    coordinates: Coordinates | None, predictions: Predictions, y: Any, rng: np.random.Generator, n_draws: int = 0
) -> Located:
    """Return predictions and their targets `y` in the given coordinates, checked.

    None stands for the targets as they are, but without a boundary where the predictions declare a bounded support.
    Predictions of targets with noise have it added to the targets, from a stream of its own. With `n_draws`, targets
    and scores are (S, n, d), with S = `n_draws` draws of the noise, or 1 where there is none.
    """
    draws, noise = [as_targets(y, predictions)], ""
    if isinstance(predictions, Noised):
        draws, noise = noised(predictions, draws[0], rng, max(n_draws, 1)), f"{predictions.noise}, "
    if n_draws or len(draws) > 1:
        located = locate_all(coordinates, predictions, draws)
    else:
        located = _locate(coordinates, predictions, draws[0])
    return located._replace(coordinates=noise + located.coordinates)


def noised(predictions: Noised, targets: Array, rng: np.random.Generator, n_draws: int) -> list[Array]:
    """Return targets with `n_draws` draws of the noise that the predictions come with, from a stream of its own."""
    stream = noise_stream(rng)
    return [predictions.noised(targets, stream) for _ in range(n_draws)]


def locate_all(coordinates: Coordinates | None, predictions: Predictions, draws: Sequence[Array]) -> Located:
    """Return several sets of targets (S, n, d), with any noise added, and their scores in the given coordinates."""
    xp = array_namespace(draws[0])
    if len(draws) > 1 and coordinates is None and support_of(predictions) is None:
        return _locate(identity, predictions, xp.stack(draws))
    several = [_locate(coordinates, predictions, points) for points in draws]
    targets, scores = (xp.stack([each[k] for each in several]) for k in (1, 2))
    return several[0]._replace(targets=targets, scores=scores)


def _locate(coordinates: Coordinates | None, predictions: Predictions, points: Array) -> Located:
    """Return targets, and their scores, in the given coordinates; without any, several sets of targets as well."""
    support, located, name = support_of(predictions), predictions, "identity"
    if coordinates is None:
        coordinates = identity if support is None else unconstrain(support)
    if coordinates is identity and support is None:
        targets, scores = points, evaluate_score(predictions, points)
    else:
        located, targets, scores = _moved(coordinates, predictions, points)
        name = name_of(coordinates, predictions)
    xp = array_namespace(targets)
    dtype = xp.result_type(targets.dtype, scores.dtype)
    targets, scores = (xp.astype(part, dtype, copy=False) for part in (targets, scores))
    return Located(located, targets, scores, name)


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
