"""Fixtures: a backend, and a dask cluster."""

import socket
import subprocess
import sys

import pytest
from backends import make_backend


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
