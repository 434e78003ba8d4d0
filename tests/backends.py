"""Backends: `backend.array(x)` makes an array of `x`, and `backend.name` says of which library."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

# One size for all tests on JAX arrays, which compiles every operation for every shape: rows, dimensions, points or
# draws for each row, and bootstrap draws.
N, D, M, B = 40, 2, 5, 20


@dataclass(frozen=True)
class Backend:
    name: str
    xp: Any
    device: Any = None

    def array(self, values):
        return self.xp.asarray(np.asarray(values), dtype=self.xp.float64, device=self.device)


def to_numpy(array):
    return np.asarray(array.detach().cpu() if hasattr(array, "detach") else array)


def make_backend(name):
    if name == "numpy":
        return Backend(name, np)
    if name in ("torch", "cuda"):
        import torch

        if name == "cuda" and not torch.cuda.is_available():
            pytest.skip("no CUDA device on this machine")
        return Backend(name, torch, "cuda" if name == "cuda" else "cpu")
    if name == "jax":
        import jax

        jax.config.update("jax_enable_x64", True)
        return Backend(name, jax.numpy)
    import array_api_strict

    return Backend(name, array_api_strict)
