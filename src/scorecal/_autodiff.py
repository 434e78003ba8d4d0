"""The one place where scorecal takes derivatives of other people's functions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from array_api_compat import is_jax_array, is_torch_array

from ._arrays import Array

__all__ = ["row_values_and_slopes", "transforms"]

RowFunction = Callable[[Array, Array], Array]  # of one row of y and one of x, to a 0-d array


def transforms(name: str, array: Array) -> tuple[Callable[..., Any], Callable[..., Any]]:
    """`jacfwd` and `vmap` of the library of `array`."""
    if is_jax_array(array):
        import jax

        return jax.jacfwd, jax.vmap
    if is_torch_array(array):
        import torch

        return torch.func.jacfwd, torch.func.vmap
    raise TypeError(f"`{name}` is differentiated automatically, which takes JAX or torch arrays, not {type(array)!r}.")


def row_values_and_slopes(
    function: RowFunction, reference: Array, n_at_once: int
) -> Callable[[Array, Array], tuple[Array, Array]]:
    """From y (m, n, d) and x (n, ...) to function(y_ki, x_i), (m, n), and its gradients in y, (m, n, d).

    At most `n_at_once` rows are evaluated side by side, in the library of `reference`; JAX compiles it.
    """
    if is_jax_array(reference):
        return _with_jax(function, n_at_once)
    return _with_torch(function, n_at_once)


def _with_jax(function: RowFunction, n_at_once: int) -> Callable[[Array, Array], tuple[Array, Array]]:
    import jax

    def one(pair: tuple[Array, Array]) -> tuple[Array, Array]:
        return jax.value_and_grad(function)(*pair)

    def evaluate(y: Array, x: Array) -> tuple[Array, Array]:
        values, slopes = jax.lax.map(
            lambda points: jax.lax.map(one, (points, x), batch_size=min(n_at_once, x.shape[0])), y
        )
        return values, slopes

    compiled: Callable[[Array, Array], tuple[Array, Array]] = jax.jit(evaluate)
    return compiled


def _with_torch(function: RowFunction, n_at_once: int) -> Callable[[Array, Array], tuple[Array, Array]]:
    import torch

    one = torch.func.grad_and_value(function)
    rows = torch.func.vmap(one, chunk_size=n_at_once, randomness="error")

    def evaluate(y: Array, x: Array) -> tuple[Array, Array]:
        slopes, values = zip(*(rows(points, x) for points in y), strict=True)
        return torch.stack(values), torch.stack(slopes)

    return evaluate
