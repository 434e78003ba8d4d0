"""Special functions, computed by the library of their arguments."""

from typing import Any

from array_api_compat import is_jax_array, is_torch_array

from .arrays import Array, like, to_numpy


def special(name: str, *arrays: Array) -> Array:
    """Evaluate the function of `scipy.special` with this name in the library of the arrays."""
    module: Any
    if is_torch_array(arrays[-1]):
        from torch import special as module
    elif is_jax_array(arrays[-1]):
        from jax.scipy import special as module
    else:
        from scipy import special as scipy_special

        return like(getattr(scipy_special, name)(*(to_numpy(array) for array in arrays)), arrays[-1])
    return getattr(module, name)(*arrays)
