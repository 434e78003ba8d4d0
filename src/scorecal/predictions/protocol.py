"""The protocol of predictions, and checks of their scores, log-densities and draws."""

from dataclasses import fields, is_dataclass
from typing import Any, Protocol, runtime_checkable

import numpy as np
from array_api_compat import is_array_api_obj

from .._lib.arrays import Array, array_namespace, check_finite, check_real, has_values, ignore_overflow
from .._lib.checks import check_count
from .capabilities import HasDensity, Prior, Samplable, prior_of, support_of


@runtime_checkable
class Predictions(Protocol):
    """n predictive distributions on R^dim.

    `score(y)` broadcasts `y` against (n, dim) as `torch.distributions` does: targets (n, dim) give (n, dim); points
    shared by all predictions, (m, 1, dim), give (m, n, dim). Functions also use these, where a class has them:

    - `sample(n_samples, rng)`, draws (n_samples, n, dim) (protocol `Samplable`); with `slow_to_sample = True`,
      `null="auto"` does without;
    - `moments()`, the means (n, dim) and covariances (n, dim, dim) (`HasMoments`);
    - `log_prob(y)`, log-densities up to a constant for each prediction (`HasDensity`);
    - `components()`, weights, means and variances of a mixture of Gaussians (`HasComponents`);
    - `noisy(level)`, predictions of targets with noise (`Noisable`), with `noised(y, rng)` and `noise` (`Noised`);
    - `support`, a `coordinates.Box` or `Simplex`, if not all of R^dim;
    - `prior`, the distribution of targets before any prediction, a batch of one row that can be sampled.
    """

    @property
    def n(self) -> int: ...

    @property
    def dim(self) -> int: ...

    def score(self, y: Array) -> Array: ...


def check_predictions(name: str, predictions: Any) -> None:
    """Raise, with advice, unless the object is a batch of predictions on R^d."""
    if isinstance(predictions, type):
        raise TypeError(f"`{name}` must be a batch of predictions, but is the class {predictions.__name__} itself.")
    if hasattr(predictions, "n_classes"):
        raise TypeError(
            f"`{name}` of type Categorical predict classes and have no scores; use `skce_test` or `calibration_test`."
        )
    if not hasattr(predictions, "score") and (hasattr(predictions, "cdf_bounds") or hasattr(predictions, "ranked")):
        raise TypeError(
            f"`{name}` of type {type(predictions).__name__} have no scores, which are needed here; use "
            "`calibration_test` and `diagnose`, or what `scorecal.coordinates.in_normal_scores` makes of them."
        )
    missing = [attribute for attribute in ("n", "dim", "score") if not hasattr(predictions, attribute)]
    if missing:
        raise TypeError(
            f"`{name}` must be a batch of predictions such as `scorecal.Gaussian(mean, scale)`, but is of type "
            f"{type(predictions).__name__}, which has no `{missing[0]}`. Convert models and distributions of other "
            "libraries by `scorecal.as_predictions(obj, x)`."
        )
    for size in ("n", "dim"):
        check_count(f"{name}.{size}", getattr(predictions, size))
    support_of(predictions)
    check_prior(prior_of(predictions), predictions.dim)


def check_prior(prior: Any, dim: int) -> None:
    """Raise unless `prior` is None or one distribution that can be sampled."""
    if prior is None:
        return
    if getattr(prior, "n", None) != 1 or getattr(prior, "dim", None) != dim or not isinstance(prior, Samplable):
        raise ValueError(
            f"`prior` must be one distribution on R^{dim} that can be sampled, such as a `Gaussian` of one row, or "
            f"what `as_predictions` makes of a distribution of batch shape (1,), but is {prior!r}."
        )


def describe(predictions: Any, kind: str = "") -> str:
    """Return the `repr` of predictions: class, n, dim and `kind`."""
    return f"{type(predictions).__name__}(n={predictions.n}, dim={predictions.dim}{kind and ', ' + kind})"


@ignore_overflow
def evaluate_score(predictions: Predictions, y: Array, *, finite: bool = True) -> Array:
    """Scores at `y`, checked, so that invalid scores do not end in a p-value; without `finite`, some may be NaN."""
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
    check_real("predictions.score(y)", scores)
    if not xp.isdtype(scores.dtype, "real floating"):
        raise TypeError(f"`predictions.score` returned dtype {scores.dtype}; scores must be real floating numbers.")
    if not finite:
        return xp.astype(scores, xp.result_type(scores.dtype, y.dtype), copy=False)
    check_finite(
        "predictions.score(y)",
        scores,
        "Likely causes: a point outside the support of its prediction, NaN in the inputs of the model, a density "
        "that underflows, a gradient through a singular operation, or base points far from the predictions (give the "
        'kernel a `base`, such as "match").',
    )
    if has_values(scores) and not bool(xp.any(scores != 0)):
        raise ValueError(
            "`predictions.score(y)` is zero everywhere. Likely causes: a flat density (a uniform has no score: map it "
            "to unbounded coordinates first), points outside the support, a gradient that was cut off, or targets at "
            "the modes of their predictions."
        )
    return xp.astype(scores, xp.result_type(scores.dtype, y.dtype), copy=False)


def evaluate_log_prob(predictions: Predictions, y: Array) -> Array:
    """Log-densities at `y`, (..., n), checked; -inf is allowed."""
    if not isinstance(predictions, HasDensity):
        raise TypeError(
            f"`predictions` must have a `log_prob`, up to a constant, here; {type(predictions).__name__} has none."
        )
    values = predictions.log_prob(y)
    expected = (*y.shape[:-2], predictions.n)
    if not is_array_api_obj(values) or tuple(values.shape) != expected:
        found = tuple(values.shape) if is_array_api_obj(values) else type(values).__name__
        raise ValueError(f"`predictions.log_prob` must return shape (..., n) = {expected}, but gave {found}.")
    if has_values(values) and bool(array_namespace(values).any(array_namespace(values).isnan(values))):
        raise ValueError("`predictions.log_prob` returned NaN. Likely cause: a point outside the support.")
    return values


def draw_samples(predictions: Predictions | Prior, n_samples: int, rng: np.random.Generator) -> Array:
    """Draws of shape (n, n_samples, dim), checked."""
    if not isinstance(predictions, Samplable):
        raise TypeError(
            f"`predictions` must be sampled here, but `sample(n_samples, rng)` is missing from "
            f"{without_draws(predictions)}. `skce_test` also takes `sampler=MALA()`, for predictions with `log_prob`; "
            "`kccsd_test` and the kernels `GFD` and `KGFD` need scores only."
        )
    samples = predictions.sample(n_samples, rng)
    expected = (n_samples, predictions.n, predictions.dim)
    if not is_array_api_obj(samples) or tuple(samples.shape) != expected:
        found = tuple(samples.shape) if is_array_api_obj(samples) else type(samples).__name__
        raise ValueError(f"`predictions.sample` must return shape (n_samples, n, dim) = {expected}, but gave {found}.")
    check_real("predictions.sample(...)", samples)
    check_finite(
        "predictions.sample(...)", samples, "Likely causes: a sampler that diverged, or parameters that overflow."
    )
    return array_namespace(samples).permute_dims(samples, (1, 0, 2))


def without_draws(predictions: Any) -> str:
    """Name the classes that cannot be sampled: of what the user gave, not of what was joined or mapped from it."""
    parts = getattr(predictions, "made_of", None)
    if parts is None:
        return type(predictions).__name__
    return " and ".join(dict.fromkeys(without_draws(part) for part in parts if not isinstance(part, Samplable)))


def held_array(predictions: Predictions) -> Array | None:
    """Return the first array that the predictions hold, for its backend and device; None if there is none."""
    if is_dataclass(predictions):
        for field in fields(predictions):
            if is_array_api_obj(value := getattr(predictions, field.name)):
                return value
    return None
