"""Backends, `backend.array(x)` makes an array of it and `backend.name` tells which; and a dask cluster."""

import socket
import subprocess
import sys
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest


@dataclass(frozen=True)
class Backend:
    name: str
    xp: Any
    device: Any = None

    def array(self, values):
        return self.xp.asarray(np.asarray(values), dtype=self.xp.float64, device=self.device)


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


@pytest.fixture(params=["numpy", "torch", "cuda", "jax", "strict"])
def backend(request):
    return make_backend(request.param)


@pytest.fixture
def dask_cluster(tmp_path):
    """A scheduler and two workers without nannies, each a process of its own; one of them runs two tasks at a time."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    address = f"tcp://127.0.0.1:{port}"
    dask = [sys.executable, "-m", "distributed.cli.dask_"]
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL, "cwd": tmp_path}
    scheduler = ["--host", "127.0.0.1", "--port", str(port), "--no-dashboard"]
    processes = [subprocess.Popen([*dask[:2], dask[2] + "scheduler", *scheduler], **quiet)]
    for n_threads in (1, 2):
        worker = [address, "--no-nanny", "--nthreads", str(n_threads), "--no-dashboard"]
        processes.append(subprocess.Popen([*dask[:2], dask[2] + "worker", *worker], **quiet))
    try:
        from distributed import Client

        with Client(address, timeout=60) as client:
            client.wait_for_workers(2, timeout=60)
        yield address
    finally:
        for process in processes:
            process.kill()
            process.wait()
