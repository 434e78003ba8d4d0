"""The one place where scorecal takes derivatives of other people's functions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from array_api_compat import is_jax_array, is_torch_array

from ._arrays import Array

__all__ = ["transforms"]


def transforms(name: str, array: Array) -> tuple[Callable[..., Any], Callable[..., Any]]:
    """`jacfwd` and `vmap` of the library of `array`."""
    if is_jax_array(array):
        import jax

        return jax.jacfwd, jax.vmap
    if is_torch_array(array):
        import torch

        return torch.func.jacfwd, torch.func.vmap
    raise TypeError(f"`{name}` is differentiated automatically, which takes JAX or torch arrays, not {type(array)!r}.")
