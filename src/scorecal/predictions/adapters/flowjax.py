"""Predictions from conditional distributions of flowjax."""

from typing import Any

from array_api_compat import is_jax_array

from ..._lib.arrays import Array
from ..log_density import LogDensity
from .dispatch import comes_from


def from_flowjax(distribution: Any, condition: Array) -> LogDensity:
    """Predictions from a conditional distribution of flowjax, a flow for example.

    Parameters
    ----------
    distribution : flowjax.distributions.AbstractDistribution
        Shape (d,) or (), with a `cond_shape`, on all of R^d. flowjax does not declare supports: for a bounded one use
        `LogDensity(distribution.log_prob, condition, d, support=...)`.
    condition : JAX array, shape (n, ...)
        One row of `cond_shape` for each prediction.

    Returns
    -------
    LogDensity
        Scores come from automatic differentiation of `log_prob`.

    Examples
    --------
    >>> import jax, scorecal as sc
    >>> from flowjax.distributions import Normal
    >>> from flowjax.flows import coupling_flow
    >>> flow = coupling_flow(jax.random.key(0), base_dist=Normal(jax.numpy.zeros(2)), cond_dim=3, flow_layers=1)
    >>> sc.from_flowjax(flow, jax.numpy.ones((50, 3)))
    LogDensity(n=50, dim=2)
    """
    if not comes_from(distribution, "flowjax") or not hasattr(distribution, "cond_shape"):
        raise TypeError(f"`distribution` must be a distribution of flowjax, but is a {type(distribution).__name__}.")
    shape, cond_shape = distribution.shape, distribution.cond_shape
    if cond_shape is None:
        raise ValueError(
            "`distribution` has no condition (`cond_shape` is None): it is one distribution, not n predictions. To "
            "test the fit of one distribution to all targets use `LogDensity` and `ksd_test`."
        )
    if len(shape) > 1 or 0 in shape:
        raise ValueError(f"`distribution` must have shape (d,) or (), but has {shape}.")
    if not is_jax_array(condition):
        raise TypeError(f"`condition` must be a JAX array, but is a {type(condition).__name__}.")
    if tuple(condition.shape[1:]) != cond_shape or condition.ndim == 0 or condition.shape[0] == 0:
        expected = ", ".join(["n", *map(str, cond_shape)]) + ("" if cond_shape else ",")
        raise ValueError(f"`condition` must have shape ({expected}), n at least 1, but has {tuple(condition.shape)}.")

    def log_density(y: Array, x: Array) -> Array:
        return distribution.log_prob(y if shape else y[0], x)

    return LogDensity(log_density, condition, dim=shape[0] if shape else 1)
