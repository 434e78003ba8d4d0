"""What a batch of predictive distributions must offer, and the one place where scores are asked for."""

from __future__ import annotations

from dataclasses import fields, is_dataclass
from typing import Protocol, runtime_checkable

from array_api_compat import is_array_api_obj

from .._arrays import Array, array_namespace, check_finite, has_values

__all__ = ["Predictions", "evaluate_score", "held_array"]


@runtime_checkable
class Predictions(Protocol):
    """n predictive distributions on R^dim.

    `score(y)` broadcasts `y` against (n, dim) as `torch.distributions` does: targets (n, dim) give
    (n, dim); points shared by all predictions, (m, 1, dim), give (m, n, dim). Where they exist there is more:
    `log_prob(y)`, `sample(n_samples, rng)` of shape (n_samples, n, dim), and `moments()`, the means (n, dim)
    and covariances (n, dim, dim).
    """

    @property
    def n(self) -> int: ...

    @property
    def dim(self) -> int: ...

    def score(self, y: Array) -> Array: ...


def evaluate_score(predictions: Predictions, y: Array) -> Array:
    """Scores of the predictions at `y`, checked: a score that is wrong must not become a p-value."""
    scores = predictions.score(y)
    expected = (*y.shape[:-2], predictions.n, predictions.dim)
    if not is_array_api_obj(scores) or array_namespace(scores) is not array_namespace(y):
        raise TypeError(
            f"`predictions.score` returned {type(scores).__module__}.{type(scores).__name__} for targets of type "
            f"{type(y).__module__}.{type(y).__name__}; it must return an array of the same library."
        )
    if scores.shape != expected:
        raise ValueError(
            f"`predictions.score` returned shape {tuple(scores.shape)} for points of shape {tuple(y.shape)}; "
            f"expected {expected}: the points broadcast against (n, dim) = ({predictions.n}, {predictions.dim})."
        )
    xp = array_namespace(scores)
    if not xp.isdtype(scores.dtype, "real floating"):
        raise TypeError(f"`predictions.score` returned dtype {scores.dtype}; scores must be real floating numbers.")
    check_finite(
        "predictions.score(y)",
        scores,
        "Likely causes: a point outside the support of its prediction, a density that underflows, "
        "or a gradient through a singular operation.",
    )
    if has_values(scores) and not bool(xp.any(scores != 0)):
        raise ValueError(
            "`predictions.score(y)` is zero everywhere. Likely causes: a flat density (a uniform has no score: map it "
            "to unbounded coordinates first), points outside the support, a gradient that was cut off, or targets that "
            "are the modes of their own predictions."
        )
    return xp.astype(scores, xp.result_type(scores.dtype, y.dtype), copy=False)


def held_array(predictions: Predictions) -> Array | None:
    """The first array that the predictions hold: it says which backend and device they live on."""
    if is_dataclass(predictions):
        for field in fields(predictions):
            if is_array_api_obj(value := getattr(predictions, field.name)):
                return value
    return None
