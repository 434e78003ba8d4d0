"""Automatic differentiation of functions that users supply."""

import math
from collections.abc import Callable
from typing import Any

from array_api_compat import is_jax_array, is_torch_array

from .arrays import Array

RowFunction = Callable[[Array, Array], Array]  # maps one row of y and one of x to a 0-d array


def transforms(name: str, array: Array) -> tuple[Callable[..., Any], Callable[..., Any]]:
    """Return `jacfwd` and `vmap` of the library of `array`."""
    if is_jax_array(array):
        import jax

        return jax.jacfwd, jax.vmap
    if is_torch_array(array):
        import torch

        return torch.func.jacfwd, torch.func.vmap
    raise TypeError(f"`{name}` is differentiated automatically, which needs JAX or torch arrays, not {type(array)!r}.")


def row_values_and_slopes(
    function: RowFunction, reference: Array, budget: int
) -> Callable[[Array, Array], tuple[Array, Array]]:
    """Return a function of y (m, n, d) and x (n, ...) that gives function(y_ki, x_i), (m, n), and gradients (m, n, d).

    It works in the library of `reference`, on batches of rows that fit into `budget` bytes; JAX compiles it.
    """
    return _with_jax(function, budget) if is_jax_array(reference) else _with_torch(function, budget)


def _with_jax(function: RowFunction, budget: int) -> Callable[[Array, Array], tuple[Array, Array]]:
    import jax

    def one(pair: tuple[Array, Array]) -> tuple[Array, Array]:
        return jax.value_and_grad(function)(*pair)

    def evaluate(y: Array, x: Array) -> tuple[Array, Array]:
        n_at_once = _n_at_once(_bytes_of(jax.make_jaxpr(one)((y[0, 0], x[0])).jaxpr), budget, x.shape[0])
        values, slopes = jax.lax.map(lambda points: jax.lax.map(one, (points, x), batch_size=n_at_once), y)
        return values, slopes

    compiled: Callable[[Array, Array], tuple[Array, Array]] = jax.jit(evaluate)
    return compiled


def _with_torch(function: RowFunction, budget: int) -> Callable[[Array, Array], tuple[Array, Array]]:
    import torch
    from torch.utils._python_dispatch import TorchDispatchMode
    from torch.utils._pytree import tree_leaves

    class Count(TorchDispatchMode):  # type: ignore[no-untyped-call]
        n_bytes = 0

        def __torch_dispatch__(self, op: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            result = op(*args, **(kwargs or {}))
            self.n_bytes += sum(part.nbytes for part in tree_leaves(result) if isinstance(part, torch.Tensor))
            return result

    one = torch.func.grad_and_value(function)

    def evaluate(y: Array, x: Array) -> tuple[Array, Array]:
        with Count() as count:  # type: ignore[no-untyped-call]
            one(y[0, 0], x[0])
        m, n = y.shape[:2]
        rows, n_at_once = torch.func.vmap(one, randomness="error"), _n_at_once(count.n_bytes, budget, n)
        if n_at_once == n:
            slopes, values = zip(*(rows(points, x) for points in y), strict=True)
            return torch.stack(values), torch.stack(slopes)
        # Results go into arrays allocated beforehand: small ones between large freed blocks would keep the allocator
        # from reusing the blocks.
        value, slope = y.new_empty((m, n)), torch.empty_like(y)
        for k in range(m):
            for i in range(0, n, n_at_once):
                part = slice(i, i + n_at_once)
                slope[k, part], value[k, part] = rows(y[k, part], x[part])
        return value, slope

    return evaluate


def _bytes_of(jaxpr: Any) -> int:
    """Bytes of all intermediate values of one row, none of them freed: reverse mode may need them at once."""
    total = 0
    for equation in jaxpr.eqns:
        inner = [value for value in equation.params.values() if hasattr(value, "eqns") or hasattr(value, "jaxpr")]
        total += sum(_bytes_of(getattr(value, "jaxpr", value)) for value in inner)
        total += sum(math.prod(out.aval.shape) * out.aval.dtype.itemsize for out in equation.outvars)
    return total


def _n_at_once(bytes_of_row: int, budget: int, n: int) -> int:
    return max(1, min(n, budget // max(1, bytes_of_row)))
