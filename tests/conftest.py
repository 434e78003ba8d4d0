"""One fixture for all backends: `backend.array(x)` makes an array of it, `backend.name` tells which."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest


@dataclass(frozen=True)
class Backend:
    name: str
    xp: Any

    def array(self, values, dtype="float64"):
        return self.xp.asarray(np.asarray(values), dtype=getattr(self.xp, dtype))


def make_backend(name):
    if name == "numpy":
        return Backend(name, np)
    if name == "torch":
        import torch

        return Backend(name, torch)
    if name == "jax":
        import jax

        jax.config.update("jax_enable_x64", True)
        return Backend(name, jax.numpy)
    import array_api_strict

    return Backend(name, array_api_strict)


@pytest.fixture(params=["numpy", "torch", "jax", "strict"])
def backend(request):
    return make_backend(request.param)
