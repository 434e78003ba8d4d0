"""Predictions in JAX on a CPU, and their targets, in NumPy, which needs no seconds to compile every small step."""

from dataclasses import dataclass, fields, is_dataclass, replace
from typing import Any

from array_api_compat import is_array_api_obj, is_jax_array

from .._lib.arrays import Array, has_values, to_numpy
from .capabilities import (
    HasCdf,
    HasComponents,
    HasDensity,
    HasMoments,
    Noisable,
    Noised,
    Rankable,
    Samplable,
    prior_of,
    spread_of,
    support_of,
)
from .categorical import Categorical
from .gaussian import Gaussian
from .mixture import GaussianMixture
from .protocol import Predictions
from .scores import Scores
from .supports import Box

_CLOSED_FORMS = (Gaussian, GaussianMixture, Categorical, Scores)
_OF_THEIR_OWN = Noisable | Noised | HasComponents | HasCdf | Rankable | Gaussian | Categorical | Scores


def on_host(predictions: Any, y: Any) -> tuple[Any, Any]:
    """Return predictions and targets in NumPy if they are in JAX on a CPU, and as they are if not.

    Models are still evaluated in JAX. Arrays are not copied; while JAX is tracing they are left as they are.
    """
    arrays = [each for each in (*_arrays_of(predictions), y) if is_array_api_obj(each)]
    if not arrays or not all(map(_is_on_cpu, arrays)):
        return predictions, y
    moved = _moved(predictions)
    return (predictions, y) if moved is None else (moved, _on_host(y) if is_jax_array(y) else y)


def _arrays_of(held: Any) -> list[Any]:
    return [getattr(held, field.name) for field in fields(held)] if is_dataclass(held) else []


def _is_on_cpu(array: Any) -> bool:
    return is_jax_array(array) and has_values(array) and all(each.platform == "cpu" for each in array.devices())


def _on_host(array: Array) -> Array:
    """NumPy has no bfloat16; half precision counts as float32."""
    return to_numpy(array.astype("float32") if array.dtype == "bfloat16" else array)


def _moved(predictions: Any) -> Any:
    if type(predictions) in _CLOSED_FORMS:
        return _with_arrays_on_host(predictions)
    if isinstance(predictions, _OF_THEIR_OWN) or not isinstance(predictions, Predictions):
        return None
    abilities = [able for protocol, able in _ABILITIES.items() if isinstance(predictions, protocol)]
    return type("OnHost", (*abilities, OnHost), {})(predictions)


def _with_arrays_on_host(held: Any) -> Any:
    found = {field.name: getattr(held, field.name) for field in fields(held)}
    return replace(held, **{name: _on_host(value) for name, value in found.items() if is_jax_array(value)})


@dataclass(frozen=True, eq=False, repr=False)
class OnHost:
    """Predictions of a model in JAX, which is asked and answers in NumPy."""

    predictions: Any
    made_of = property(lambda self: (self.predictions,))

    def __repr__(self) -> str:
        return repr(self.predictions)

    @property
    def n(self) -> int:
        return int(self.predictions.n)

    @property
    def dim(self) -> int:
        return int(self.predictions.dim)

    @property
    def support(self) -> Any:
        found = support_of(self.predictions)
        return _with_arrays_on_host(found) if isinstance(found, Box) else found

    @property
    def prior(self) -> Any:
        prior = prior_of(self.predictions)
        return None if prior is None else _moved(prior) or prior

    @property
    def spread_of(self) -> Any:
        return spread_of(self.predictions)

    @property
    def slow_to_sample(self) -> bool:
        return getattr(self.predictions, "slow_to_sample", False)

    def score(self, y: Array) -> Array:
        return to_numpy(self.predictions.score(_in_jax(y)))


class _Samples:
    predictions: Any

    def sample(self, n_samples: int, rng: Any = None) -> Array:
        return to_numpy(self.predictions.sample(n_samples, rng))


class _Density:
    predictions: Any

    def log_prob(self, y: Array) -> Array:
        return to_numpy(self.predictions.log_prob(_in_jax(y)))


class _Moments:
    predictions: Any

    def moments(self) -> tuple[Array, Array]:
        mean, covariance = self.predictions.moments()
        return to_numpy(mean), to_numpy(covariance)


_ABILITIES = {Samplable: _Samples, HasDensity: _Density, HasMoments: _Moments}


def _in_jax(y: Array) -> Array:
    import jax

    return jax.device_put(y, jax.devices("cpu")[0])
