"""Fixtures: a backend, and a dask cluster. And settings of JAX, which compiles every operation for every shape."""

import mmap
import os
import socket
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest
from backends import make_backend


def pytest_configure(config):
    """What JAX compiles is kept for the next run and for other processes, and is hardly optimised."""
    os.environ.setdefault("JAX_COMPILATION_CACHE_DIR", str(config.rootpath / ".pytest_cache" / "jax"))
    os.environ.setdefault("JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS", "0")
    os.environ.setdefault("JAX_PERSISTENT_CACHE_MIN_ENTRY_SIZE_BYTES", "-1")
    os.environ.setdefault("XLA_FLAGS", xla_flags())


def xla_flags():
    """Two fifths less time to compile; at level 0, some derivatives come out infinite.

    A flag that a release of JAX does not know would end the process.
    """
    wanted = {"xla_backend_optimization_level": "1", "xla_cpu_use_fusion_emitters": "false"}
    if find_spec("jax_plugins"):  # for a GPU, which has flags of its own
        return ""
    library = find_spec("jaxlib")
    path = Path(library.submodule_search_locations[0]) / "libjax_common.so" if library else Path()
    if not path.is_file():
        return ""
    with path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as code:
        return " ".join(f"--{name}={value}" for name, value in wanted.items() if code.find(name.encode()) >= 0)


@pytest.fixture(params=["numpy", "torch", "cuda", "jax", "strict"])
def backend(request):
    return make_backend(request.param)


@pytest.fixture
def zuko():
    """Imported, without what that import does to all distributions of torch: it turns their checks off."""
    from torch.distributions import Distribution

    kept = {name: vars(Distribution)[name] for name in ("_validate_args", "arg_constraints")}
    import zuko

    Distribution._validate_args, Distribution.arg_constraints = False, {}
    yield zuko
    for name, value in kept.items():
        setattr(Distribution, name, value)


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
