"""Log-densities of sbi's posteriors, up to a constant, for a batch of observations: theta (m, n, d) to (m, n).

The methods of sbi sample to normalise, treat a batch of observations as independent ones of the same parameters, or
store the observation. So the networks are evaluated directly: copies of them, which are set to evaluation mode.
"""

import copy
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from ...._lib.arrays import Array, check_finite

_EMBEDDED_AT_ONCE = 1024


@dataclass(frozen=True, eq=False)
class LogDensities:
    """n log-densities, one for each row of `x`, for some rows at a time: of theta (m, rows, d), and drawn as such.

    Those that can be drawn from are normalised on all of R^d, others up to a constant for each row.
    """

    evaluate: Callable[[Array, Array], Array]
    x: Array
    dim: int
    sample: Callable[[int, Array], Array] | None = None


def log_densities(posterior: Any, x: Any) -> LogDensities:
    """Log-densities at observations `x` that the posterior samples from."""
    if type(posterior).__name__ == "VIPosterior" and getattr(posterior, "_mode", None) == "amortized":
        return _of_estimator(posterior._amortized_q, x)
    return _of_potential(posterior.potential_fn, x)


def _of_potential(potential: Any, x: Any) -> LogDensities:
    kinds = {kind.__name__ for kind in type(potential).__mro__}
    if "PosteriorBasedPotential" in kinds:
        return _of_estimator(potential.posterior_estimator, x)
    if "LikelihoodBasedPotential" in kinds:
        return _of_likelihood(potential, x)
    if "RatioBasedPotential" in kinds:
        return _of_ratio(potential, x)
    if "VectorFieldBasedPotential" in kinds:
        raise TypeError("`posterior` is an ensemble of vector fields, which have no density; test them one by one.")
    return _one_by_one(potential, x)


def _of_estimator(estimator: Any, x: Any) -> LogDensities:
    estimator = frozen_copy(estimator)
    x = as_observations(x, estimator, estimator.condition_shape)
    ready, features = embedded(estimator, x)

    def sample(n_samples: int, rows: Array) -> Array:
        import torch

        before = torch.get_default_dtype()
        torch.set_default_dtype(x.dtype)  # of the noise that networks start from
        try:
            return ready.sample((n_samples,), condition=features[rows])
        finally:
            torch.set_default_dtype(before)

    return LogDensities(
        lambda theta, rows: ready.log_prob(theta, condition=features[rows]),
        x,
        int(estimator.input_shape[0]),
        sample,
    )


def _of_likelihood(potential: Any, x: Any) -> LogDensities:
    estimator = frozen_copy(potential.likelihood_estimator)
    x = as_observations(x, estimator, estimator.input_shape)
    prior_density = _checked_prior(potential.prior)

    def evaluate(theta: Array, rows: Array) -> Array:
        flat, repeated = theta.reshape(-1, theta.shape[-1]), x[rows].repeat(theta.shape[0], *(1,) * (x.ndim - 1))
        values = estimator.log_prob(repeated[None], condition=flat)[0] + prior_density(flat)
        return values.reshape(theta.shape[:-1])

    return LogDensities(evaluate, x, int(estimator.condition_shape[0]))


def _of_ratio(potential: Any, x: Any) -> LogDensities:
    estimator = frozen_copy(potential.ratio_estimator)
    x = as_observations(x, estimator, estimator.x_shape)
    prior_density = _checked_prior(potential.prior)
    features = _in_parts(estimator.embedding_net_x, x)
    estimator.embedding_net_x = _nothing()
    estimator.x_shape = estimator._condition_shape = features.shape[1:]

    def evaluate(theta: Array, rows: Array) -> Array:
        ratios = estimator(theta, features[rows].expand(*theta.shape[:-1], *features.shape[1:]))
        return ratios + prior_density(theta.reshape(-1, theta.shape[-1])).reshape(theta.shape[:-1])

    return LogDensities(evaluate, x, int(estimator.theta_shape[0]))


def _one_by_one(potential: Any, x: Any) -> LogDensities:
    """Evaluate a custom potential, which takes one observation at a time, in a copy that stores each of them."""
    import torch

    own = copy.copy(potential)
    x = torch.as_tensor(x, device=own.device)
    check_finite("x", x)

    def evaluate(theta: Array, rows: Array) -> Array:
        columns = []
        for i, row in enumerate(x[rows]):
            own.set_x(row[None])
            columns.append(own(theta[:, i, :], track_gradients=True).reshape(theta.shape[0]))
        return torch.stack(columns, dim=1)

    return LogDensities(evaluate, x, dim_of(_prior_of(potential)))


def dim_of(prior: Any) -> int:
    """Return the dimension of a prior, 1 if it has no event shape, as sbi wraps priors of one parameter."""
    return int(prior.event_shape[0]) if prior.event_shape else 1


def _prior_of(potential: Any) -> Any:
    if potential.prior is None:
        raise ValueError(
            "`posterior` has a custom potential and no prior, so that the dimension and the support of its "
            "parameters are unknown. Give the potential a `prior`, or use `LogDensity(log_density, x, dim)`."
        )
    return potential.prior


def _checked_prior(prior: Any) -> Callable[[Array], Array]:
    """Return the log-density of the prior, which raises if it varies without a gradient."""

    def evaluate(theta: Array) -> Array:
        values = prior.log_prob(theta)
        if theta.requires_grad and not values.requires_grad and bool((values != values[0]).any()):
            raise ValueError(
                "`posterior` has a prior whose log_prob varies but has no gradient, so that every score would "
                "lack it. Likely cause: a prior written in NumPy or SciPy; write it with `torch.distributions`."
            )
        return values

    return evaluate


def frozen_copy(estimator: Any) -> Any:
    """Copy an estimator, in evaluation mode and without gradients of its weights."""
    return copy.deepcopy(estimator).eval().requires_grad_(False)


def embedded(estimator: Any, x: Array) -> tuple[Any, Array]:
    """Embed the observations once; return the estimator, changed in place to take embedded ones, and these."""
    holder = estimator.net if hasattr(estimator.net, "_embedding_net") else estimator
    features = _in_parts(holder._embedding_net, x)
    holder._embedding_net = _nothing()
    estimator._condition_shape = features.shape[1:]
    return estimator, features


def _in_parts(network: Any, x: Array) -> Array:
    import torch

    with torch.no_grad():
        return torch.cat([network(part) for part in x.split(_EMBEDDED_AT_ONCE)])


def _nothing() -> Any:
    import torch

    return torch.nn.Identity()


def as_observations(x: Any, estimator: Any, shape: Any) -> Array:
    """Return `x` as a tensor (n, *shape) with the dtype and device of the weights; raise unless it fits."""
    import torch

    weight = next(estimator.parameters())
    try:
        x = torch.as_tensor(x).to(weight)
    except (TypeError, ValueError, RuntimeError):
        raise TypeError(f"`x` must be a tensor of n observations, but is a {type(x).__name__}.") from None
    if x.ndim == 1 and tuple(shape) == (1,):
        x = x[:, None]
    if tuple(x.shape[1:]) != tuple(shape) or x.shape[0] == 0:
        raise ValueError(
            f"`x` must hold n observations, shape (n, *event) = (n, {', '.join(map(str, shape))}) as the posterior was "
            f"trained on, but has {tuple(x.shape)}. Several independent trials for each row are not supported: give "
            "their likelihood as a `LogDensity`."
        )
    check_finite("x", x)
    return x
